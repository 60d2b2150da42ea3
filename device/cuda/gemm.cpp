#include "device/cuda/gemm.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/error.h"
#include "core/parse.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// Timed part of a sample, without the power budget's first milliseconds: a lone product runs at
/// the highest clock, a stream of them at what 700 W allow.
constexpr double kWindowSeconds = 4e-3;
/// A shape runs this long before its first window: after a shape of little power the clock falls
/// for up to 0.1 s, which 1,055 shapes in 100 s do not leave.
constexpr double kPreheatSeconds = 30e-3;
/// One replay: long against the 2 us between two of them.
constexpr double kGraphSeconds = 1e-3;
constexpr std::int64_t kMostRecorded = 512;
/// A walk over twice the L2 leaves nothing of a set in it.
constexpr std::int64_t kCachesBeyond = 2;
constexpr std::int64_t kUnit = 4096;  // of the operands' addresses
/// Before anything was timed: what a fast card does.
constexpr double kGuessFlopPerSecond = 700e12;
constexpr double kGuessBytesPerSecond = 4e12;
constexpr double kGuessLaunchSeconds = 2e-6;

std::string shape_of(const GemmWork& work) {
  return std::to_string(work.m) + "x" + std::to_string(work.n) + "x" + std::to_string(work.k);
}

std::int64_t whole_units(std::int64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

bool same(const GemmWork& a, const GemmWork& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.dtype == b.dtype && a.kernel == b.kernel &&
         a.warm == b.warm && a.seed == b.seed;
}

}  // namespace

void GemmEngine::prepare(const GemmWork& work) {
  if (!built_ || !same(*built_, work)) {
    built_.reset();
    build(work);
    built_ = work;
  }
  // One set after the other is checked; an element left out of the timed products is noticed.
  checked_set_ = (checked_set_ + 1) % sets_.size();
  sample_result(true);
}

void GemmEngine::build(const GemmWork& work) {
  format_ = gemm_format(work.dtype);
  const auto& offer = description_.gemm;
  if (format_ == nullptr ||
      std::find(offer.dtypes.begin(), offer.dtypes.end(), work.dtype) == offer.dtypes.end()) {
    throw Skip("no " + work.dtype + " product here; there is " + join_names(offer.dtypes));
  }
  if (std::find(offer.kernels.begin(), offer.kernels.end(), work.kernel) == offer.kernels.end()) {
    throw Skip("no kernel " + work.kernel + " here; there is " + join_names(offer.kernels));
  }
  if (work.blocks || !work.cores.empty()) throw Skip("cuBLASLt chooses the cores of a GEMM itself");
  if (work.m < 1 || work.n < 1 || work.k < 1) {
    throw Skip("a product of " + shape_of(work) + ": each size must be at least 1");
  }
  if (!handle_) handle_.emplace();
  lay_out(work);
  fill(work);
  graph_.reset();
  product_.reset();
  product_ = std::make_unique<Product>(*handle_, work, *format_);
  if (work.kernel == "best") choose_best();

  const double guess =
      std::max(work.flop() / kGuessFlopPerSecond, work.least_bytes() / kGuessBytesPerSecond) +
      kGuessLaunchSeconds;
  const auto sets = static_cast<std::int64_t>(sets_.size());
  const std::int64_t recorded = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(kGraphSeconds / guess)), sets, kMostRecorded);
  product_->start(context_.stream(), sets_[0]);  // loads the code, which a recording may not
  context_.synchronize("a first product");
  graph_ = std::make_unique<ProductGraph>(context_.stream(), *product_, sets_, recorded);
  const double once = time_once(1).value();
  replays_ = std::max<std::int64_t>(1, std::llround(std::ceil(kWindowSeconds / once)));
  // The reference is computed while the card heats up.
  for (double heated = once; heated < kPreheatSeconds; heated += once) {
    graph_->start(context_.stream());
  }
  reference_.emplace(work.m, work.n, work.k, work.seed, work.dtype);
  context_.synchronize("the products before the first window");
}

void GemmEngine::lay_out(const GemmWork& work) {
  const std::int64_t element = format_->operand_bytes;
  const auto bytes = [](std::int64_t rows, std::int64_t cols, std::int64_t each) {
    const double exact = static_cast<double>(rows) * static_cast<double>(cols);
    if (exact > 0x1p46) throw Skip("an operand of " + format_number(exact) + " elements");
    return whole_units(rows * cols * each);
  };
  const std::int64_t a = bytes(work.m, work.k, element), b = bytes(work.n, work.k, element),
                     c = bytes(work.m, work.n, 2);
  const std::int64_t cache = description_.memory[1].capacity_bytes.value_or(64 * kMiB);
  const std::int64_t wanted = kCachesBeyond * cache;
  std::int64_t count =
      std::clamp<std::int64_t>((wanted + a + b + c - 1) / (a + b + c), 2, kMostRecorded);
  if (work.warm || a + b + c >= kCachesBeyond * wanted) count = 1;  // it leaves nothing of itself
  const std::int64_t most = description_.memory_bytes.value_or(kGiB);
  if (a + b + c > (most - kWorkspaceBytes) / count) {
    throw Skip("a product of " + shape_of(work) + " needs " + format_count(count * (a + b + c)) +
               " B: a measurement may use " + format_count(most) + " B");
  }
  // What larger shapes before left must not add up with this one.
  if (inputs_.size() + outputs_.size() + count * (a + b + c) > most) {
    inputs_ = DeviceBuffer();
    outputs_ = DeviceBuffer();
  }
  inputs_.reserve(count * (a + b));
  outputs_.reserve(count * c);
  sets_.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    char* const input = inputs_.as() + i * (a + b);
    sets_.push_back({input, input + a, outputs_.as() + i * c});
  }
}

void GemmEngine::fill(const GemmWork& work) {
  const auto bits = operand_bits(*format_);
  const auto table_bytes = static_cast<std::int64_t>(sizeof bits);
  table_.reserve(table_bytes);
  check(cudaMemcpyAsync(table_.as(), bits.data(), sizeof bits, cudaMemcpyHostToDevice,
                        context_.stream()),
        "sending the operands' values");
  const bool bytes = format_->operand_bytes == 1;
  const auto* const table = table_.as<std::uint16_t>();
  // B is stored as [N, K]: its element (k, n) at n * K + k.
  const GemmFill a{sets_[0].a, work.m, work.k, work.k, false, gemm_key(work.seed, GemmOperand::a),
                   table,      bytes};
  const GemmFill b{sets_[0].b, work.k, work.n, work.k, true, gemm_key(work.seed, GemmOperand::b),
                   table,      bytes};
  check(launch_gemm_fill(context_.stream(), a), "filling A");
  check(launch_gemm_fill(context_.stream(), b), "filling B");
  const auto input_bytes =
      sets_.size() > 1 ? static_cast<std::size_t>(sets_[1].a - sets_[0].a) : std::size_t{0};
  for (std::size_t i = 1; i < sets_.size(); ++i) {
    check(cudaMemcpyAsync(sets_[i].a, sets_[0].a, input_bytes, cudaMemcpyDeviceToDevice,
                          context_.stream()),
          "copying the operands");
  }
  context_.synchronize("filling the operands");
}

Seconds GemmEngine::time_once(std::int64_t count) {
  return context_.time([&] {
    for (std::int64_t i = 0; i < count; ++i) graph_->start(context_.stream());
  });
}

/// Each candidate alone, over all sets, after one product to load its code.
void GemmEngine::choose_best() {
  constexpr std::size_t kProducts = 8;
  std::optional<std::size_t> best;
  double best_time = 0;
  for (std::size_t choice = 0; choice < product_->choices(); ++choice) {
    product_->choose(choice);
    product_->start(context_.stream(), sets_[0]);
    context_.synchronize("a candidate");
    const double taken = context_
                             .time([&] {
                               for (std::size_t i = 0; i < kProducts; ++i) {
                                 product_->start(context_.stream(), sets_[i % sets_.size()]);
                               }
                             })
                             .value();
    if (!best || taken < best_time) {
      best = choice;
      best_time = taken;
    }
  }
  product_->choose(*best);
}

void GemmEngine::sample_result(bool poison) {
  const auto& rows = reference_->rows();
  const auto& cols = reference_->cols();
  indices_.reserve(static_cast<std::int64_t>((rows.size() + cols.size()) * sizeof(std::int64_t)));
  values_.reserve(static_cast<std::int64_t>(rows.size() * cols.size() * sizeof(std::uint16_t)));
  auto* const index = indices_.as<std::int64_t>();
  std::copy(rows.begin(), rows.end(), index);
  std::copy(cols.begin(), cols.end(), index + rows.size());
  check(launch_sample(context_.stream(), reinterpret_cast<std::uint16_t*>(sets_[checked_set_].c),
                      built_->n, index, static_cast<int>(rows.size()), index + rows.size(),
                      static_cast<int>(cols.size()), values_.as<std::uint16_t>(), poison),
        "sampling the result");
  context_.synchronize("sampling the result");
}

/// Operands of the set that is checked which are not finite.
std::int64_t GemmEngine::not_finite() {
  const OperandSet& set = sets_[checked_set_ % sets_.size()];
  count_.reserve(sizeof(unsigned long long));
  unsigned long long count = 0;
  check(cudaMemsetAsync(count_.as(), 0, sizeof count, context_.stream()), "clearing a count");
  const std::int64_t element = format_->operand_bytes;
  for (const auto& [operand, rows] : {std::pair{set.a, built_->m}, std::pair{set.b, built_->n}}) {
    check(launch_count_not_finite(context_.stream(), operand, rows * built_->k, format_->not_finite,
                                  element == 1, count_.as<unsigned long long>()),
          "checking the operands");
  }
  check(
      cudaMemcpyAsync(&count, count_.as(), sizeof count, cudaMemcpyDeviceToHost, context_.stream()),
      "reading a count");
  context_.synchronize("checking the operands");
  return static_cast<std::int64_t>(count);
}

Sample GemmEngine::run(const Trial&) {
  if (!built_) throw PointFailure("run() without a prepare() that succeeded");
  const std::int64_t products = replays_ * graph_->count();
  const double window = kWindowSeconds;
  const Seconds taken = context_.time(
      [&] {
        for (std::int64_t i = 0; i < replays_; ++i) graph_->start(context_.stream());
      },
      nullptr,
      [&] {
        std::this_thread::sleep_for(std::chrono::duration<double>(window / 2));
        monitor_.refresh();
      });
  Sample sample;
  sample.elapsed = taken / static_cast<double>(products);
  sample.clock = monitor_.state().sm_clock;
  sample.note = product_->note() + ", " + std::to_string(products) + " products in " +
                format_number(std::round(taken.value() * 1e5) / 100) + " ms, " +
                std::to_string(sets_.size()) + " sets of operands";
  if (const auto reasons = monitor_.state().throttle_reasons) {
    sample.note += ", held back by: " + describe_throttle(*reasons);
  }
  return sample;
}

Check GemmEngine::verify() {
  if (!built_) return {false, "nothing was multiplied"};
  sample_result(false);
  const auto& rows = reference_->rows();
  const auto& cols = reference_->cols();
  const auto* const values = values_.as<std::uint16_t>();
  const auto place = [](const std::vector<std::int64_t>& all, std::int64_t one) {
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), one) - all.begin());
  };
  const auto wrong = reference_->first_wrong([&](std::int64_t row, std::int64_t col) {
    return result_value(*format_, values[place(rows, row) * cols.size() + place(cols, col)]);
  });
  if (wrong) return {false, *wrong};
  const std::int64_t count = not_finite();
  if (count != 0) return {false, format_count(count) + " operands are not finite"};
  return {};
}

}  // namespace sonde::cuda
