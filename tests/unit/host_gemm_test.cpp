#include "device/host/gemm.h"

#include "core/units.h"
#include "tests/unit/host_fixture.h"

namespace sonde::host {
namespace {

class HostGemm : public HostFixture {
 protected:
  HostGemm() : engine_(machine_, description_) {}
  static GemmWork work(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& kernel) {
    GemmWork w;
    w.m = m;
    w.n = n;
    w.k = k;
    w.kernel = kernel;
    w.seed = 6;
    return w;
  }
  GemmEngine engine_;
};

TEST_F(HostGemm, EveryKernelIsRightForAnyShape) {
  for (const std::string& kernel : gemm_offer().kernels) {
    for (const auto& [m, n, k] : {std::tuple{1, 1, 1},
                                  {1, 300, 200},
                                  {300, 1, 200},
                                  {300, 200, 1},
                                  {33, 65, 127},
                                  {128, 256, 512},
                                  {129, 256, 512},
                                  {3, 5, 20000}}) {
      engine_.prepare(work(m, n, k, kernel));
      const Sample sample = engine_.run({});
      const Check check = engine_.verify();
      EXPECT_TRUE(check.ok) << kernel << " " << m << "x" << n << "x" << k << ": " << check.problem;
      EXPECT_EQ(sample.placement, description_.cores);
      EXPECT_NE(sample.note.find("threads"), std::string::npos) << sample.note;
      EXPECT_GT(sample.elapsed.value(), 0);
      EXPECT_LT(sample.elapsed.value(), 1);
    }
  }
}

TEST_F(HostGemm, AWrongElementAndAProductThatNeverRanAreCaught) {
  for (const std::string& kernel : gemm_offer().kernels) {
    const GemmWork w = work(20, 30, 256, kernel);
    engine_.prepare(w);
    EXPECT_FALSE(engine_.verify().ok) << "what the warm-up computed must not pass";
    engine_.run({});
    EXPECT_TRUE(engine_.verify().ok);
    const float good = engine_.product()->element(19, 29);
    engine_.product()->put(19, 29, good + 1);
    const Check check = engine_.verify();
    EXPECT_FALSE(check.ok) << kernel;
    EXPECT_NE(check.problem.find("C[19, 29]"), std::string::npos) << check.problem;
  }
}

TEST_F(HostGemm, KeptWeightsFollowShapeAndSeed) {
  for (const std::string& kernel : gemm_offer().kernels) {
    GemmWork w = work(8, 64, 96, kernel);
    for (const std::int64_t m : {8, 200, 1}) {
      w.m = m;
      for (const std::uint64_t seed : {1U, 2U}) {
        w.seed = seed;
        engine_.prepare(w);
        engine_.run({});
        const Check check = engine_.verify();
        EXPECT_TRUE(check.ok) << kernel << ": " << check.problem;
      }
    }
    engine_.prepare(work(8, 96, 64, kernel));
    engine_.run({});
    EXPECT_TRUE(engine_.verify().ok) << kernel;
  }
}

TEST_F(HostGemm, TheOldAffinityComesBack) {
  engine_.prepare(work(64, 64, 64, "onednn"));
  engine_.run({});
  EXPECT_EQ(thread_affinity(), machine_.cpus);
}

TEST_F(HostGemm, WhatCannotBeDoneIsSkippedWithTheReason) {
  GemmWork w = work(8, 8, 8, "cublas");
  EXPECT_NE(skip_reason(engine_, w).find("onednn"), std::string::npos);
  w = work(8, 8, 8, "auto");
  w.dtype = "fp8";
  EXPECT_NE(skip_reason(engine_, w).find("there is bf16"), std::string::npos);
  EXPECT_NE(skip_reason(engine_, work(0, 8, 8, "auto")).find("0x8x8"), std::string::npos);
  description_.memory_bytes = 16 * kMiB;
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const std::string& kernel : gemm_offer().kernels) {
    EXPECT_NE(skip_reason(engine_, work(huge, huge, huge, kernel)).find("16,777,216 B"),
              std::string::npos);
    // The product of the sizes is small enough in 32 bits.
    EXPECT_NE(skip_reason(engine_, work(65536, 65536, 1, kernel)).find("16,777,216 B"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace sonde::host
