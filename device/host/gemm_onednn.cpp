#include <dnnl.hpp>
#include <optional>

#include "core/error.h"
#include "device/common/gemm_reference.h"
#include "device/host/buffer.h"
#include "device/host/clock.h"
#include "device/host/gemm_product.h"
#include "device/host/openmp_team.h"
#include "device/host/wait_watch.h"
#include "device/host/windows.h"

namespace sonde::host {
namespace {

using dnnl::memory;

constexpr std::int64_t kElement = 2;  // bytes of a BF16

/// What the library reports as an exception of its own becomes a failed point.
template <class Call>
auto guarded(const Call& call) {
  try {
    return call();
  } catch (const dnnl::error& error) {
    throw PointFailure(std::string("oneDNN: ") + error.what());
  }
}

memory::desc plain(std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, memory::data_type::bf16, memory::format_tag::ab};
}

memory::desc any_layout(std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, memory::data_type::bf16, memory::format_tag::any};
}

class OneDnnProduct final : public GemmProduct {
 public:
  explicit OneDnnProduct(const Machine& machine) : machine_(machine) {}

  double needed_bytes(const GemmWork& work) override {
    const auto m = static_cast<double>(work.m), n = static_cast<double>(work.n),
               k = static_cast<double>(work.k);
    const double plain_bytes = static_cast<double>(kElement) * (m * k + k * n + m * n);
    // Beyond any memory the library need not be asked; below, its layout of B may pad a thin one to
    // many times its size.
    constexpr double kBeyondAnyMemory = 0x1p46;
    if (plain_bytes > kBeyondAnyMemory) return plain_bytes;
    return guarded([&] {
      const OpenMpTeam team(machine_.cpus);  // the choice of kernel counts threads
      return plain_bytes + static_cast<double>(kernel_for(work).weights_desc().get_size());
    });
  }

  std::int64_t held_bytes() const override {
    return a_.size() + b_.size() + packed_b_.size() + c_.size();
  }

  void prepare(const GemmWork& work) override {
    guarded([&] { set_up(work); });
  }

  double time_ns() override {
    return guarded([&] {
      OpenMpTeam team(machine_.cpus);
      const double each_ns = time_of_one_ns([this](std::int64_t count) {
        const WaitWatch watch;  // of the first thread; the others wait for it or it for them
        const std::int64_t begin = monotonic_ns();
        for (std::int64_t left = count; left > 0; --left) product_.execute(stream_, arguments_);
        stream_.wait();
        return monotonic_ns() - begin;
      });
      seats_ = team.seats();
      return each_ns;
    });
  }

  float element(std::int64_t row, std::int64_t col) const override {
    return from_bf16(c()[row * work_.n + col]);
  }
  void put(std::int64_t row, std::int64_t col, float value) override {
    c()[row * work_.n + col] = to_bf16(value);
  }
  const std::vector<Seat>& seats() const override { return seats_; }

  std::string note() const override {
    return "oneDNN " + implementation_ + ", " + (packed_ ? "packed B" : "plain B") + ", " +
           std::to_string(machine_.cpus.size()) + " threads, " +
           (worth_warming(work_) ? "warm operands" : "not warmed");
  }

 private:
  std::uint16_t* c() const { return reinterpret_cast<std::uint16_t*>(c_.data()); }

  /// Grows the buffer; true when its content is lost.
  bool grow(Buffer& buffer, std::int64_t bytes) const {
    if (buffer.size() >= bytes) return false;
    buffer = Buffer();
    buffer = Buffer(bytes, machine_.huge_page_bytes);
    return true;
  }

  dnnl::matmul::primitive_desc kernel_for(const GemmWork& work) const {
    const dnnl::matmul::desc wanted(plain(work.m, work.k), any_layout(work.k, work.n),
                                    plain(work.m, work.n));
    return {wanted, engine_};
  }

  void set_up(const GemmWork& work) {
    const OpenMpTeam team(machine_.cpus);  // also for the choice of kernel, which counts threads
    const bool same_b =
        b_of_ && b_of_->n == work.n && b_of_->k == work.k && b_of_->seed == work.seed;
    if (!same_b) {
      b_of_.reset();
      packed_as_.reset();
      grow(b_, kElement * work.k * work.n);
      fill_operand(machine_, work.seed, GemmOperand::b, reinterpret_cast<std::uint16_t*>(b_.data()),
                   work.k, work.n);
      b_of_ = work;
    }
    grow(a_, kElement * work.m * work.k);
    fill_operand(machine_, work.seed, GemmOperand::a, reinterpret_cast<std::uint16_t*>(a_.data()),
                 work.m, work.k);
    grow(c_, kElement * work.m * work.n);

    const dnnl::matmul::primitive_desc chosen = kernel_for(work);
    implementation_ = chosen.impl_info_str();
    const memory plain_b(plain(work.k, work.n), engine_, b_.data());
    memory b = plain_b;
    packed_ = chosen.weights_desc() != plain_b.get_desc();
    if (packed_) {
      const auto bytes = static_cast<std::int64_t>(chosen.weights_desc().get_size());
      if (grow(packed_b_, bytes)) packed_as_.reset();
      b = memory(chosen.weights_desc(), engine_, packed_b_.data());
      if (!packed_as_ || *packed_as_ != chosen.weights_desc()) {
        dnnl::reorder(plain_b, b).execute(stream_, const_cast<memory&>(plain_b), b);
        stream_.wait();
        packed_as_ = chosen.weights_desc();
      }
    }
    product_ = dnnl::matmul(chosen);
    arguments_ = {{DNNL_ARG_SRC, memory(plain(work.m, work.k), engine_, a_.data())},
                  {DNNL_ARG_WEIGHTS, b},
                  {DNNL_ARG_DST, memory(plain(work.m, work.n), engine_, c_.data())}};
    work_ = work;
    if (!worth_warming(work)) return;
    product_.execute(stream_, arguments_);
    stream_.wait();
  }

  const Machine& machine_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Buffer a_, b_, packed_b_, c_;
  std::optional<GemmWork> b_of_;           ///< whose B the buffer holds
  std::optional<memory::desc> packed_as_;  ///< layout of the packed one
  bool packed_ = false;
  GemmWork work_;
  std::string implementation_;
  dnnl::matmul product_;
  std::unordered_map<int, memory> arguments_;
  std::vector<Seat> seats_;
};

}  // namespace

std::unique_ptr<GemmProduct> make_onednn_product(const Machine& machine) {
  return guarded([&] { return std::make_unique<OneDnnProduct>(machine); });
}

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

}  // namespace sonde::host
