#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sonde::host {

/// Multiply-adds whose operands and sums never leave the registers.
struct RegisterLoop {
  const char* instructions;    ///< "AMX", "AVX-512 BF16", ...
  std::int64_t flop_per_step;  ///< of one core
  std::size_t sums;            ///< how many are formed
  /// Forms `steps` steps; `results` gets the sums of the last block of them.
  void (*run)(std::int64_t steps, float* results);
  /// What each sum is after `steps` steps of one block, in double.
  std::vector<double> (*expected)(std::int64_t steps);
};

/// Sums are taken anew after this many steps, so that their rounding stays small.
inline constexpr std::int64_t kStepsPerBlock = 1024;
/// Steps of the last block of a run.
constexpr std::int64_t steps_of_last_block(std::int64_t steps) {
  return (steps - 1) % kStepsPerBlock + 1;
}

/// The quickest loop that this processor has for a type, with `vector_only` of those without matrix
/// units; null: none.
const RegisterLoop* register_loop(std::string_view dtype, bool vector_only);

}  // namespace sonde::host
