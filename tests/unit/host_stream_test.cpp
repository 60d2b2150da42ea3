#include "device/host/stream.h"

#include "core/units.h"
#include "device/host/clock.h"
#include "tests/unit/host_fixture.h"

namespace sonde::host {
namespace {

class HostStream : public HostFixture {
 protected:
  StreamWork work(const std::string& kind) const {
    StreamWork w;
    w.cores = {first()};
    if (!one_core()) w.cores.push_back(last());
    w.kind = kind;
    // 18 rounds of the widest loop, 2.25 rounds more than a power of two.
    w.bytes = std::int64_t{9} * 1024;
    w.request_bytes = stream_offer().request_bytes.front();
    w.seed = 8;
    return w;
  }
  static Check streamed(StreamEngine& engine, const StreamWork& w) {
    engine.prepare(w);
    const Sample sample = engine.run({});
    EXPECT_EQ(sample.placement, w.cores);
    EXPECT_GT(sample.elapsed.value(), 0);
    return engine.verify();
  }
};

TEST_F(HostStream, EveryKindStoreAndWidthLeavesTheRightBytes) {
  StreamEngine engine(machine_, description_);
  const StreamOffer offer = stream_offer();
  for (const std::string& kind : offer.kinds) {
    for (const std::string& store : offer.stores) {
      if (kind == "read" && store != "ordinary") continue;
      for (const std::int64_t width : offer.request_bytes) {
        // One access; a tail of the unrolled loop; longer than the caches kept for it before.
        for (const std::int64_t bytes : {width, 9 * kKiB + 3 * width, 300 * kKiB}) {
          StreamWork w = work(kind);
          w.store = store;
          w.request_bytes = width;
          w.bytes = bytes;
          const Check check = streamed(engine, w);
          EXPECT_TRUE(check.ok) << kind << " " << store << " " << width << ": " << check.problem;
        }
      }
    }
  }
}

TEST_F(HostStream, SharedAddressesAndSeveralPasses) {
  StreamEngine engine(machine_, description_);
  for (const std::string& kind : stream_offer().kinds) {
    StreamWork w = work(kind);
    w.shared = true;
    w.passes = 3;
    const Check check = streamed(engine, w);
    EXPECT_TRUE(check.ok) << kind << ": " << check.problem;
  }
}

TEST_F(HostStream, ElapsedIsTheTimeOfAllPassesInSeconds) {
  StreamKernels slow = stream_kernels().front();
  slow.write = [](const StreamArrays& a) {
    const std::int64_t end = monotonic_ns() + 1'000'000;
    while (monotonic_ns() < end) {
    }
    return stream_kernels().front().write(a);
  };
  StreamEngine engine(machine_, description_, &slow);
  StreamWork w = work("write");
  w.passes = 3;
  engine.prepare(w);
  const double elapsed = engine.run({}).elapsed.value();
  EXPECT_GE(elapsed, 3e-3);
  EXPECT_LT(elapsed, 1.0);  // a factor of 1000 off would be 3 s; a busy machine is far from that
  EXPECT_TRUE(engine.verify().ok);
}

StreamArrays without_last_access(const StreamArrays& arrays) {
  StreamArrays shorter = arrays;
  shorter.bytes -= 64;
  return shorter;
}

TEST_F(HostStream, ALostStoreAMissingReadAndAWrongWordAreCaught) {
  StreamKernels lossy = stream_kernels().front();
  static const StreamKernels real = lossy;
  lossy.read = [](const StreamArrays& a) { return real.read(without_last_access(a)); };
  lossy.write = [](const StreamArrays& a) { return real.write(without_last_access(a)); };
  lossy.copy = [](const StreamArrays& a) { return real.copy(without_last_access(a)); };
  lossy.triad = [](const StreamArrays& a) { return real.triad(without_last_access(a)); };
  StreamKernels nothing = real;
  nothing.read = [](const StreamArrays&) { return std::uint64_t{0}; };
  nothing.write = nothing.copy = nothing.triad = nothing.read;
  StreamKernels wrong = real;
  wrong.read = [](const StreamArrays& a) { return real.read(a) + 1; };
  wrong.write = wrong.copy = wrong.triad = [](const StreamArrays& a) {
    real.triad(a.second != nullptr ? a : StreamArrays{a.target, a.source, a.source, a.bytes, 0});
    reinterpret_cast<double*>(a.target)[a.bytes / 16] += 0.5;
    return std::uint64_t{0};
  };
  for (const StreamKernels* planted : {&lossy, &nothing, &wrong}) {
    StreamEngine engine(machine_, description_, planted);
    for (const std::string kind : {"read", "copy", "triad", "write"}) {
      if (planted == &wrong && kind == "write") continue;  // it has no source
      // Twice: the first run's result must not pass for the second's.
      for (int i = 0; i < 2; ++i) {
        engine.prepare(work(kind));
        try {
          engine.run({});
        } catch (const PointFailure&) {
          continue;  // a stream of nothing may take no time at all
        }
        const Check check = engine.verify();
        EXPECT_FALSE(check.ok) << kind;
        EXPECT_NE(check.problem.find("expected"), std::string::npos) << check.problem;
      }
    }
  }
}

TEST_F(HostStream, WhatCannotBeDoneIsSkippedWithTheReason) {
  StreamEngine engine(machine_, description_);
  EXPECT_NE(skip_reason(engine, work("scatter")).find("there is read, write"), std::string::npos);
  StreamWork w = work("read");
  w.store = "nt";
  EXPECT_NE(skip_reason(engine, w).find("nt stores"), std::string::npos);
  w = work("copy");
  w.request_bytes = 8;
  EXPECT_NE(skip_reason(engine, w).find("accesses of 8 B"), std::string::npos);
  w = work("copy");
  w.requests = 2;
  EXPECT_NE(skip_reason(engine, w).find("2 requests"), std::string::npos);
  w = work("copy");
  w.bytes += 8;
  EXPECT_NE(skip_reason(engine, w).find("whole number"), std::string::npos);
  w = work("copy");
  w.cores = {absent()};
  EXPECT_NE(skip_reason(engine, w).find(absent().str()), std::string::npos);
  description_.memory_bytes = 16 * kMiB;
  w = work("triad");
  w.bytes = std::int64_t{1} << 60;
  EXPECT_NE(skip_reason(engine, w).find("16,777,216 B"), std::string::npos);
}

}  // namespace
}  // namespace sonde::host
