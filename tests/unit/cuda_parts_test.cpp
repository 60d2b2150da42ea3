// What the CUDA backend does around its kernels: no card is needed.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "device/common/gemm_reference.h"
#include "device/cuda/context.h"
#include "device/cuda/describe.h"
#include "device/cuda/errors.h"
#include "device/cuda/formats.h"
#include "device/registry.h"

namespace sonde::cuda {
namespace {

/// As the runtime described one on 2026-11-30.
Card h200() {
  Card card;
  card.product = "NVIDIA H200";
  card.major = 9;
  card.sms = 132;
  card.memory_bytes = 150'113'878'016;
  card.l2_bytes = 62'914'560;
  card.shared_bytes_an_sm = 233'472;
  card.most_shared_bytes_a_block = 232'448;
  card.bus_id = "0000:00:05.0";
  card.driver_version = 13000;
  card.runtime_version = 13000;
  card.blas_version = 130100;
  return card;
}

std::string condition(const DeviceDescription& device, const std::string& name) {
  for (const auto& [key, value] : device.conditions) {
    if (key == name) return value;
  }
  return "";
}

TEST(CudaDescribe, ACardOfTheDatasheetTable) {
  CardFacts facts;
  facts.driver = "580.159.04";
  facts.power_limit = Watts(700);
  facts.ecc = true;
  const DeviceDescription d = describe_card(h200(), facts);
  EXPECT_EQ(d.name, "cuda:0");
  EXPECT_EQ(d.time_source, TimeSource::device_event);
  ASSERT_EQ(d.cores.size(), 132U);
  EXPECT_EQ(d.cores.back().str(), "sm131");
  EXPECT_TRUE(d.places_blocks);
  ASSERT_EQ(d.memory.size(), 3U);
  EXPECT_EQ(d.memory[0].capacity_bytes, 256 * kKiB);
  EXPECT_EQ(d.memory[1].capacity_bytes, 62'914'560);
  EXPECT_DOUBLE_EQ(d.roof("memory_bytes_per_s").value(), 4.8e12);
  EXPECT_DOUBLE_EQ(d.roof("bf16_flop_per_s").value(), 989.4e12);
  EXPECT_DOUBLE_EQ(d.roof("fp8_flop_per_s").value(), 1978.8e12);
  // 132 SMs x 4,096 FLOP x the clock is the peak.
  EXPECT_NEAR(132 * 4096 * d.reference_clock_hz.value(), 989.4e12, 0.001 * 989.4e12);
  // A walk of memory is far longer than the L2, and the default chains of two waves fit into it.
  EXPECT_GT(d.memory_from_bytes().value(), 10 * 62'914'560);
  EXPECT_LT(2 * d.chase_footprint_bytes * 132, 62'914'560);
  EXPECT_EQ(condition(d, "driver"), "580.159.04");
  EXPECT_EQ(condition(d, "power_limit"), "700 W");
  EXPECT_EQ(condition(d, "ecc"), "on");
  EXPECT_EQ(condition(d, "persistence"), "");  // not known, so not said
  EXPECT_EQ(condition(d, "runtime_cuda"), "13.0");
}

TEST(CudaDescribe, AnUnknownCardHasNoRoofsAndWithoutTheLibraryNoProducts) {
  Card card = h200();
  card.product = "NVIDIA H20";
  card.blas_version.reset();
  const DeviceDescription d = describe_card(card, {});
  EXPECT_TRUE(d.roofs.empty());
  EXPECT_FALSE(d.reference_clock_hz);
  EXPECT_TRUE(d.gemm.kernels.empty());
  card.blas_version = 130100;
  card.major = 8;
  const DeviceDescription older = describe_card(card, {});
  EXPECT_EQ(older.gemm.dtypes, (std::vector<std::string>{"bf16", "fp16"}));
}

TEST(CudaErrors, MemorySkipsOthersFailAndSomeTakeTheContext) {
  EXPECT_EQ(fault_of(cudaErrorMemoryAllocation), Fault::memory);
  EXPECT_EQ(fault_of(cudaErrorInvalidValue), Fault::call);
  EXPECT_EQ(fault_of(cudaErrorIllegalAddress), Fault::context);
  EXPECT_EQ(fault_of(cudaErrorLaunchFailure), Fault::context);
  EXPECT_NO_THROW(check(cudaSuccess, "x"));
  try {
    check(cudaErrorMemoryAllocation, "3 GiB of the card's memory");
    FAIL();
  } catch (const Skip& skip) {
    EXPECT_NE(std::string(skip.what()).find("3 GiB"), std::string::npos);
  }
  EXPECT_THROW(check(cudaErrorInvalidValue, "x"), PointFailure);
  EXPECT_FALSE(context_is_lost());
  EXPECT_THROW(check(cudaErrorIllegalAddress, "x"), PointFailure);
  EXPECT_TRUE(context_is_lost());
  forget_lost_context();
  EXPECT_FALSE(context_is_lost());
}

TEST(CudaTelemetry, APowerCapIsNoDisturbanceHeatIs) {
  EXPECT_EQ(describe_throttle(0), "none");
  EXPECT_EQ(describe_throttle(0x4), "power cap");
  EXPECT_EQ(describe_throttle(0x4 | 0x40), "power cap and thermal");
  EXPECT_FALSE(is_disturbed(0x1 | 0x4));
  EXPECT_TRUE(is_disturbed(0x40));
  EXPECT_TRUE(is_disturbed(0x80));
}

TEST(CudaPlacement, OnlyCoresThatAreThere) {
  EXPECT_EQ(sm_of({"sm", 131}, 132), 131);
  EXPECT_THROW(sm_of({"sm", 132}, 132), Skip);
  EXPECT_THROW(sm_of({"sm", -1}, 132), Skip);
  EXPECT_THROW(sm_of({"cpu", 0}, 132), Skip);
}

TEST(CudaFormats, OperandsAreTheReferencesValues) {
  for (const char* dtype : {"bf16", "fp16", "fp8"}) {
    const GemmFormat* format = gemm_format(dtype);
    ASSERT_NE(format, nullptr);
    const auto bits = operand_bits(*format);
    for (std::size_t byte = 0; byte < bits.size(); ++byte) {
      const double exact = gemm_value_of(static_cast<std::uint8_t>(byte));
      const double stored =
          dtype == std::string("fp8")
              ? static_cast<double>(from_fp8(static_cast<std::uint8_t>(bits[byte])))
          : dtype == std::string("fp16") ? from_fp16(bits[byte])
                                         : static_cast<double>(from_bf16(bits[byte]));
      // FP8 has 4 bits of precision, or steps of 2^-9.
      const double slack =
          dtype == std::string("fp8") ? std::max(std::abs(exact) / 16, 0x1.0p-10) : 0;
      EXPECT_LE(std::abs(stored - exact), slack) << dtype << byte;
      EXPECT_NE(bits[byte] & format->not_finite, format->not_finite);
    }
  }
  EXPECT_EQ(gemm_format("int8"), nullptr);
}

TEST(CudaFormats, KnownBitPatterns) {
  EXPECT_EQ(to_fp16(1.0F), 0x3c00);
  EXPECT_EQ(to_fp16(-0.5F), 0xb800);
  EXPECT_EQ(from_fp16(0x3555), 0.333251953125);
  EXPECT_EQ(from_fp16(0x0001), 0x1.0p-24);
  EXPECT_TRUE(std::isinf(from_fp16(0x7c00)));
  EXPECT_TRUE(std::isnan(from_fp16(0xffff)));  // the poison that an unwritten element keeps
  EXPECT_TRUE(std::isnan(result_value(*gemm_format("bf16"), 0xffff)));
}

TEST(CudaRegistry, WithoutACardItSaysWhyAndNamesNothingUsable) {
  for (const Listing& listing : list_devices()) {
    if (!listing.name.starts_with("cuda")) continue;
    if (listing.usable) GTEST_SKIP() << "there is a card";
    EXPECT_EQ(listing.name, "cuda");
    EXPECT_TRUE(listing.reason.starts_with("built, no device: ")) << listing.reason;
    EXPECT_THROW(open_device("cuda:0"), UsageError);
    return;
  }
  FAIL() << "no backend cuda";
}

}  // namespace
}  // namespace sonde::cuda
