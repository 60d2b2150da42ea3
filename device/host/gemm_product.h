#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/common/gemm_reference.h"
#include "device/device.h"
#include "device/host/cores.h"
#include "device/host/machine.h"

namespace sonde::host {

/// One way to form C = A x B, with its own memory for the three. C never shares memory with A or
/// B, and B stays where it is while only M changes.
class GemmProduct {
 public:
  virtual ~GemmProduct() = default;
  /// Memory that prepare() will hold, packed operands included.
  virtual double needed_bytes(const GemmWork& work) = 0;
  /// Memory held now: each operand's as large as the largest so far.
  virtual std::int64_t held_bytes() const = 0;
  /// Allocates, fills and packs; runs the product once unless that is long.
  virtual void prepare(const GemmWork& work) = 0;
  /// Nanoseconds of one product, by repeated windows.
  virtual double time_ns() = 0;
  virtual float element(std::int64_t row, std::int64_t col) const = 0;
  virtual void put(std::int64_t row, std::int64_t col, float value) = 0;
  /// Threads of the last time_ns(): where they had to be and were seen, and their clocks.
  virtual const std::vector<Seat>& seats() const = 0;
  virtual std::string note() const = 0;
};

/// A product this long is not run before it is timed: it settles the clocks within itself.
bool worth_warming(const GemmWork& work);

/// BF16 through oneDNN, B in the layout its kernel asks for, on one pinned thread of OpenMP a CPU.
std::unique_ptr<GemmProduct> make_onednn_product(const Machine& machine);
/// "2.6.3"
std::string onednn_version();

/// FP32 through Eigen on the same values, a part of C on each CPU: a second, independent kernel.
std::unique_ptr<GemmProduct> make_eigen_product(const Machine& machine);

/// Rows 0 ... rows - 1 of one operand, filled on every CPU at once.
template <class Element>
void fill_operand(const Machine& machine, std::uint64_t seed, GemmOperand operand, Element* out,
                  std::int64_t rows, std::int64_t cols);

}  // namespace sonde::host
