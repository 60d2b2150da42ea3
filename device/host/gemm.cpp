#include "device/host/gemm.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/parse.h"
#include "core/statistics.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

constexpr const char* kOneDnn = "onednn";
constexpr const char* kEigen = "eigen";

std::string shape_of(const GemmWork& work) {
  return std::to_string(work.m) + "x" + std::to_string(work.n) + "x" + std::to_string(work.k);
}

}  // namespace

GemmOffer gemm_offer() { return {{"bf16"}, {"auto", kOneDnn, kEigen}}; }

GemmProduct& GemmEngine::product_for(const std::string& kernel) {
  const std::string name = kernel == "auto" ? kOneDnn : kernel;
  // One at a time: operands of two kernels might not fit.
  if (!products_.contains(name)) {
    products_.clear();
    products_[name] = name == kEigen ? make_eigen_product(machine_) : make_onednn_product(machine_);
  }
  return *products_.at(name);
}

void GemmEngine::prepare(const GemmWork& work) {
  product_ = nullptr;
  const GemmOffer offer = gemm_offer();
  if (std::find(offer.dtypes.begin(), offer.dtypes.end(), work.dtype) == offer.dtypes.end()) {
    throw Skip("no " + work.dtype + " product here; there is " + join_names(offer.dtypes));
  }
  if (std::find(offer.kernels.begin(), offer.kernels.end(), work.kernel) == offer.kernels.end()) {
    throw Skip("no kernel " + work.kernel + " here; there is " + join_names(offer.kernels));
  }
  if (work.m < 1 || work.n < 1 || work.k < 1) {
    throw Skip("a product of " + shape_of(work) + ": each size must be at least 1");
  }
  const double needed = product_for(work.kernel).needed_bytes(work);
  const std::int64_t most = description_.memory_bytes.value_or(std::int64_t{1} << 46);
  if (!(needed <= static_cast<double>(most))) {
    throw Skip("a product of " + shape_of(work) + " needs " + format_number(needed) +
               " B: a measurement may use " + format_count(most) + " B");
  }
  // What larger shapes before left must not add up with this one.
  if (needed + static_cast<double>(product_for(work.kernel).held_bytes()) >
      static_cast<double>(most)) {
    products_.clear();
  }
  GemmProduct& product = product_for(work.kernel);
  product.prepare(work);
  if (!reference_ || reference_of_.m != work.m || reference_of_.n != work.n ||
      reference_of_.k != work.k || reference_of_.seed != work.seed) {
    reference_.emplace(work.m, work.n, work.k, work.seed);
    reference_of_ = work;
  }
  // An element left out of the timed product is noticed.
  for (std::int64_t row : reference_->rows()) {
    for (std::int64_t col : reference_->cols()) {
      product.put(row, col, std::numeric_limits<float>::quiet_NaN());
    }
  }
  work_ = work;
  product_ = &product;
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
  const auto wrong = reference_->first_wrong([this](std::int64_t row, std::int64_t col) {
    return static_cast<double>(product_->element(row, col));
  });
  if (wrong) return {false, *wrong};
  return {};
}

}  // namespace sonde::host
