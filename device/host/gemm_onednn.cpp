#include <dnnl.hpp>
#include <optional>

#include "core/error.h"
#include "device/common/gemm_reference.h"
#include "device/host/clock.h"
#include "device/host/gemm_product.h"
#include "device/host/openmp_team.h"
#include "device/host/operand_sets.h"
#include "device/host/wait_watch.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

using dnnl::memory;

/// What the library cannot do skips the point; what else it reports as an exception fails it.
template <class Call>
auto guarded(const Call& call) {
  try {
    return call();
  } catch (const dnnl::error& error) {
    throw PointFailure(std::string("oneDNN: ") + error.what());
  }
}

memory::data_type type_of(const GemmWork& work) {
  if (work.dtype == "fp32") return memory::data_type::f32;
  if (work.dtype == "fp16") return memory::data_type::f16;
  if (work.dtype == "bf16") return memory::data_type::bf16;
  throw Skip("oneDNN " + onednn_version() + ": no " + work.dtype + " product here");
}

std::int64_t element_bytes(const GemmWork& work) { return work.dtype == "fp32" ? 4 : 2; }

memory::desc plain(const GemmWork& work, std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, type_of(work), memory::format_tag::ab};
}

class OneDnnProduct final : public GemmProduct {
 public:
  OneDnnProduct(const Machine& machine, bool packed) : machine_(machine), packed_wanted_(packed) {}

  double needed_bytes(const GemmTask& task) override {
    const GemmWork& work = task.work;
    type_of(work);
    // Beyond any memory the library need not be asked; below, its layout of B may pad a thin one to
    // many times its size.
    constexpr double kBeyondAnyMemory = 0x1p46;
    const double plain_bytes = work.least_bytes();
    if (plain_bytes > kBeyondAnyMemory) return plain_bytes;
    return guarded([&] {
      const OpenMpTeam team(task.cpus);  // the choice of kernel counts threads
      const auto layout = kernel_for(work).weights_desc();
      const double set = set_bytes(work, layout);
      const auto plain_b =
          static_cast<double>(element_bytes(work) * work.k) * static_cast<double>(work.n);
      return set * static_cast<double>(sets_for(work, layout)) + plain_b;
    });
  }

  std::int64_t held_bytes() const override {
    return a_.held_bytes() + b_.held_bytes() + packed_b_.held_bytes() + c_.held_bytes();
  }

  void prepare(const GemmTask& task) override {
    guarded([&] { set_up(task); });
  }

  double time_ns() override {
    return guarded([&] {
      OpenMpTeam team(task_.cpus);
      const double each_ns = time_of_one_ns([this](std::int64_t count) {
        const WaitWatch watch;  // of the first thread; the others wait for it or it for them
        const std::int64_t begin = monotonic_ns();
        for (std::int64_t left = count; left > 0; --left) {
          last_ = rotation_.place();
          product_.execute(stream_, arguments_[static_cast<std::size_t>(last_)]);
          rotation_.advance();
        }
        stream_.wait();
        return monotonic_ns() - begin;
      });
      seats_ = team.seats();
      return each_ns;
    });
  }

  float element(int result, std::int64_t row, std::int64_t col) const override {
    const std::byte* c = c_.at(result == 0 ? first_ : last_);
    const std::int64_t at = row * task_.work.n + col;
    return element_bytes(task_.work) == 4
               ? reinterpret_cast<const float*>(c)[at]
               : from_bf16(reinterpret_cast<const std::uint16_t*>(c)[at]);
  }
  void put(std::int64_t row, std::int64_t col, float value) override {
    std::byte* c = c_.at(first_);
    const std::int64_t at = row * task_.work.n + col;
    if (element_bytes(task_.work) == 4) {
      reinterpret_cast<float*>(c)[at] = value;
    } else {
      reinterpret_cast<std::uint16_t*>(c)[at] = to_bf16(value);
    }
  }
  const std::vector<Seat>& seats() const override { return seats_; }

  std::string note() const override {
    return "oneDNN " + onednn_version() + " " + implementation_ +
           (packed_ ? ", B packed beforehand" : ", plain B") +
           operands_note(task_, rotation_.count());
  }

 private:
  dnnl::matmul::primitive_desc kernel_for(const GemmWork& work) const {
    const memory::desc b =
        packed_wanted_ ? memory::desc{{work.k, work.n}, type_of(work), memory::format_tag::any}
                       : plain(work, work.k, work.n);
    const dnnl::matmul::desc wanted(plain(work, work.m, work.k), b, plain(work, work.m, work.n));
    try {
      return {wanted, engine_};
    } catch (const dnnl::error& error) {
      if (error.status != dnnl_unimplemented) throw;
      throw Skip("oneDNN " + onednn_version() + " has no " + work.dtype +
                 " product for this processor");
    }
  }

  static double set_bytes(const GemmWork& work, const memory::desc& layout) {
    const auto m = static_cast<double>(work.m), n = static_cast<double>(work.n),
               k = static_cast<double>(work.k);
    return static_cast<double>(element_bytes(work)) * (m * k + m * n) +
           static_cast<double>(layout.get_size());
  }

  std::int64_t sets_for(const GemmWork& work, const memory::desc& layout) const {
    return work.warm ? 1 : sets_beyond_caches(machine_, set_bytes(work, layout));
  }

  void fill(const GemmWork& work, GemmOperand operand, std::byte* out) const {
    const bool a = operand == GemmOperand::a;
    const std::int64_t rows = a ? work.m : work.k, cols = a ? work.k : work.n;
    if (element_bytes(work) == 4) {
      fill_operand(machine_, work.seed, operand, reinterpret_cast<float*>(out), rows, cols);
    } else {
      fill_operand(machine_, work.seed, operand, reinterpret_cast<std::uint16_t*>(out), rows, cols);
    }
  }

  /// B in the layout that the kernel asks for, in every set.
  void set_up_b(const GemmWork& work, const memory::desc& layout, std::int64_t sets) {
    const std::string content = content_name(work, GemmOperand::b);
    const std::int64_t bytes = element_bytes(work) * work.k * work.n;
    const memory::desc plain_layout = plain(work, work.k, work.n);
    packed_ = layout != plain_layout;
    if (!packed_) {
      if (b_.make(machine_, content, bytes, sets)) fill(work, GemmOperand::b, b_.at(0));
      return b_.spread(machine_);
    }
    if (packed_as_ && *packed_as_ != layout) packed_b_.clear();
    if (packed_b_.make(machine_, content, static_cast<std::int64_t>(layout.get_size()), sets)) {
      packed_as_.reset();
      if (b_.make(machine_, content, bytes, 1)) fill(work, GemmOperand::b, b_.at(0));
      b_.spread(machine_);
      memory from(plain_layout, engine_, b_.at(0));
      memory to(layout, engine_, packed_b_.at(0));
      dnnl::reorder(from, to).execute(stream_, from, to);
      stream_.wait();
      packed_as_ = layout;
    }
    packed_b_.spread(machine_);
  }

  void set_up(const GemmTask& task) {
    const GemmWork& work = task.work;
    const OpenMpTeam team(task.cpus);  // also for the choice of kernel, which counts threads
    const bool same = ready_ && same_task(task);
    if (!same) {
      ready_ = false;
      const dnnl::matmul::primitive_desc chosen = kernel_for(work);
      const memory::desc layout = chosen.weights_desc();
      const std::int64_t sets = sets_for(work, layout);
      implementation_ = chosen.impl_info_str();
      set_up_b(work, layout, sets);
      const std::int64_t element = element_bytes(work);
      const std::string a = content_name(work, GemmOperand::a);
      if (a_.make(machine_, a, element * work.m * work.k, sets))
        fill(work, GemmOperand::a, a_.at(0));
      a_.spread(machine_);
      c_.make(machine_, "", element * work.m * work.n, sets);
      product_ = dnnl::matmul(chosen);
      const OperandSets& b = packed_ ? packed_b_ : b_;
      arguments_.clear();
      for (std::int64_t set = 0; set < sets; ++set) {
        arguments_.push_back({{DNNL_ARG_SRC, {plain(work, work.m, work.k), engine_, a_.at(set)}},
                              {DNNL_ARG_WEIGHTS, {layout, engine_, b.at(set)}},
                              {DNNL_ARG_DST, {plain(work, work.m, work.n), engine_, c_.at(set)}}});
      }
      rotation_ = Rotation(sets);
      task_ = task;
      ready_ = true;
    }
    first_ = last_ = rotation_.place();
    // The run before left them warm.
    if (same || !work.warm || !worth_warming(work)) return;
    product_.execute(stream_, arguments_.front());
    stream_.wait();
  }

  bool same_task(const GemmTask& task) const {
    const GemmWork &a = task.work, &b = task_.work;
    return a.m == b.m && a.n == b.n && a.k == b.k && a.dtype == b.dtype && a.seed == b.seed &&
           a.warm == b.warm && task.cpus == task_.cpus;
  }

  const Machine& machine_;
  const bool packed_wanted_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  OperandSets a_, b_, packed_b_, c_;
  std::optional<memory::desc> packed_as_;  ///< layout of what packed_b_ holds
  bool packed_ = false;
  bool ready_ = false;  ///< for `task_`
  GemmTask task_;
  std::string implementation_;
  dnnl::matmul product_;
  std::vector<std::unordered_map<int, memory>> arguments_;  ///< of each set
  Rotation rotation_;
  std::int64_t first_ = 0, last_ = 0;  ///< sets of the last time_ns()
  std::vector<Seat> seats_;
};

}  // namespace

std::unique_ptr<GemmProduct> make_onednn_product(const Machine& machine, bool packed) {
  return guarded([&] { return std::make_unique<OneDnnProduct>(machine, packed); });
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

}  // namespace sonde::host
