#include "device/host/gemm.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/parse.h"
#include "core/statistics.h"
#include "device/host/register_loops.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

constexpr const char* kOneDnn = "onednn";
constexpr const char* kOneDnnPlain = "onednn_plain";
constexpr const char* kEigen = "eigen";
constexpr const char* kRegister = "register";
constexpr const char* kRegisterVector = "register_vector";

std::string shape_of(const GemmWork& work) {
  return std::to_string(work.m) + "x" + std::to_string(work.n) + "x" + std::to_string(work.k);
}

bool same_operands(const GemmWork& a, const GemmWork& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.dtype == b.dtype && a.seed == b.seed;
}

}  // namespace

GemmOffer gemm_offer() {
  GemmOffer offer{{"bf16", "fp32"}, {"auto", kOneDnn, kOneDnnPlain, kEigen}};
  const RegisterLoop* const widest = register_loop("bf16", false);
  if (widest != nullptr || register_loop("fp32", false) != nullptr) {
    offer.kernels.emplace_back(kRegister);
  }
  // Where the matrix units are quicker than the vector units, both are worth knowing.
  if (widest != register_loop("bf16", true)) offer.kernels.emplace_back(kRegisterVector);
  return offer;
}

GemmProduct& GemmEngine::product_for(const std::string& kernel) {
  // One at a time: operands of two kernels might not fit.
  if (!products_.contains(kernel)) {
    products_.clear();
    products_[kernel] = kernel == kRegister         ? make_register_product(false)
                        : kernel == kRegisterVector ? make_register_product(true)
                        : kernel == kEigen          ? make_eigen_product(machine_)
                        : kernel == kOneDnnPlain    ? make_onednn_product(machine_, false)
                                                    : make_onednn_product(machine_, true);
  }
  return *products_.at(kernel);
}

std::string GemmEngine::kernel_of(const GemmTask& task) {
  if (task.work.kernel != "auto") return task.work.kernel;
  // The quickest that runs: `make bench` compares them (docs/bench.md).
  try {
    product_for(kOneDnn).needed_bytes(task);
    return kOneDnn;
  } catch (const Skip&) {
    if (task.work.dtype != "fp32") throw;
  }
  return kEigen;
}

GemmTask GemmEngine::task_of(const GemmWork& work) const {
  const std::vector<std::string> kernels = gemm_offer().kernels;
  if (std::find(kernels.begin(), kernels.end(), work.kernel) == kernels.end()) {
    throw Skip("no kernel " + work.kernel + " here; there is " + join_names(kernels));
  }
  if (work.m < 1 || work.n < 1 || work.k < 1) {
    throw Skip("a product of " + shape_of(work) + ": each size must be at least 1");
  }
  GemmTask task{work, machine_.cpus};
  if (!work.cores.empty()) task.cpus = usable_cpus(machine_, work.cores);
  if (work.blocks) {
    const auto most = static_cast<std::int64_t>(task.cpus.size());
    if (*work.blocks < 1 || *work.blocks > most) {
      throw Skip("a product on " + format_count(*work.blocks) + " cores: 1 to " +
                 format_count(most) + " are possible");
    }
    task.cpus.resize(static_cast<std::size_t>(*work.blocks));
  }
  return task;
}

void GemmEngine::make_room(const GemmTask& task) {
  const GemmWork& work = task.work;
  const double needed = product_for(kernel_).needed_bytes(task);
  const std::int64_t most = description_.memory_bytes.value_or(std::int64_t{1} << 46);
  if (!(needed <= static_cast<double>(most))) {
    throw Skip("a product of " + shape_of(work) + " needs " + format_number(needed) + " B" +
               (work.warm ? "" : " with rotated operands") + ": a measurement may use " +
               format_count(most) + " B");
  }
  // What larger shapes before left must not add up with this one.
  if (needed + static_cast<double>(product_for(kernel_).held_bytes()) > static_cast<double>(most)) {
    products_.clear();
  }
}

void GemmEngine::prepare(const GemmWork& work) {
  const bool again = product_ != nullptr && work == work_;
  product_ = nullptr;
  const GemmTask task = task_of(work);
  if (!again) {
    kernel_ = kernel_of(task);
    make_room(task);
  }
  GemmProduct& product = product_for(kernel_);
  product.prepare(task);
  work_ = work;
  product_ = &product;
  if (product.results() == 0) return;
  if (!reference_ || !same_operands(reference_of_, work)) {
    reference_.emplace(work.m, work.n, work.k, work.seed, work.dtype);
    reference_of_ = work;
  }
  // An element left out of the timed product is noticed.
  for (std::int64_t row : reference_->rows()) {
    for (std::int64_t col : reference_->cols()) {
      product.put(row, col, std::numeric_limits<float>::quiet_NaN());
    }
  }
}

Sample GemmEngine::run(const Trial&) {
  if (product_ == nullptr) throw PointFailure("run() without a prepare() that succeeded");
  const double elapsed_ns = product_->time_ns();
  require_time(elapsed_ns, "the product");
  Sample sample;
  sample.elapsed = Seconds(elapsed_ns * 1e-9);
  std::vector<double> clocks;
  for (const Seat& seat : product_->seats()) {
    sample.placement.push_back(seat.core());
    if (seat.clock) clocks.push_back(seat.clock->value());
  }
  if (const auto middle = median(clocks)) sample.clock = Hertz(*middle);
  sample.note = product_->note();
  return sample;
}

Check GemmEngine::verify() {
  if (product_ == nullptr) return {false, "nothing was multiplied"};
  for (const Seat& seat : product_->seats()) {
    if (const auto problem = seat.misplaced("a thread of the product")) return {false, *problem};
  }
  if (const auto problem = product_->problem()) return {false, *problem};
  for (int result = 0; result < product_->results(); ++result) {
    const auto wrong = reference_->first_wrong([&](std::int64_t row, std::int64_t col) {
      return static_cast<double>(product_->element(result, row, col));
    });
    if (wrong) return {false, *wrong};
  }
  return {};
}

}  // namespace sonde::host
