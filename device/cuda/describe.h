#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/description.h"
#include "device/cuda/nvml.h"

namespace sonde::cuda {

/// What the runtime says of a card.
struct Card {
  int ordinal = 0;
  std::string product;
  int major = 0, minor = 0;  ///< compute capability
  int sms = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_an_sm = 0;
  std::int64_t most_shared_bytes_a_block = 0;
  std::string bus_id;
  int driver_version = 0;   ///< of CUDA that the driver offers: 13000
  int runtime_version = 0;  ///< that this program was built with
  std::optional<std::size_t> blas_version;
};

/// The card as a device: pure, so that a recorded card can be described in a test.
DeviceDescription describe_card(const Card& card, const CardFacts& facts);

/// "13.0" of 13000.
std::string cuda_version(int number);

}  // namespace sonde::cuda
