#include "core/error.h"
#include "device/host/gemm_eigen_block.h"
#include "device/host/gemm_product.h"
#include "device/host/operand_sets.h"
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

  double needed_bytes(const GemmTask& task) override {
    const GemmWork& work = task.work;
    if (work.dtype != "fp32") {
      throw Skip("Eigen: no " + work.dtype + " product here, only fp32");
    }
    const double set = work.least_bytes();
    return set * (work.warm ? 1.0 : static_cast<double>(sets_beyond_caches(machine_, set)));
  }

  void prepare(const GemmTask& task) override {
    const GemmWork& work = task.work;
    const std::int64_t m = work.m, n = work.n, k = work.k;
    const std::int64_t sets = work.warm ? 1 : sets_beyond_caches(machine_, work.least_bytes());
    const std::string a = content_name(work, GemmOperand::a);
    const std::string b = content_name(work, GemmOperand::b);
    if (a_.make(machine_, a, kElement * m * k, sets)) {
      fill_operand(machine_, work.seed, GemmOperand::a, floats(a_, 0), m, k);
    }
    if (b_.make(machine_, b, kElement * k * n, sets)) {
      fill_operand(machine_, work.seed, GemmOperand::b, floats(b_, 0), k, n);
    }
    a_.spread(machine_);
    b_.spread(machine_);
    c_.make(machine_, "", kElement * m * n, sets);
    if (rotation_.count() != sets) rotation_ = Rotation(sets);
    task_ = task;
    first_ = last_ = rotation_.place();
    if (work.warm && worth_warming(work)) {
      on_each_cpu(task_.cpus, [this](std::size_t index) { multiply(index, 0); });
    }
  }

  double time_ns() override {
    const std::vector<int>& cpus = task_.cpus;
    seats_.assign(cpus.size(), {});
    TeamWindow window(cpus.size());
    double elapsed_ns = 0;
    on_each_cpu(cpus, [&](std::size_t index) noexcept {
      seats_[index] = Seat{cpus[index], current_cpu(), {}};
      Rotation turn = rotation_;  // each thread counts for itself and all count alike
      std::int64_t last = first_;
      const double each_ns = time_of_one_ns([&](std::int64_t count) {
        return window.time_ns(index, [&] {
          for (std::int64_t left = count; left > 0; --left) {
            last = turn.place();
            multiply(index, last);
            turn.advance();
          }
        });
      });
      if (index == 0) {
        elapsed_ns = each_ns;
        last_ = last;
        next_ = turn;
      }
      seats_[index].after = current_cpu();
      seats_[index].clock = measure_core_clock();
    });
    rotation_ = next_;
    return elapsed_ns;
  }

  std::int64_t held_bytes() const override {
    return a_.held_bytes() + b_.held_bytes() + c_.held_bytes();
  }

  float element(int result, std::int64_t row, std::int64_t col) const override {
    return floats(c_, result == 0 ? first_ : last_)[row * task_.work.n + col];
  }
  void put(std::int64_t row, std::int64_t col, float value) override {
    floats(c_, first_)[row * task_.work.n + col] = value;
  }
  const std::vector<Seat>& seats() const override { return seats_; }
  std::string note() const override {
    return "Eigen, plain B, " + std::string(kernel_.instructions) +
           operands_note(task_, rotation_.count());
  }

 private:
  static float* floats(const OperandSets& sets, std::int64_t set) {
    return reinterpret_cast<float*>(sets.at(set));
  }

  /// This thread's part of C: a range of its rows or, where there are more, of its columns.
  void multiply(std::size_t index, std::int64_t set) {
    const GemmWork& work = task_.work;
    const auto parts = static_cast<std::int64_t>(task_.cpus.size());
    const auto part = static_cast<std::int64_t>(index);
    const bool by_rows = work.m >= work.n;
    const std::int64_t size = by_rows ? work.m : work.n;
    const std::int64_t begin = size * part / parts;
    const std::int64_t count = size * (part + 1) / parts - begin;
    if (count == 0) return;
    EigenBlock block;
    block.a = floats(a_, set) + (by_rows ? begin * work.k : 0);
    block.b = floats(b_, set) + (by_rows ? 0 : begin);
    block.c = floats(c_, set) + (by_rows ? begin * work.n : begin);
    block.rows = by_rows ? count : work.m;
    block.cols = by_rows ? work.n : count;
    block.inner = work.k;
    block.b_stride = block.c_stride = work.n;
    kernel_.multiply(block);
  }

  const Machine& machine_;
  const Kernel kernel_ = best_kernel();
  OperandSets a_, b_, c_;
  GemmTask task_;
  Rotation rotation_, next_;
  std::int64_t first_ = 0, last_ = 0;  ///< sets of the last time_ns()
  std::vector<Seat> seats_;
};

}  // namespace

void eigen_multiply(const EigenBlock& block) { eigen_multiply_here(block); }

std::unique_ptr<GemmProduct> make_eigen_product(const Machine& machine) {
  return std::make_unique<EigenProduct>(machine);
}

}  // namespace sonde::host
