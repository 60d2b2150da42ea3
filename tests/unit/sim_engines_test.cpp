// The profile, contention, stream and GEMM engines of the simulated device through their contract:
// determinism, resume, telemetry, faults, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/error.h"
#include "core/units.h"
#include "device/registry.h"

namespace sonde {
namespace {

constexpr const char* kChip = "sim:950pr_9579";

ProfileWork profile_work() {
  ProfileWork work;
  work.core = {"cube", 3};
  work.bytes = 16 * kMiB;
  work.addresses = 200;
  return work;
}

ContentionWork contention_work(const std::string& does = "load") {
  ContentionWork work;
  work.victim = {"vector", 2};
  work.aggressors = {{"vector", 3}, {"cube", 9}};
  work.aggressor_work = does;
  work.footprint_bytes = 16 * kKiB;
  work.loads = 256;
  return work;
}

StreamWork stream_work(const std::string& kind = "read") {
  StreamWork work;
  work.cores = {{"vector", 0}, {"vector", 7}};
  work.kind = kind;
  work.bytes = kMiB;
  work.request_bytes = 2048;
  work.requests = 32;
  return work;
}

GemmWork gemm_work(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmWork work;
  work.m = m;
  work.n = n;
  work.k = k;
  return work;
}

template <class Work>
Sample measure(Engine<Work>* engine, const Work& work, const Trial& trial = {}) {
  engine->prepare(work);
  return engine->run(trial);
}

/// One run of each engine, of a trial of its own.
std::vector<double> all_engines(Device& device, std::int64_t repetition) {
  return {measure(device.profile(), profile_work(), {3, 0, repetition}).elapsed.value(),
          measure(device.contention(), contention_work(), {3, 1, repetition}).elapsed.value(),
          measure(device.stream(), stream_work(), {3, 2, repetition}).elapsed.value(),
          measure(device.gemm(), gemm_work(64, 512, 512), {3, 3, repetition}).elapsed.value()};
}

TEST(SimEngines, SameTrialsGiveTheSameBitsAndResumeContinues) {
  const auto whole = open_device(kChip);
  const auto again = open_device(kChip);
  std::vector<std::vector<double>> expected;
  double middle = 0;
  for (std::int64_t r = 0; r < 6; ++r) {
    if (r == 3) middle = whole->now().value();
    expected.push_back(all_engines(*whole, r));
    EXPECT_EQ(all_engines(*again, r), expected.back());
  }
  EXPECT_NE(expected[0], expected[1]);
  const auto resumed = open_device(kChip);
  resumed->resume_at(Seconds(middle));
  for (std::int64_t r = 3; r < 6; ++r) {
    EXPECT_EQ(all_engines(*resumed, r), expected[static_cast<std::size_t>(r)]);
  }
  EXPECT_EQ(resumed->now().value(), whole->now().value());
}

TEST(SimEngines, KnownBitsWithoutNoise) {
  // Pinned: changes only with the model or the chip file.
  const auto device = open_device("sim:950pr_9579?noise=off");
  std::vector<std::int64_t> ps;
  for (double s : all_engines(*device, 0)) ps.push_back(std::llround(s * 1e12));
  EXPECT_EQ(ps, (std::vector<std::int64_t>{27'014'000, 47'632'896, 8'036'280, 8'346'910}));
}

TEST(SimEngines, SampleSaysWhereAndHow) {
  const auto device = open_device(kChip);
  const Sample profile = measure(device->profile(), profile_work());
  EXPECT_EQ(profile.placement, (std::vector<CoreName>{{"cube", 3}}));
  EXPECT_EQ(profile.series.size(), 200U);
  const Sample contention = measure(device->contention(), contention_work());
  std::vector<CoreName> all = {{"vector", 2}};  // the victim first
  const ContentionWork beside = contention_work();
  all.insert(all.end(), beside.aggressors.begin(), beside.aggressors.end());
  EXPECT_EQ(contention.placement, all);
  EXPECT_GT(contention.background_operations.value(), 1000);
  const Sample stream = measure(device->stream(), stream_work());
  EXPECT_EQ(stream.placement, stream_work().cores);
  EXPECT_EQ(stream.note, "bound by subsystem port, L2 hits 100 %");
  const Sample gemm = measure(device->gemm(), gemm_work(256, 512, 256));
  EXPECT_NE(gemm.note.find("tile "), std::string::npos) << gemm.note;
  EXPECT_NE(gemm.note.find("bound by "), std::string::npos) << gemm.note;
  EXPECT_EQ(gemm.placement.front().str(), "cube0");
  EXPECT_EQ(gemm.clock->value(), 1650e6);
}

TEST(SimEngines, RegisterAggressorsCountTheirCycles) {
  const auto device = open_device("sim:950pr_9579?noise=off");
  const Sample sample = measure(device->contention(), contention_work("register"));
  EXPECT_EQ(sample.background_operations, static_cast<std::int64_t>(256 * 134e-9 * 1.65e9));
}

TEST(SimTelemetry, IsTheLoadOfTheLastRunAndReadOnce) {
  const auto device = open_device(kChip);
  EXPECT_DOUBLE_EQ(device->telemetry().power->value(), 203.3);
  EXPECT_DOUBLE_EQ(device->telemetry().temperature->value(), 56);
  measure(device->gemm(), gemm_work(8192, 8192, 8192));
  // One run of 3 ms: the sensor has seen little of it, and the governor has done nothing.
  const Telemetry cool = device->telemetry();
  EXPECT_EQ(cool.clock->value(), 1650e6);
  EXPECT_LT(cool.power->value(), 250);
  device->resume_at(Seconds(3));  // after three seconds of the like
  const Sample busy = measure(device->gemm(), gemm_work(8192, 8192, 8192));
  const Telemetry hot = device->telemetry();
  EXPECT_NEAR(hot.power->value(), 600, 0.1);
  EXPECT_NEAR(hot.temperature->value(), 56 + 0.06 * (600 - 203.3), 0.01);
  EXPECT_EQ(hot.clock->value(), busy.clock->value());
  EXPECT_LT(hot.clock->value(), 1550e6);
  // Nothing has run since that reading, and how the chip cools is not modelled.
  const Telemetry between = device->telemetry();
  EXPECT_FALSE(between.power);
  EXPECT_FALSE(between.temperature);
  EXPECT_EQ(between.clock->value(), 1650e6);
  measure(device->gemm(), gemm_work(1, 4096, 4096));
  const double light = device->telemetry().power->value();
  EXPECT_GT(light, 203.3);
  EXPECT_LT(light, 300);
  measure(device->gemm(), gemm_work(8192, 8192, 8192));
  measure(device->stream(), stream_work());  // its power is not modelled
  EXPECT_FALSE(device->telemetry().power);
}

TEST(SimTelemetry, ARowDependsOnItsOwnRunAlone) {
  // What a harness reads around a sample is the same in a resumed run.
  const auto whole = open_device(kChip);
  measure(whole->gemm(), gemm_work(4096, 4096, 4096), {1, 0, 0});
  whole->telemetry();
  const double middle = whole->now().value();
  const auto resumed = open_device(kChip);
  resumed->telemetry();
  resumed->resume_at(Seconds(middle));
  for (Device* device : {whole.get(), resumed.get()}) {
    EXPECT_FALSE(device->telemetry().temperature);
    measure(device->gemm(), gemm_work(2048, 2048, 2048), {1, 0, 1});
  }
  const Telemetry a = whole->telemetry();
  const Telemetry b = resumed->telemetry();
  EXPECT_EQ(a.power->value(), b.power->value());
  EXPECT_EQ(a.temperature->value(), b.temperature->value());
  EXPECT_EQ(a.clock->value(), b.clock->value());
}

TEST(SimEngines, VerifyAcceptsGoodRunsAndNothingElse) {
  const auto device = open_device(kChip);
  const auto check = [](auto* engine, const auto& work) {
    EXPECT_FALSE(engine->verify().ok);  // nothing has run
    EXPECT_THROW(engine->run({}), PointFailure);
    engine->prepare(work);
    EXPECT_FALSE(engine->verify().ok);
    engine->run({});
    EXPECT_TRUE(engine->verify().ok) << engine->verify().problem;
    engine->prepare(work);
    EXPECT_FALSE(engine->verify().ok);
  };
  check(device->profile(), profile_work());
  check(device->contention(), contention_work());
  check(device->stream(), stream_work("copy"));
  check(device->gemm(), gemm_work(1, 17, 33));
}

TEST(SimEngines, CorruptResultsAreCaught) {
  const auto device = open_device("sim:950pr_9579?fault=corrupt");
  const auto problem = [](auto* engine, const auto& work) {
    measure(engine, work);
    const Check check = engine->verify();
    EXPECT_FALSE(check.ok);
    return check.problem;
  };
  EXPECT_NE(problem(device->profile(), profile_work()).find("fold to"), std::string::npos);
  for (const char* does : {"none", "register", "load", "store"}) {
    EXPECT_NE(problem(device->contention(), contention_work(does)).find("vector2 ended on line"),
              std::string::npos);
  }
  for (const char* kind : {"read", "write", "copy"}) {
    EXPECT_NE(problem(device->stream(), stream_work(kind)).find(", expected 0x"),
              std::string::npos);
  }
  EXPECT_EQ(problem(device->gemm(), gemm_work(1, 1, 1)), "0 multiply-adds were done, expected 1");
}

std::string reason(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const Skip& skip) {
    return skip.what();
  }
  return "no skip";
}

TEST(SimEngines, ProfilesItCannotDo) {
  const auto device = open_device(kChip);
  ProfileWork work = profile_work();
  work.core = {"cube", 28};
  EXPECT_EQ(reason([&] { device->profile()->prepare(work); }),
            "no core cube28: cores are vector0 to vector55 and cube0 to cube27");
  work = profile_work();
  work.bytes = 256 * kGiB;
  EXPECT_NE(reason([&] { device->profile()->prepare(work); }).find("does not fit"),
            std::string::npos);
  work.bytes = std::int64_t{64} * 100;  // 100 lines
  EXPECT_NE(reason([&] { device->profile()->prepare(work); }), "no skip");
}

TEST(SimEngines, ContentionItCannotDo) {
  const auto device = open_device(kChip);
  const auto says = [&](const std::function<void(ContentionWork&)>& change) {
    ContentionWork work = contention_work();
    change(work);
    return reason([&] { device->contention()->prepare(work); });
  };
  EXPECT_EQ(says([](auto& w) { w.aggressor_work = "nt_store"; }),
            "no aggressors that do nt_store: works are register, load and store");
  EXPECT_EQ(says([](auto& w) { w.victim_work = "store"; }),
            "no victim that does store: victims load");
  EXPECT_EQ(says([](auto& w) { w.victim = {"vector", 3}; }), "core vector3 has two parts at once");
  EXPECT_NE(says([](auto& w) {
              w.aggressors.push_back({"sm", 0});
            }).find("no core sm0"),
            std::string::npos);
  EXPECT_NE(says([](auto& w) { w.footprint_bytes = 63; }).find("between one line"),
            std::string::npos);
  EXPECT_NE(says([](auto& w) { w.loads = 0; }), "no skip");
  EXPECT_EQ(says([](auto&) {}), "no skip");
}

TEST(SimEngines, StreamsItCannotDo) {
  const auto device = open_device(kChip);
  const auto says = [&](const std::function<void(StreamWork&)>& change) {
    StreamWork work = stream_work("copy");
    change(work);
    return reason([&] { device->stream()->prepare(work); });
  };
  EXPECT_EQ(says([](auto& w) { w.kind = "triad"; }),
            "no stream of kind triad: kinds are read, write and copy");
  EXPECT_EQ(says([](auto& w) { w.store = "nt"; }), "no stores of kind nt: stores are ordinary");
  EXPECT_EQ(says([](auto& w) {
              w.cores = {{"cube", 1}};
            }),
            "no copy on cube1: a Cube core has no way from L1 back to memory");
  EXPECT_EQ(says([](auto& w) { w.cores.push_back({"vector", 7}); }), "core vector7 is named twice");
  EXPECT_EQ(says([](auto& w) { w.requests = 125; }),
            "a command of 125 x 2,048 B does not fit into the 253,952 B that vector0 has for it");
  EXPECT_EQ(says([](auto& w) { w.requests = 124; }), "no skip");
  EXPECT_NE(says([](auto& w) { w.bytes = 40 * kGiB; }).find("4 arrays of"), std::string::npos);
  EXPECT_NE(says([](auto& w) { w.bytes = 0; }).find("at least one"), std::string::npos);
  EXPECT_NE(says([](auto& w) { w.passes = std::int64_t{1} << 50; }).find("1,125,899,906,842,624 B"),
            std::string::npos);
  EXPECT_NE(says([](auto& w) {
              w.bytes = 16 * kGiB;
              w.request_bytes = 1;
              w.passes = 1000;
            }).find("1,099,511,627,776 requests"),
            std::string::npos);
  EXPECT_NE(says([](auto& w) { w.cores.clear(); }).find("at least one"), std::string::npos);
}

TEST(SimEngines, StreamShapesItCannotDo) {
  const auto device = open_device(kChip);
  const auto says = [&](const std::function<void(StreamWork&)>& change) {
    StreamWork work = stream_work("read");
    change(work);
    return reason([&] { device->stream()->prepare(work); });
  };
  EXPECT_EQ(says([](auto& w) {
              w.tile_bytes = 128 * kKiB;
              w.buffers = 2;
            }),
            "2 tiles of 131,072 B: vector0 has room for one request of 2,048 B to 126,976 B in "
            "each");
  EXPECT_EQ(says([](auto& w) {
              w.tile_bytes = 124 * kKiB;
              w.buffers = 2;
            }),
            "no skip");
  EXPECT_NE(says([](auto& w) { w.tile_bytes = 1024; }), "no skip");
  EXPECT_NE(says([](auto& w) { w.pattern = "staggered"; }).find("of shared addresses"),
            std::string::npos);
  EXPECT_NE(says([](auto& w) { w.reread = 0; }), "no skip");
  EXPECT_NE(says([](auto& w) { w.reread = std::int64_t{1} << 50; }), "no skip");
  EXPECT_NE(says([](auto& w) { w.buffers = 0; }), "no skip");
  EXPECT_NE(says([](auto& w) { w.alignment = 0; }), "no skip");
}

TEST(SimEngines, BusyTimesOfAGemmAreInItsSample) {
  const auto device = open_device(kChip + std::string("?noise=off"));
  GemmWork work = gemm_work(4096, 4096, 4096);
  work.blocks = 7;
  const Sample sample = measure(device->gemm(), work);
  EXPECT_EQ(sample.placement.size(), 7U);
  ASSERT_EQ(sample.busy.size(), 4U);
  for (const auto& [pipe, time] : sample.busy) {
    EXPECT_GT(time.value(), 0) << pipe;
    EXPECT_LT(time.value(), sample.elapsed.value()) << pipe;
  }
  // 2 m n k over 7 cores of 8192 FLOP/cycle at 1650 MHz.
  EXPECT_NEAR(sample.busy.at("cube").value(), work.flop() / (7 * 8192 * 1.65e9), 1e-9);
}

TEST(SimEngines, EpisodesCountAsThrottling) {
  EXPECT_FALSE(open_device(kChip)->telemetry().throttle_events);
  const auto device = open_device(kChip + std::string("?noise=episodes"));
  std::int64_t before = device->telemetry().throttle_events.value();
  EXPECT_EQ(before, 0);
  std::int64_t held = 0;
  for (std::int64_t r = 0; r < 2048; ++r) {
    device->gemm()->prepare(gemm_work(4096, 4096, 4096));
    device->gemm()->run({1, 0, r});
    const std::int64_t now = device->telemetry().throttle_events.value();
    held += now > before ? 1 : 0;
    before = now;
  }
  EXPECT_GT(held, 0);
  EXPECT_LT(held, 1024);
}

TEST(SimEngines, TheSensorSeesStepsOfTheClock) {
  const auto device = open_device(kChip + std::string("?noise=steps"));
  const double full = open_device(kChip)->telemetry().clock->value();
  double least = full;
  for (std::int64_t ms = 4; ms < 400; ms += 8) {
    device->resume_at(Seconds(1e-3 * static_cast<double>(ms)));
    least = std::min(least, device->telemetry().clock->value());
    EXPECT_LE(least, full);
  }
  EXPECT_LT(least, 0.92 * full);
  EXPECT_GT(least, 0.87 * full);
}

TEST(SimEngines, GemmsItCannotDo) {
  const auto device = open_device(kChip);
  GemmWork work = gemm_work(16, 16, 16);
  work.dtype = "fp64";
  EXPECT_EQ(reason([&] { device->gemm()->prepare(work); }),
            "no GEMM in fp64: types are bf16, fp16, fp8, int8, mxfp4 and fp32");
  work = gemm_work(16, 16, 16);
  work.blocks = 29;
  EXPECT_EQ(reason([&] { device->gemm()->prepare(work); }),
            "a GEMM on 29 cores: 1 to 28 are possible");
  work = gemm_work(16, 16, 16);
  work.kernel = "512x512";
  EXPECT_EQ(reason([&] { device->gemm()->prepare(work); }),
            "no GEMM kernel 512x512: kernels are auto, 256x256, 128x256, 256x128, 128x128 and "
            "64x256");
  EXPECT_NE(reason([&] { device->gemm()->prepare(gemm_work(0, 16, 16)); }).find("at least 1"),
            std::string::npos);
  for (std::int64_t huge : {std::int64_t{1} << 40, std::int64_t{1} << 62}) {
    EXPECT_NE(reason([&] {
                device->gemm()->prepare(gemm_work(huge, huge, huge));
              }).find("does not fit into the memory"),
              std::string::npos);
  }
  const auto large = std::int64_t{1} << 34;
  EXPECT_EQ(reason([&] { device->gemm()->prepare(gemm_work(large, 1, 1)); }), "no skip");
  EXPECT_EQ(reason([&] { device->gemm()->prepare(gemm_work(1 << 17, 1 << 17, 16)); }), "no skip");
}

TEST(SimEngines, EveryKernelItOffersRunsAndIsNamed) {
  const auto device = open_device(kChip);
  const GemmOffer& offer = device->description().gemm;
  EXPECT_EQ(offer.dtypes,
            (std::vector<std::string>{"bf16", "fp16", "fp8", "int8", "mxfp4", "fp32"}));
  ASSERT_GT(offer.kernels.size(), 1U);
  EXPECT_EQ(offer.kernels.front(), "auto");
  for (const std::string& kernel : offer.kernels) {
    GemmWork work = gemm_work(100, 300, 70);
    work.kernel = kernel;
    const Sample sample = measure(device->gemm(), work);
    EXPECT_TRUE(device->gemm()->verify().ok);
    if (kernel != "auto") {
      EXPECT_EQ(sample.note.find("tile " + kernel), 0U) << sample.note;
    }
  }
}

TEST(SimEngines, EveryStreamItOffersRuns) {
  const auto device = open_device(kChip);
  const StreamOffer& offer = device->description().stream;
  EXPECT_EQ(offer.stores, std::vector<std::string>{"ordinary"});
  for (const std::string& kind : offer.kinds) {
    for (std::int64_t request : offer.request_bytes) {
      StreamWork work = stream_work(kind);
      work.request_bytes = request;
      work.requests = offer.requests;
      EXPECT_GT(measure(device->stream(), work).elapsed.value(), 0);
      EXPECT_TRUE(device->stream()->verify().ok);
    }
  }
}

}  // namespace
}  // namespace sonde
