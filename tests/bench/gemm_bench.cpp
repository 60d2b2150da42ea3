// The host's matrix engine against oneDNN called in a bare loop, and what its set-up costs.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dnnl.hpp>
#include <memory>

#include "core/error.h"
#include "core/statistics.h"
#include "device/common/gemm_reference.h"
#include "device/registry.h"
#include "gemm_sweep/shapes.h"

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

GemmWork work_on(const Shape& shape, int cores, bool warm) {
  GemmWork work = work_of(shape);
  work.blocks = cores;
  work.warm = warm;
  return work;
}

/// BF16 through oneDNN as a program would call it: weights packed, then the product in a loop.
class BareLoop {
 public:
  BareLoop(const Shape& shape, int cores) : cores_(cores) {
    using dnnl::memory;
    omp_set_num_threads(cores_);
    const auto type = memory::data_type::bf16;
    const auto rows = memory::format_tag::ab;
    const memory::desc a({shape.m, shape.k}, type, rows), c({shape.m, shape.n}, type, rows);
    const memory::desc b({shape.k, shape.n}, type, rows);
    const dnnl::matmul::primitive_desc chosen(
        {a, memory::desc({shape.k, shape.n}, type, memory::format_tag::any), c}, engine_);
    memory values_a(a, engine_), plain(b, engine_), packed(chosen.weights_desc(), engine_);
    fill(values_a, GemmOperand::a, shape.m, shape.k);
    fill(plain, GemmOperand::b, shape.k, shape.n);
    dnnl::reorder(plain, packed).execute(stream_, plain, packed);
    stream_.wait();
    product_ = dnnl::matmul(chosen);
    arguments_ = {
        {DNNL_ARG_SRC, values_a}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, {c, engine_}}};
  }

  double time_s(int count) {
    omp_set_num_threads(cores_);
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) product_.execute(stream_, arguments_);
    stream_.wait();
    return seconds_since(start) / count;
  }

 private:
  static void fill(dnnl::memory& memory, GemmOperand operand, std::int64_t rows,
                   std::int64_t cols) {
    auto* out = static_cast<std::uint16_t*>(memory.get_data_handle());
    for (std::int64_t row = 0; row < rows; ++row) {
      fill_gemm_row(1, operand, row,
                    std::span<std::uint16_t>(out + row * cols, static_cast<std::size_t>(cols)));
    }
  }

  int cores_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

double engine_s(Device& device, const GemmWork& work) {
  device.gemm()->prepare(work);
  return device.gemm()->run({}).elapsed.value();
}

/// Rate of the register loop on as many cores: what a round could have reached at most.
double control_s(Device& device, int cores) {
  GemmWork work = work_on({1024, 1024, 1024, ""}, cores, true);
  work.kernel = "register";
  return engine_s(device, work);
}

void against_bare_loop(Device& device, Device& control, const Shape& shape, int cores, int pairs) {
  const GemmWork work = work_on(shape, cores, true);
  BareLoop bare(shape, cores);
  const double once = std::max(bare.time_s(3), 1e-7);
  const int count = std::max(3, static_cast<int>(0.01 / once));
  engine_s(device, work);
  struct Round {
    double control = 0, bare = 0, engine = 0;
  };
  std::vector<Round> rounds;
  for (int i = 0; i < pairs; ++i) {
    Round round;
    round.control = control_s(control, cores);
    if (i % 2 == 0) round.bare = bare.time_s(count);
    round.engine = engine_s(device, work);
    if (i % 2 == 1) round.bare = bare.time_s(count);
    round.control = std::max(round.control, control_s(control, cores));
    rounds.push_back(round);
  }
  // A round in which even registers alone were slow had no cores to itself.
  double quickest = rounds.front().control;
  for (const Round& round : rounds) quickest = std::min(quickest, round.control);
  constexpr double kControl = 1.1;
  std::vector<double> ratios, rates;
  for (const Round& round : rounds) {
    if (cores > 1 && round.control > kControl * quickest) continue;
    ratios.push_back(round.bare / round.engine);
    rates.push_back(work.flop() / round.engine * 1e-9);
  }
  const auto interval = median_interval(ratios);
  std::printf("%5lld x %5lld x %5lld  %d  ", static_cast<long long>(shape.m),
              static_cast<long long>(shape.n), static_cast<long long>(shape.k), cores);
  if (interval) {
    std::printf("%6.3f  (%.3f to %.3f)  %4zu of %d  %8.1f\n", *median(ratios), interval->low,
                interval->high, ratios.size(), pairs, *median(rates));
  } else {
    std::printf("too few undisturbed pairs: %zu of %d\n", ratios.size(), pairs);
  }
  std::fflush(stdout);
}

/// Wall time of a sweep's parts over a stratified sample of shapes, eight repetitions each.
void parts_of_a_sweep(Device& device, bool warm, std::size_t count) {
  const std::vector<Shape> all = standard_shapes();
  std::vector<Shape> some;  // what a minute's budget allows
  for (const Shape& shape : all) {
    if (work_of(shape).flop() < 1e11) some.push_back(shape);
  }
  const std::vector<std::int64_t> place = stratify(some, 1);
  double prepare = 0, run = 0, check = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (place[i] >= static_cast<std::int64_t>(count)) continue;
    GemmWork work = work_of(some[i]);
    work.warm = warm;
    for (int repetition = 0; repetition < kFewestSamples; ++repetition) {
      auto start = Clock::now();
      device.gemm()->prepare(work);
      prepare += seconds_since(start);
      start = Clock::now();
      device.gemm()->run({});
      run += seconds_since(start);
      start = Clock::now();
      device.gemm()->verify();
      check += seconds_since(start);
    }
  }
  std::printf(
      "%zu shapes, %s: set-up and packing %.1f %%, checking %.1f %%, measuring %.1f %% of "
      "%.1f s\n",
      count, warm ? "warm" : "rotated", 100 * prepare / (prepare + run + check),
      100 * check / (prepare + run + check), 100 * run / (prepare + run + check),
      prepare + run + check);
}

/// Width that the interval of a shape's median reaches in three seconds of sampling.
void reached_width(Device& device, const Shape& shape) {
  GemmWork work = work_of(shape);
  std::vector<double> samples;
  const auto start = Clock::now();
  const Sampling sampling{.adaptive = true, .drift = {}};
  Estimate estimate;
  while (static_cast<std::int64_t>(samples.size()) < kMostSamples && seconds_since(start) < 3) {
    samples.push_back(engine_s(device, work));
    if (!is_look(static_cast<std::int64_t>(samples.size()))) continue;
    estimate = estimate_median(samples, sampling);
    if (estimate.interval && estimate.interval->width() <= 0.01 * *estimate.value) break;
  }
  std::printf("%5lld x %5lld x %5lld  %7.3f ms  ", static_cast<long long>(shape.m),
              static_cast<long long>(shape.n), static_cast<long long>(shape.k),
              *median(samples) * 1e3);
  if (estimate.interval) {
    std::printf("%5.1f %%  %zu samples in %.1f s\n",
                100 * estimate.interval->width() / *estimate.value, samples.size(),
                seconds_since(start));
  } else {
    std::printf("no interval, %zu samples in %.1f s\n", samples.size(), seconds_since(start));
  }
}

void kernels(Device& device) {
  for (const char* dtype : {"bf16", "fp32"}) {
    for (const char* kernel :
         {"auto", "onednn", "onednn_plain", "eigen", "register", "register_vector"}) {
      GemmWork work = work_of({1024, 1024, 1024, ""});
      work.dtype = dtype;
      work.kernel = kernel;
      try {
        std::vector<double> samples;
        samples.reserve(12);
        for (int i = 0; i < 12; ++i) samples.push_back(engine_s(device, work));
        std::printf("%-5s %-16s median %8.1f, best %8.1f GFLOP/s\n", dtype, kernel,
                    work.flop() / *median(samples) * 1e-9,
                    work.flop() / *std::min_element(samples.begin(), samples.end()) * 1e-9);
      } catch (const Skip& skip) {
        std::printf("%-5s %-16s %s\n", dtype, kernel, skip.what());
      }
    }
  }
}

int run(int pairs) {
  const auto device = open_device("host");
  const auto control = open_device("host");  // keeps the operands of the first where they are
  const int most = static_cast<int>(device->description().cores.size());
  std::printf(
      "oneDNN in a bare loop over the engine's time for a product, warm operands:\n"
      "    M       N       K    cores  median  (95 %%)  pairs kept  GFLOP/s of the engine\n");
  for (int cores = 1; cores <= std::min(2, most); ++cores) {
    for (const Shape& shape :
         {Shape{1024, 1024, 1024, ""}, Shape{4096, 4096, 1024, ""}, Shape{16, 4096, 4096, ""},
          Shape{64, 4096, 4096, ""}, Shape{256, 4096, 4096, ""}}) {
      against_bare_loop(*device, *control, shape, cores, pairs);
    }
  }
  std::printf("\nKernels at 1024 x 1024 x 1024, rotated, all cores:\n");
  kernels(*device);
  std::printf("\nParts of a sweep:\n");
  parts_of_a_sweep(*device, false, 24);
  parts_of_a_sweep(*device, true, 24);
  std::printf("\nInterval of the median after at most 3 s, rotated, all cores:\n");
  for (const Shape& shape :
       {Shape{1024, 1024, 1024, ""}, Shape{64, 4096, 4096, ""}, Shape{512, 4096, 4096, ""},
        Shape{1024, 4096, 4096, ""}, Shape{2048, 4096, 4096, ""}}) {
    reached_width(*device, shape);
  }
  return 0;
}

}  // namespace
}  // namespace sonde

/// Optional argument: pairs of each comparison.
int main(int argc, char** argv) { return sonde::run(argc > 1 ? std::atoi(argv[1]) : 60); }
