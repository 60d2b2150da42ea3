#include "device/host/gemm_product.h"

#include <algorithm>

#include "core/parse.h"
#include "device/host/team.h"

namespace sonde::host {
namespace {

/// About 0.1 s on two cores with BF16 dot products, 5 ms with matrix units.
constexpr double kLongFlop = 2e10;
/// Fewer elements than this a thread are filled in less time than the thread takes to start.
constexpr std::int64_t kLeastElements = 100'000;

}  // namespace

bool worth_warming(const GemmWork& work) { return work.flop() <= kLongFlop; }

std::string content_name(const GemmWork& work, GemmOperand operand) {
  const bool a = operand == GemmOperand::a;
  return work.dtype + " " + std::to_string(a ? work.m : work.k) + "x" +
         std::to_string(a ? work.k : work.n) + " seed " + std::to_string(work.seed);
}

std::string operands_note(const GemmTask& task, std::int64_t sets) {
  std::string text = ", " + std::to_string(task.cpus.size()) +
                     (task.cpus.size() == 1 ? " thread, " : " threads, ");
  if (!task.work.warm) {
    return text + "rotated over " + format_count(sets) +
           (sets == 1 ? " set of operands" : " sets of operands");
  }
  return text + (worth_warming(task.work) ? "warm operands" : "not warmed");
}

template <class Element>
void fill_operand(const Machine& machine, std::uint64_t seed, GemmOperand operand, Element* out,
                  std::int64_t rows, std::int64_t cols) {
  auto fill_rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      fill_gemm_row(seed, operand, row,
                    std::span<Element>(out + row * cols, static_cast<std::size_t>(cols)));
    }
  };
  const auto threads = static_cast<std::int64_t>(machine.cpus.size());
  if (rows * cols < kLeastElements * threads) return fill_rows(0, rows);
  on_each_cpu(machine.cpus, [&](std::size_t index) {
    const auto i = static_cast<std::int64_t>(index);
    fill_rows(rows * i / threads, rows * (i + 1) / threads);
  });
}

template void fill_operand(const Machine&, std::uint64_t, GemmOperand, std::uint16_t*, std::int64_t,
                           std::int64_t);
template void fill_operand(const Machine&, std::uint64_t, GemmOperand, float*, std::int64_t,
                           std::int64_t);

}  // namespace sonde::host
