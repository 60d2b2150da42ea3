// The engines on a real card: skipped where there is none.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "device/cuda/errors.h"
#include "device/cuda/kernels.h"
#include "device/registry.h"

namespace sonde::cuda {
namespace {

class OnACard : public testing::Test {
 protected:
  void SetUp() override {
    for (const Listing& listing : list_devices()) {
      if (listing.name == "cuda:0" && listing.usable) device_ = open_device("cuda:0");
    }
    if (!device_) GTEST_SKIP() << "there is no card";
  }
  template <class Work>
  Sample good(Engine<Work>* engine, const Work& work) {
    engine->prepare(work);
    Sample sample = engine->run({});
    const Check check = engine->verify();
    EXPECT_TRUE(check.ok) << check.problem;
    EXPECT_GT(sample.elapsed.value(), 0);
    return sample;
  }
  ChaseWork walk(int sm) {
    ChaseWork work;
    work.cores = {{"sm", sm}};
    work.blocks = 1;
    work.footprint_bytes = kMiB;
    work.loads = 4096;
    return work;
  }
  std::unique_ptr<Device> device_;
};

TEST_F(OnACard, EverySmCanBeNamed) {
  for (const CoreName& core : device_->description().cores) {
    const Sample sample = good(device_->chase(), walk(core.number));
    ASSERT_EQ(sample.placement.size(), 1U);
    EXPECT_EQ(sample.placement[0], core);
  }
}

TEST_F(OnACard, AWaveHasOneBlockAnSm) {
  ChaseWork work;
  work.kind = "sm";
  work.blocks = static_cast<std::int64_t>(device_->description().cores.size());
  work.footprint_bytes = 128 * kKiB;
  work.loads = 1024;
  work.warm = false;
  Sample sample = good(device_->chase(), work);
  std::sort(sample.placement.begin(), sample.placement.end());
  EXPECT_EQ(sample.placement, device_->description().cores);
}

TEST_F(OnACard, AllCopiesArriveAlsoOddOnes) {
  for (const CopyPath& path : device_->description().copies) {
    for (const std::string& method : path.methods) {
      for (std::int64_t bytes : {std::int64_t{1}, std::int64_t{1000003}}) {
        for (std::int64_t alignment : {1, 4096}) {
          CopyWork work;
          work.direction = path.direction;
          work.method = method;
          work.bytes = bytes;
          work.alignment = alignment;
          good(device_->copy(), work);
          work.warm = false;
          good(device_->copy(), work);
        }
      }
    }
  }
}

TEST_F(OnACard, AllStreamsLeaveWhatTheyShould) {
  for (const char* kind : {"read", "write", "copy", "triad"}) {
    for (std::int64_t request : {16, 8, 4}) {
      StreamWork work;
      work.cores = device_->description().cores;
      work.kind = kind;
      work.bytes = 80'016;
      work.request_bytes = request;
      work.passes = 3;
      good(device_->stream(), work);
      work.shared = true;
      good(device_->stream(), work);
    }
  }
}

TEST_F(OnACard, VictimsAndAggressorsRunTogether) {
  for (const std::string& victim : device_->description().victim_works) {
    for (const std::string& aggressor : device_->description().aggressor_works) {
      ContentionWork work;
      work.victim = {"sm", 5};
      work.victim_work = victim;
      work.aggressors = {{"sm", 0}, {"sm", 7}, {"sm", 100}};
      work.aggressor_work = aggressor;
      work.footprint_bytes = device_->description().contention_bytes;
      work.loads = 512;
      const Sample sample = good(device_->contention(), work);
      EXPECT_GT(sample.background_operations.value_or(0), 0) << victim << aggressor;
    }
  }
}

TEST_F(OnACard, ProductsOfEveryTypeAndKernelAreRight) {
  for (const std::string& dtype : device_->description().gemm.dtypes) {
    for (const char* kernel : {"auto", "best"}) {
      GemmWork work;
      work.m = 48;
      work.n = 1040;
      work.k = 528;
      work.dtype = dtype;
      work.kernel = kernel;
      good(device_->gemm(), work);
    }
  }
  GemmWork odd;
  odd.m = 17;
  odd.n = 33;
  odd.k = 65;
  odd.dtype = "fp8";  // not a multiple of 16
  EXPECT_THROW(device_->gemm()->prepare(odd), Skip);
  GemmWork large;
  large.m = large.n = 1 << 20;
  large.k = 16;
  EXPECT_THROW(device_->gemm()->prepare(large), Skip);
}

TEST_F(OnACard, ALostContextFailsPointsAndNotTheProgram) {
  good(device_->chase(), walk(1));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address where nothing lies is what is needed
  auto* const nowhere = reinterpret_cast<float*>(std::uintptr_t{0x1000});
  EXPECT_THROW(
      {
        check(launch_fill_floats(nullptr, nowhere, 16, 1, true, 0), "a wild store");
        check(cudaDeviceSynchronize(), "a wild store");
      },
      PointFailure);
  EXPECT_TRUE(context_is_lost());
  // A new context where the driver gives this process one (580.159 does not), else a failed point.
  try {
    device_->chase()->prepare(walk(2));
  } catch (const PointFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("choosing the card"), std::string::npos);
    return;
  }
  good(device_->chase(), walk(2));
}

}  // namespace
}  // namespace sonde::cuda
