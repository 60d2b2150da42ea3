// How long a report takes to read and to analyse rows, and what memory that needs.
//   report_bench [DIR]          a stored run (default: data/measured/h200_sxm)
//   report_bench --rows N       N rows of copies, written to a scratch folder first
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/csv_writer.h"
#include "core/manifest.h"
#include "core/parse.h"
#include "core/rng.h"
#include "core/stored_run.h"
#include "report/analysis.h"
#include "report/figure.h"
#include "report/findings.h"

namespace sonde {
namespace {

struct Usage {
  double wall_s = 0;
  double user_s = 0;
  double peak_gib = 0;
};

Usage usage() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  return {
      now.count(),
      static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec),
      static_cast<double>(used.ru_maxrss) / (1 << 20)};
}

/// A run of copies over 200 sizes, its rows in rounds over all of them.
std::filesystem::path write_rows(const std::filesystem::path& dir, std::int64_t rows) {
  std::filesystem::create_directories(dir);
  Manifest manifest;
  manifest.version = "0";
  manifest.revision = "bench";
  manifest.build_preset = "measure";
  manifest.started_utc = "2026-01-01T00:00:00Z";
  manifest.device.name = "host";
  manifest.device.product = "a generator";
  manifest.device.time_source = TimeSource::host_clock;
  manifest.device.cores = {{"cpu", 0}};
  manifest.device.copies = {{"h2h", {"auto"}}};
  manifest.steps.push_back({"copy", {}, "complete", true, ""});
  write_manifest(dir, manifest);
  const Schema& schema = copy_schema();
  CsvWriter writer(schema, (dir / "copy.csv").string());
  Rng rng(1);
  constexpr std::int64_t kSizes = 200;
  double now = 1.7e9;
  Row row;
  row.device = "host";
  row.time_source = TimeSource::host_clock;
  row.values.resize(schema.size());
  const auto set = [&](const char* name, Cell value) {
    row.values[schema.index(name)] = std::move(value);
  };
  set("direction", std::string("h2h"));
  set("method", std::string("auto"));
  set("alignment_bytes", std::int64_t{64});
  set("state", std::string("warm"));
  set("counting", std::string("once"));
  for (std::int64_t i = 0; i < rows; ++i) {
    row.point = i % kSizes;
    row.repetition = i / kSizes;
    row.order = i;
    const std::int64_t bytes = 4096 * (row.point + 1);
    const double seconds = 1e-7 + static_cast<double>(bytes) / 1e10 *
                                      (1 + 0.01 * static_cast<double>(rng.gaussian_q16()) / 65536);
    row.start_s = now;
    now += seconds;
    set("bytes", bytes);
    set("elapsed_s", seconds);
    set("bandwidth_bytes_per_s", static_cast<double>(bytes) / seconds);
    set("end_s", now);
    writer.write(row);
  }
  return dir;
}

int bench(const std::filesystem::path& dir) {
  const Usage start = usage();
  const StoredRun run = load_run(dir, {});
  const Usage read = usage();
  const RunAnalysis analysis = analyse_run(run);
  const Usage analysed = usage();
  const auto findings = find_findings(analysis);
  const auto figures = build_figures({analysis, findings});
  const Usage built = usage();
  std::int64_t rows = 0;
  for (const ProbeRows& probe : run.probes) {
    if (probe.table) rows += static_cast<std::int64_t>(probe.table->rows.size());
  }
  const double parsing = read.user_s - start.user_s, analysing = analysed.user_s - read.user_s,
               building = built.user_s - analysed.user_s, all = built.user_s - start.user_s;
  std::printf(
      "%s rows, user time: read %.2f s (%.0f %%, %.0f rows/s), analysed %.2f s (%.0f %%), "
      "findings and figures %.2f s (%.0f %%), all %.2f s; wall %.2f s (read %.2f s); peak %.2f "
      "GiB\n",
      format_count(rows).c_str(), parsing, 100 * parsing / all, static_cast<double>(rows) / parsing,
      analysing, 100 * analysing / all, building, 100 * building / all, all,
      built.wall_s - start.wall_s, read.wall_s - start.wall_s, built.peak_gib);
  return rows > 0 ? 0 : 1;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc == 3 && std::strcmp(argv[1], "--rows") == 0) {
    const auto rows = parse_integer(argv[2]);
    const std::filesystem::path dir = std::filesystem::temp_directory_path() /
                                      ("sonde-report-bench-" + std::to_string(rows.value_or(0)));
    if (!rows || *rows < 1) return 2;
    write_rows(dir, *rows);
    const int code = bench(dir);
    std::filesystem::remove_all(dir);
    return code;
  }
  return bench(argc > 1 ? std::filesystem::path(argv[1])
                        : std::filesystem::path(SONDE_SOURCE_DIR) / "data/measured/h200_sxm");
}
