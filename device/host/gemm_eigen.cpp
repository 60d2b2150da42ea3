#include "device/host/buffer.h"
#include "device/host/gemm_eigen_block.h"
#include "device/host/gemm_product.h"
#include "device/host/pin.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

constexpr std::int64_t kElement = 4;  // bytes of an FP32

struct Kernel {
  void (*multiply)(const EigenBlock&);
  const char* instructions;
};

/// The widest that this processor has.
Kernel best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma")) {
    return {&eigen_multiply_avx512, "AVX-512"};
  }
#endif
  return {&eigen_multiply, "baseline instructions"};
}

class EigenProduct final : public GemmProduct {
 public:
  explicit EigenProduct(const Machine& machine) : machine_(machine) {}

  double needed_bytes(const GemmWork& work) override {
    return 2.0 * work.least_bytes();  // at 4 bytes an element
  }

  void prepare(const GemmWork& work) override {
    auto grow = [this](Buffer& buffer, std::int64_t elements) {
      if (buffer.size() >= kElement * elements) return;
      buffer = Buffer();
      buffer = Buffer(kElement * elements, machine_.huge_page_bytes);
    };
    const bool same_b = work_.n == work.n && work_.k == work.k && work_.seed == work.seed;
    const std::int64_t m = work.m, n = work.n, k = work.k;
    work_ = GemmWork();
    grow(a_, m * k);
    grow(b_, k * n);
    grow(c_, m * n);
    fill_operand(machine_, work.seed, GemmOperand::a, floats(a_), m, k);
    if (!same_b) fill_operand(machine_, work.seed, GemmOperand::b, floats(b_), k, n);
    work_ = work;
    if (worth_warming(work)) {
      on_each_cpu(machine_.cpus, [this](std::size_t index) { multiply(index); });
    }
  }

  double time_ns() override {
    const std::vector<int>& cpus = machine_.cpus;
    seats_.assign(cpus.size(), {});
    TeamWindow window(cpus.size());
    double elapsed_ns = 0;
    on_each_cpu(cpus, [&](std::size_t index) noexcept {
      seats_[index] = Seat{cpus[index], current_cpu(), {}};
      const double each_ns = time_of_one_ns([&](std::int64_t count) {
        return window.time_ns(index, [&] {
          for (std::int64_t left = count; left > 0; --left) multiply(index);
        });
      });
      if (index == 0) elapsed_ns = each_ns;
      seats_[index].after = current_cpu();
      seats_[index].clock = measure_core_clock();
    });
    return elapsed_ns;
  }

  std::int64_t held_bytes() const override { return a_.size() + b_.size() + c_.size(); }

  float element(std::int64_t row, std::int64_t col) const override {
    return floats(c_)[row * work_.n + col];
  }
  void put(std::int64_t row, std::int64_t col, float value) override {
    floats(c_)[row * work_.n + col] = value;
  }
  const std::vector<Seat>& seats() const override { return seats_; }
  std::string note() const override {
    return "Eigen FP32, plain B, " + std::string(kernel_.instructions) + ", " +
           std::to_string(machine_.cpus.size()) + " threads, " +
           (worth_warming(work_) ? "warm operands" : "not warmed");
  }

 private:
  static float* floats(const Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

  /// This thread's part of C: a range of its rows or, where there are more, of its columns.
  void multiply(std::size_t index) {
    const auto parts = static_cast<std::int64_t>(machine_.cpus.size());
    const auto part = static_cast<std::int64_t>(index);
    const bool by_rows = work_.m >= work_.n;
    const std::int64_t size = by_rows ? work_.m : work_.n;
    const std::int64_t begin = size * part / parts;
    const std::int64_t count = size * (part + 1) / parts - begin;
    if (count == 0) return;
    EigenBlock block;
    block.a = floats(a_) + (by_rows ? begin * work_.k : 0);
    block.b = floats(b_) + (by_rows ? 0 : begin);
    block.c = floats(c_) + (by_rows ? begin * work_.n : begin);
    block.rows = by_rows ? count : work_.m;
    block.cols = by_rows ? work_.n : count;
    block.inner = work_.k;
    block.b_stride = block.c_stride = work_.n;
    kernel_.multiply(block);
  }

  const Machine& machine_;
  const Kernel kernel_ = best_kernel();
  Buffer a_, b_, c_;
  GemmWork work_;
  std::vector<Seat> seats_;
};

}  // namespace

void eigen_multiply(const EigenBlock& block) { eigen_multiply_here(block); }

std::unique_ptr<GemmProduct> make_eigen_product(const Machine& machine) {
  return std::make_unique<EigenProduct>(machine);
}

}  // namespace sonde::host
