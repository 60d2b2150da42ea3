#include <cmath>

#include "core/error.h"
#include "core/parse.h"
#include "device/host/gemm_product.h"
#include "device/host/pin.h"
#include "device/host/register_loops.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

class RegisterProduct final : public GemmProduct {
 public:
  explicit RegisterProduct(bool vector_only) : vector_only_(vector_only) {}

  double needed_bytes(const GemmTask& task) override {
    if (register_loop(task.work.dtype, vector_only_) == nullptr) {
      throw Skip("no register loop for " + task.work.dtype + " on this processor" +
                 (vector_only_ ? " without its matrix units" : ""));
    }
    return 0;
  }
  std::int64_t held_bytes() const override { return 0; }

  void prepare(const GemmTask& task) override {
    loop_ = register_loop(task.work.dtype, vector_only_);
    task_ = task;
    const double each = static_cast<double>(loop_->flop_per_step * threads());
    steps_ = static_cast<std::int64_t>(std::ceil(task.work.flop() / each));
    // Before the run: what it does not write is seen.
    sums_.assign(task.cpus.size(), std::vector<float>(loop_->sums, std::nanf("")));
  }

  double time_ns() override {
    seats_.assign(task_.cpus.size(), {});
    TeamWindow window(task_.cpus.size());
    double elapsed_ns = 0;
    on_each_cpu(task_.cpus, [&](std::size_t index) noexcept {
      seats_[index] = Seat{task_.cpus[index], current_cpu(), {}};
      const double each_ns = time_of_one_ns([&](std::int64_t count) {
        return window.time_ns(index, [&] {
          for (std::int64_t left = count; left > 0; --left) {
            loop_->run(steps_, sums_[index].data());
          }
        });
      });
      if (index == 0) elapsed_ns = each_ns;
      seats_[index].after = current_cpu();
      seats_[index].clock = measure_core_clock();
    });
    return elapsed_ns;
  }

  int results() const override { return 0; }
  float element(int, std::int64_t, std::int64_t) const override { return std::nanf(""); }
  void put(std::int64_t row, std::int64_t, float value) override {
    sums_[static_cast<std::size_t>(row)][0] = value;  // `row`: a thread
  }

  std::optional<std::string> problem() const override {
    const std::int64_t steps = steps_of_last_block(steps_);
    const std::vector<double> expected = loop_->expected(steps);
    // Each step rounds a sum by 2^-25 of it at most, all alike: 1,024 steps by 3e-5.
    constexpr double kTolerance = 1e-4;
    for (const std::vector<float>& sums : sums_) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto found = static_cast<double>(sums[i]);
        // A sum of a few terms near 0 is rounded as its terms are.
        const double most = kTolerance * (std::abs(expected[i]) + static_cast<double>(steps));
        if (std::abs(found - expected[i]) <= most) continue;
        return "sum " + std::to_string(i) + " is " +
               (std::isfinite(found) ? format_number(found) : "not finite") + ", expected " +
               format_number(expected[i]);
      }
    }
    return std::nullopt;
  }

  const std::vector<Seat>& seats() const override { return seats_; }
  std::string note() const override {
    return std::string(loop_->instructions) + ", registers only, " +
           std::to_string(task_.cpus.size()) + (task_.cpus.size() == 1 ? " thread" : " threads");
  }

 private:
  std::int64_t threads() const { return static_cast<std::int64_t>(task_.cpus.size()); }

  const bool vector_only_;
  const RegisterLoop* loop_ = nullptr;
  GemmTask task_;
  std::int64_t steps_ = 0;  ///< of each thread
  std::vector<std::vector<float>> sums_;
  std::vector<Seat> seats_;
};

}  // namespace

std::unique_ptr<GemmProduct> make_register_product(bool vector_only) {
  return std::make_unique<RegisterProduct>(vector_only);
}

}  // namespace sonde::host
