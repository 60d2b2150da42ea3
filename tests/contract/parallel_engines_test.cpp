// What must hold for the engines of several cores (and the profile) on every backend.
#include <algorithm>
#include <set>

#include "core/units.h"
#include "tests/contract/every_backend.h"

namespace sonde {
namespace {

using EveryEngine = EveryBackend;

TEST_P(EveryEngine, IsThereWhenItIsOffered) {
  EXPECT_EQ(device_->profile() != nullptr, description().profile_bytes > 0);
  EXPECT_EQ(device_->contention() != nullptr, !description().aggressor_works.empty());
  EXPECT_EQ(device_->contention() != nullptr, description().contention_bytes > 0);
  EXPECT_EQ(device_->handoff() != nullptr, !description().handoff_kinds.empty());
  EXPECT_EQ(device_->stream() != nullptr, !description().stream.kinds.empty());
  EXPECT_EQ(device_->gemm() != nullptr, !description().gemm.kernels.empty());
}

TEST_P(EveryEngine, AProfileSamplesTheSameAddressesOnEachCore) {
  ASSERT_NE(device_->profile(), nullptr);
  ProfileWork work;
  work.bytes = description().profile_bytes;
  work.addresses = 256;
  std::vector<std::int64_t> first;
  for (const CoreName& core : {description().cores.front(), description().cores.back()}) {
    work.core = core;
    const Sample taken = sample(device_->profile(), work);
    EXPECT_EQ(taken.placement, std::vector<CoreName>{core});
    ASSERT_EQ(taken.series.size(), 256u);
    std::vector<std::int64_t> offsets;
    double sum = 0;
    for (const AddressTime& at : taken.series) {
      offsets.push_back(at.address_bytes);
      EXPECT_GE(at.address_bytes, 0);
      EXPECT_LT(at.address_bytes, work.bytes);
      EXPECT_GT(at.latency.value(), 1e-10);
      EXPECT_LT(at.latency.value(), 1e-3);
      sum += at.latency.value();
    }
    EXPECT_GE(taken.elapsed.value(), sum * 0.5);
    EXPECT_EQ(std::set<std::int64_t>(offsets.begin(), offsets.end()).size(), 256u);
    if (first.empty()) first = offsets;
    EXPECT_EQ(offsets, first);
  }
  work.core = {"nocore", 0};
  EXPECT_NE(skip_reason(device_->profile(), work), "");
}

TEST_P(EveryEngine, AggressorsOfEveryWorkRunBesideTheVictim) {
  ASSERT_NE(device_->contention(), nullptr);
  const std::vector<CoreName>& cores = description().cores;
  if (cores.size() < 2) GTEST_SKIP() << "one core";
  ContentionWork work;
  work.victim = cores.front();
  work.footprint_bytes = description().contention_bytes;
  work.loads =
      description().cold_launches ? work.footprint_bytes / description().chase_line_bytes : 4096;
  const Sample alone = sample(device_->contention(), work);
  EXPECT_EQ(alone.placement, std::vector<CoreName>{work.victim});
  EXPECT_FALSE(alone.background_operations);
  for (const std::string& kind : description().aggressor_works) {
    work.aggressor_work = kind;
    work.aggressors = {cores.begin() + 1, cores.begin() + 2};
    const Sample taken = sample(device_->contention(), work);
    ASSERT_TRUE(taken.background_operations) << kind;
    EXPECT_GT(*taken.background_operations, 0) << kind;
    EXPECT_EQ(taken.placement.size(), 2u);
    EXPECT_GT(taken.elapsed.value(), 0);
  }
  work.aggressors = {work.victim};
  EXPECT_NE(skip_reason(device_->contention(), work), "");
  work.aggressors = {cores.begin() + 1, cores.begin() + 2};
  work.aggressor_work = "shout";
  EXPECT_NE(skip_reason(device_->contention(), work), "");
}

TEST_P(EveryEngine, HandoffsOfEveryKindAndAddress) {
  if (device_->handoff() == nullptr) GTEST_SKIP() << "no hand-off engine";
  const std::vector<CoreName>& cores = description().cores;
  if (cores.size() < 2) GTEST_SKIP() << "one core";
  for (const std::string& kind : description().handoff_kinds) {
    for (std::int64_t address : {0, 1, 15}) {
      HandoffWork work;
      work.from = cores[0];
      work.to = cores[1];
      work.kind = kind;
      work.exchanges = 200;
      work.address_index = address;
      const Sample taken = sample(device_->handoff(), work);
      EXPECT_GT(taken.elapsed.value(), 200 * 1e-9) << kind;
      EXPECT_EQ(taken.placement.size(), 2u);
    }
  }
  HandoffWork self;
  self.from = self.to = cores[0];
  self.exchanges = 10;
  EXPECT_NE(skip_reason(device_->handoff(), self), "");
}

TEST_P(EveryEngine, StreamsOfEveryKindStoreAndRequest) {
  ASSERT_NE(device_->stream(), nullptr);
  const StreamOffer& offer = description().stream;
  ASSERT_FALSE(offer.stores.empty());
  ASSERT_FALSE(offer.request_bytes.empty());
  for (const std::string& kind : offer.kinds) {
    for (const std::string& store : offer.stores) {
      if (kind == "read" && store != offer.stores.front()) continue;  // a read has no store
      for (std::int64_t request : offer.request_bytes) {
        StreamWork work;
        work.cores = description().cores_of(description().kinds().front());
        work.kind = kind;
        work.store = store;
        work.bytes = kMiB;
        work.request_bytes = request;
        work.requests = offer.requests;
        work.passes = 2;
        const Sample taken = sample(device_->stream(), work);
        // Between a hundredth of a slow disk and a hundred times the fastest memory on sale.
        const double rate = static_cast<double>(work.moved_bytes()) / taken.elapsed.value();
        EXPECT_GT(rate, 1e7) << kind << " " << store << " " << request;
        EXPECT_LT(rate, 1e15) << kind << " " << store << " " << request;
      }
    }
  }
  StreamWork shared;
  shared.cores = description().cores;
  shared.bytes = kMiB;
  shared.request_bytes = offer.request_bytes.front();
  shared.requests = offer.requests;
  shared.shared = true;
  EXPECT_GT(sample(device_->stream(), shared).elapsed.value(), 0);
  StreamWork odd = shared;
  odd.kind = "sideways";
  EXPECT_NE(skip_reason(device_->stream(), odd), "");
  odd = shared;
  odd.bytes = *description().memory_bytes * 2;
  EXPECT_NE(skip_reason(device_->stream(), odd), "");
}

TEST_P(EveryEngine, GemmsOfAnyShapeAreVerified) {
  ASSERT_NE(device_->gemm(), nullptr);
  const GemmOffer& offer = description().gemm;
  EXPECT_EQ(offer.kernels.front(), "auto");
  EXPECT_EQ(offer.dtypes.front(), "bf16");
  const std::int64_t shapes[][3] = {{1, 1, 1},     {1, 64, 128},    {33, 1, 17}, {17, 33, 1},
                                    {64, 128, 96}, {17, 4095, 33},  {5, 7, 3},   {175, 472, 584},
                                    {1, 8, 4096},  {256, 512, 1024}};
  for (const std::string& kernel : offer.kernels) {
    int types = 0;
    for (const std::string& dtype : offer.dtypes) {
      GemmWork work;
      work.kernel = kernel;
      work.dtype = dtype;
      work.m = work.n = work.k = 64;
      // Rotated sets of a large last cache take long to fill; a model has no warm operands.
      work.warm = description().time_source != TimeSource::modelled;
      // A kernel may not have every type, but says so, and it has one; `auto` has all.
      try {
        device_->gemm()->prepare(work);
      } catch (const Skip& skip) {
        EXPECT_NE(kernel, "auto");
        EXPECT_NE(std::string(skip.what()).find(dtype), std::string::npos) << skip.what();
        continue;
      }
      if (++types > 1) continue;
      for (const auto& [m, n, k] : shapes) {
        work.m = m;
        work.n = n;
        work.k = k;
        EXPECT_GT(sample(device_->gemm(), work).elapsed.value(), 0)
            << kernel << " " << m << "x" << n << "x" << k;
      }
    }
    EXPECT_GE(types, 1) << kernel;
  }
  GemmWork odd;
  odd.m = odd.n = odd.k = 64;
  odd.kernel = "abacus";
  EXPECT_NE(skip_reason(device_->gemm(), odd), "");
  odd.kernel = "auto";
  odd.dtype = "roman";
  EXPECT_NE(skip_reason(device_->gemm(), odd), "");
  odd.dtype = "bf16";
  odd.m = odd.n = odd.k = std::int64_t{1} << 26;
  EXPECT_NE(skip_reason(device_->gemm(), odd), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryEngine, ::testing::Values("host", "sim:950pr_9579"),
                         backend_name);

template <class Work>
void expect_caught(Engine<Work>* engine, const Work& work) {
  ASSERT_NE(engine, nullptr);
  engine->prepare(work);
  engine->run({});
  const Check check = engine->verify();
  EXPECT_FALSE(check.ok);
  EXPECT_FALSE(check.problem.empty());
}

/// A device that corrupts what it computes: every verify() must notice.
TEST(CorruptingEngines, AreCaughtByEveryVerify) {
  const auto device = open_device("sim:950pr_9579?fault=corrupt");
  const DeviceDescription& description = device->description();
  ProfileWork profile;
  profile.core = description.cores.front();
  profile.bytes = description.profile_bytes;
  profile.addresses = 64;
  expect_caught(device->profile(), profile);
  ContentionWork contention;
  contention.victim = description.cores[0];
  contention.aggressors = {description.cores[1]};
  contention.aggressor_work = "load";
  contention.footprint_bytes = description.contention_bytes;
  contention.loads = contention.footprint_bytes / description.chase_line_bytes;
  expect_caught(device->contention(), contention);
  StreamWork stream;
  stream.cores = {description.cores[0]};
  stream.bytes = kMiB;
  stream.request_bytes = description.stream.request_bytes.front();
  stream.requests = description.stream.requests;
  for (const std::string& kind : description.stream.kinds) {
    stream.kind = kind;
    expect_caught(device->stream(), stream);
  }
  GemmWork gemm;
  gemm.m = gemm.n = gemm.k = 256;
  expect_caught(device->gemm(), gemm);
}

}  // namespace
}  // namespace sonde
