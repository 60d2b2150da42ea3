#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/common/gemm_reference.h"
#include "device/device.h"
#include "device/host/cores.h"
#include "device/host/machine.h"

namespace sonde::host {

/// What a product is asked for: the work, on these CPUs, one thread each.
struct GemmTask {
  GemmWork work;
  std::vector<int> cpus;
};

/// One way to form C = A x B, with its own memory for the three. C never shares memory with A or
/// B. Rotated operands are several equal sets of the three, used in turn.
class GemmProduct {
 public:
  virtual ~GemmProduct() = default;
  /// Memory that prepare() will hold, packed and rotated operands included. Throws Skip for what
  /// this way cannot multiply.
  virtual double needed_bytes(const GemmTask& task) = 0;
  /// Memory held now: each operand's as large as the largest so far.
  virtual std::int64_t held_bytes() const = 0;
  /// Allocates, fills and packs what it does not hold already; with warm operands runs the product
  /// once unless that is long.
  virtual void prepare(const GemmTask& task) = 0;
  /// Nanoseconds of one product, by repeated windows.
  virtual double time_ns() = 0;
  /// Results to check: that of the set that the first time_ns() since prepare() began with, and of
  /// the set used last. None of a loop that keeps everything in registers.
  virtual int results() const { return 2; }
  virtual float element(int result, std::int64_t row, std::int64_t col) const = 0;
  /// Writes into the first of them.
  virtual void put(std::int64_t row, std::int64_t col, float value) = 0;
  /// What a way without results found wrong itself.
  virtual std::optional<std::string> problem() const { return std::nullopt; }
  /// Threads of the last time_ns(): where they had to be and were seen, and their clocks.
  virtual const std::vector<Seat>& seats() const = 0;
  virtual std::string note() const = 0;
};

/// A product this long is not run before it is timed: it settles the clocks within itself.
bool worth_warming(const GemmWork& work);

/// BF16 or FP32 through oneDNN on one pinned thread of OpenMP a CPU. B lies as its kernel asks for
/// (`packed`: reordered before anything is timed) or in plain rows.
std::unique_ptr<GemmProduct> make_onednn_product(const Machine& machine, bool packed);
/// "2.6.3"
std::string onednn_version();

/// FP32 through Eigen, a part of C on each CPU: a second, independent kernel.
std::unique_ptr<GemmProduct> make_eigen_product(const Machine& machine);

/// No product: as many multiply-adds as one, all in registers, in the widest instruction for the
/// type, or in the widest without matrix units. The peak that no product can pass.
std::unique_ptr<GemmProduct> make_register_product(bool vector_only);

/// Rows 0 ... rows - 1 of one operand, filled on every CPU at once.
template <class Element>
void fill_operand(const Machine& machine, std::uint64_t seed, GemmOperand operand, Element* out,
                  std::int64_t rows, std::int64_t cols);

/// Names what fill_operand() writes, for OperandSets.
std::string content_name(const GemmWork& work, GemmOperand operand);

/// ", 2 threads, rotated over 19 sets of operands", the end of a note.
std::string operands_note(const GemmTask& task, std::int64_t sets);

}  // namespace sonde::host
