#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/csv_writer.h"
#include "core/manifest.h"
#include "core/rng.h"

namespace sonde::testing_runs {

/// A fresh directory that goes away with the object.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-report-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `n` samples about `value` with relative noise, a function of the key alone.
inline std::vector<double> noisy(double value, double noise, int n, std::uint64_t key) {
  Rng rng(key);
  std::vector<double> samples;
  samples.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    samples.push_back(value * (1 + noise * static_cast<double>(rng.gaussian_q16()) / 65536.0));
  }
  return samples;
}

/// 8 sizes an octave, as the copy probe takes them by default.
inline std::vector<double> ladder(double low, double high, int per_octave = 8) {
  std::vector<double> sizes;
  for (int i = 0;; ++i) {
    const double size = std::round(low * std::exp2(static_cast<double>(i) / per_octave) / 64) * 64;
    if (size > high * 1.0001) return sizes;
    if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
  }
}

/// Writes a run directory row by row, as the probes do.
class RunWriter {
 public:
  explicit RunWriter(std::filesystem::path dir, bool modelled = true) : dir_(std::move(dir)) {
    std::filesystem::create_directories(dir_);
    manifest.version = "0.1.0";
    manifest.revision = "abcdef123456";
    manifest.build_preset = "measure";
    manifest.seed = 7;
    manifest.started_utc = "2026-11-30T12:00:00Z";
    DeviceDescription& device = manifest.device;
    device.name = modelled ? "sim:950pr_9579" : "host";
    device.product = modelled ? "Ascend950PR_9579 (simulated)" : "Intel(R) Xeon(R) Processor";
    device.time_source = modelled ? TimeSource::modelled : TimeSource::host_clock;
    device.places_blocks = modelled;
    device.chase_footprint_bytes = 16384;
    for (int i = 0; i < (modelled ? 56 : 2); ++i)
      device.cores.push_back({modelled ? "vector" : "cpu", i});
    device.copies = {{"d2d", {"auto"}}};
    if (modelled) device.roofs = {{"memory_bytes_per_s", 1.638e12, "datasheet"}};
    device.conditions = {{"governor", modelled ? "fixed" : ""}};
    for (const char* probe : {"chase", "copy"}) {
      manifest.steps.push_back({probe, {}, "complete", false, ""});
    }
  }

  /// One row of any probe: axes, then metrics by name; a metric that is not named stays empty.
  void row(const Schema& schema, std::vector<Cell> axes,
           const std::vector<std::pair<std::string, Cell>>& metrics, std::size_t repetition,
           Status status = Status::ok, const std::string& reason = "") {
    auto& writer = writers_[schema.probe];
    if (!writer) writer = std::make_unique<CsvWriter>(schema, dir_ / (schema.probe + ".csv"));
    Row row;
    row.device = manifest.device.name;
    row.time_source = manifest.device.time_source;
    row.point = point_;
    row.repetition = static_cast<std::int64_t>(repetition);
    row.order = order_++;
    row.start_s = static_cast<double>(row.order);
    row.status = status;
    row.reason = reason;
    row.values = std::move(axes);
    row.values.resize(schema.size());
    for (const auto& [name, cell] : metrics) row.values[schema.index(name)] = cell;
    writer->write(row);
  }
  void next_point() { ++point_; }

  void chase(const std::string& core, std::int64_t blocks, std::int64_t footprint,
             const std::string& state, const std::vector<double>& latency_ns,
             Status status = Status::ok, const std::string& reason = "") {
    for (std::size_t i = 0; i < latency_ns.size(); ++i) {
      row(chase_schema(), {core, blocks, footprint, state},
          {{"loads", std::int64_t{256}},
           {"elapsed_s", latency_ns[i] * 256e-9},
           {"latency_ns", latency_ns[i]}},
          i, status, reason);
    }
    next_point();
  }

  void copy(const std::string& direction, const std::string& method, double bytes,
            const std::vector<double>& seconds, Status status = Status::ok,
            const std::string& reason = "") {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      row(copy_schema(),
          {direction, method, static_cast<std::int64_t>(bytes), std::int64_t{4096}, "warm"},
          {{"elapsed_s", seconds[i]},
           {"bandwidth_bytes_per_s", bytes / seconds[i]},
           {"counting", "once"}},
          i, status, reason);
    }
    next_point();
  }

  /// `clock_mhz` and `power_w` of 0 stay unknown; a row of 0 seconds has no metrics.
  void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<double>& seconds,
            double clock_mhz = 0, double power_w = 0, Status status = Status::ok,
            const std::string& reason = "", const std::string& label = "") {
    const double flop =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const double bytes = 2.0 * static_cast<double>(m * k + k * n + m * n);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      if (seconds[i] <= 0) {
        row(gemm_schema(), {m, n, k, "bf16", "auto", label}, {}, i, status, reason);
        continue;
      }
      row(gemm_schema(), {m, n, k, "bf16", "auto", label},
          {{"elapsed_s", seconds[i]},
           {"flop", flop},
           {"flop_per_s", flop / seconds[i]},
           {"least_bytes", bytes},
           {"intensity_flop_per_byte", flop / bytes},
           {"clock_mhz", clock_mhz > 0 ? Cell(clock_mhz) : Cell()},
           {"power_w", power_w > 0 ? Cell(power_w) : Cell()}},
          i, status, reason);
    }
    next_point();
  }

  /// Rows of any way to measure a product: every axis from dtype to role as it is named.
  void gemm_as(std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<double>& seconds,
               const std::map<std::string, std::string>& axes, const std::string& note = "") {
    std::vector<Cell> cells(gemm_schema().axes.size());
    cells[0] = m;
    cells[1] = n;
    cells[2] = k;
    for (const auto& [name, value] : axes) cells[gemm_schema().index(name)] = value;
    const double flop =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    const double bytes = 2.0 * static_cast<double>(m * k + k * n + m * n);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      row(gemm_schema(), cells,
          {{"elapsed_s", seconds[i]},
           {"flop", flop},
           {"flop_per_s", flop / seconds[i]},
           {"least_bytes", bytes},
           {"intensity_flop_per_byte", flop / bytes},
           {"note", note}},
          i);
    }
    next_point();
  }

  void stream(const std::string& cores, const std::string& kind, std::int64_t bytes,
              const std::vector<double>& rates, std::int64_t request = 4096,
              std::int64_t passes = 1, const std::string& addresses = "private") {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      row(stream_schema(),
          {cores, kind, bytes, request, std::int64_t{1}, addresses, passes,
           kind == "read" ? "none" : "ordinary"},
          {{"moved_bytes", bytes},
           {"elapsed_s", static_cast<double>(bytes) / rates[i]},
           {"bandwidth_bytes_per_s", rates[i]},
           {"counting", "each array once a pass and core"}},
          i);
    }
    next_point();
  }

  void interfere(const std::string& victim, const std::string& aggressors, const std::string& work,
                 const std::vector<double>& latency_ns, Status status = Status::ok,
                 const std::string& reason = "") {
    for (std::size_t i = 0; i < latency_ns.size(); ++i) {
      row(interfere_schema(), {victim, "load", aggressors, work},
          {{"footprint_bytes", std::int64_t{16384}},
           {"loads", std::int64_t{256}},
           {"elapsed_s", latency_ns[i] * 256e-9},
           {"latency_ns", latency_ns[i]}},
          i, status, reason);
    }
    next_point();
  }

  void handoff(const std::string& from, const std::string& to, const std::string& kind,
               const std::vector<double>& latency_ns) {
    for (std::size_t i = 0; i < latency_ns.size(); ++i) {
      row(handoff_schema(), {from, to, kind},
          {{"address_index", static_cast<std::int64_t>(i)},
           {"exchanges", std::int64_t{1000}},
           {"elapsed_s", latency_ns[i] * 2e-6},
           {"latency_ns", latency_ns[i]},
           {"counting", "one_way"}},
          i);
    }
    next_point();
  }

  /// One repetition of one core: a row an address.
  void profile(const std::string& core, const std::vector<double>& latency_ns,
               std::size_t repetition = 0, double clock_mhz = 0) {
    for (std::size_t a = 0; a < latency_ns.size(); ++a) {
      row(profile_schema(), {core, static_cast<std::int64_t>(a)},
          {{"address_bytes", static_cast<std::int64_t>(a * 4096)},
           {"latency_ns", latency_ns[a]},
           {"elapsed_s", 1e-3},
           {"clock_mhz", clock_mhz > 0 ? Cell(clock_mhz) : Cell()}},
          repetition);
    }
    next_point();
  }

  void finish() {
    for (auto& [probe, writer] : writers_) writer->close();
    write_manifest(dir_, manifest);
  }

  Manifest manifest;

 private:
  std::filesystem::path dir_;
  std::map<std::string, std::unique_ptr<CsvWriter>> writers_;
  std::int64_t point_ = 0;
  std::int64_t order_ = 0;
};

/// Copy time of the 950PR model: SDMA to 400,000 bytes, TensorMove above.
inline double npu_copy(double bytes) {
  return bytes <= 400000 ? 2e-6 + bytes / 500e9 : 7e-6 + bytes / (0.5 * 1.638e12 * 0.93);
}

/// Time of a host copy without any switch: a rate for each level, blended over about an octave.
inline double smooth_copy(double bytes, const std::vector<double>& edges,
                          const std::vector<double>& rates) {
  double cost = 1 / rates[0];
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double blend = 1 / (1 + std::exp(-std::log2(bytes / edges[i]) * 6));
    cost += (1 / rates[i + 1] - 1 / rates[i]) * blend;
  }
  return 8e-9 + bytes * cost;
}

/// Everything the simulated chip's first path gives.
inline void write_npu_run(const std::filesystem::path& dir, double noise = 0.01, int n = 8) {
  RunWriter run(dir);
  std::uint64_t key = 1;
  for (int core = 0; core < 56; ++core) {
    run.chase("vector" + std::to_string(core), 1, 16384, "cold",
              noisy(core % 8 < 4 ? 134 : 137, noise, n, ++key));
  }
  for (std::int64_t bytes = 4096; bytes <= 512 << 20; bytes *= 2) {
    for (std::int64_t size : {bytes, bytes + bytes / 2}) {
      const double ns = size <= 32768 ? 4.8 : size <= 128 << 20 ? 134 : 316;
      run.chase("vector0", 1, size, "warm", noisy(ns, noise, n, ++key));
    }
  }
  for (int blocks : {1,  3,  5,  9,  13, 17, 18, 21, 25,  29,  33,  37,
                     41, 45, 49, 53, 56, 57, 64, 84, 111, 112, 113, 128}) {
    double ns = blocks <= 18 ? 134 : 134 + 48.0 * std::min(38, blocks - 18) / 38;
    if (blocks > 56) ns = 340 + 51.0 * std::min(blocks - 56, 56) / 8 * (blocks > 64 ? 0.15 : 1);
    if (blocks > 112) ns += 150;
    run.chase("vector", blocks, 16384, "cold", noisy(ns, noise, n, ++key));
  }
  for (double bytes : ladder(1024, 256 << 20))
    run.copy("d2d", "auto", bytes, noisy(npu_copy(bytes), noise, n, ++key));
  run.finish();
}

/// A host like the 2-vCPU machine of the notes: two real switches, and cache edges that are none.
inline double host_copy(double bytes) {
  const double small = bytes <= 2112 ? 1 / 170e9 : 1 / 105e9;
  if (bytes > 103809024) return 1e-7 + bytes / 10.7e9;
  double cost = small;
  if (bytes > 2112) {
    const auto rise = [&](double at, double from, double to, double steep) {
      return (1 / to - 1 / from) / (1 + std::exp(-std::log2(bytes / at) * steep));
    };
    cost +=
        rise(26e3, 105e9, 38e9, 7) + rise(1.15e6, 38e9, 13.5e9, 7) + rise(75e6, 13.5e9, 6.2e9, 5);
  }
  return 4e-9 + bytes * cost;
}

inline void write_host_run(const std::filesystem::path& dir, int n = 12) {
  RunWriter run(dir, false);
  std::uint64_t key = 1000;
  for (int core = 0; core < 2; ++core)
    run.chase("cpu" + std::to_string(core), 1, 16384, "warm", noisy(1.75, 0.02, n, ++key));
  run.chase("cpu0-1", 2, 16384, "warm", noisy(1.76, 0.02, n, ++key));
  for (std::int64_t bytes = 4096; bytes <= std::int64_t{1} << 30; bytes *= 2) {
    for (std::int64_t size : {bytes, bytes + bytes / 2}) {
      const double b = static_cast<double>(size);
      const auto rise = [&](double at, double step, double steep) {
        return step / (1 + std::exp(-std::log2(b / at) * steep));
      };
      run.chase("cpu0", 1, size, "warm",
                noisy(1.75 + rise(60e3, 6.2, 6) + rise(3.2e6, 132, 3.5) + rise(260e6, 60, 3), 0.03,
                      n, ++key));
    }
  }
  for (double bytes : ladder(1024, 256 << 20)) {
    // A whole point shifts with the placement of its buffers, most of all for small ones.
    const double shift = noisy(1, bytes < 30e3 ? 0.04 : 0.02, 1, ++key)[0];
    run.copy("d2d", "auto", bytes,
             noisy(host_copy(bytes) * shift, bytes < 30e3 ? 0.08 : 0.03, n, ++key));
  }
  run.finish();
}

}  // namespace sonde::testing_runs
