// Whether the copies of this computer's C library switch where its thresholds are: as the loader
// sets them, at 16 MiB and at 1 MiB. Measures anew (some minutes), or reads the run directory that
// is named.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "report/analysis.h"

namespace sonde {
namespace {

constexpr double kWithin = 0.02;
constexpr const char* kThreshold = "x86_non_temporal_threshold";

/// What the loader says of itself. nullopt: it is not glibc's of x86-64, or it has no such
/// threshold.
std::optional<double> loader_threshold() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list(
      ::popen("/lib64/ld-linux-x86-64.so.2 --list-tunables 2>/dev/null", "r"), &::pclose);
  if (!list) return std::nullopt;
  std::array<char, 512> line;
  while (std::fgets(line.data(), static_cast<int>(line.size()), list.get()) != nullptr) {
    if (std::strstr(line.data(), kThreshold) == nullptr) continue;
    const char* value = std::strchr(line.data(), ':');
    if (value != nullptr) return static_cast<double>(std::strtoull(value + 1, nullptr, 0));
  }
  return std::nullopt;
}

/// Distance of the nearest bracket from `bytes`, as a part of it.
double off(const CopyShape& shape, double bytes) {
  double best = HUGE_VAL;
  for (const CopySwitch& one : shape.switches) {
    const double away = bytes < one.last_old    ? one.last_old / bytes - 1
                        : bytes > one.first_new ? 1 - one.first_new / bytes
                                                : 0;
    best = std::min(best, away);
  }
  // Another switch far away is not this one.
  constexpr double kSamePlace = 0.19;
  return best > kSamePlace ? HUGE_VAL : best;
}

int score(const std::filesystem::path& run) {
  const std::optional<double> usual = loader_threshold();
  if (!usual) {
    std::printf("this C library has no %s: nothing to score\n", kThreshold);
    return 0;
  }
  const StoredRun stored = load_run(run, {});
  const RunAnalysis analysis = analyse_run(stored);
  if (!analysis.copy) return 1;
  std::string csv = "tunables,threshold_bytes,off,target\n";
  int lines = 0, missed = 0;
  for (const CopySeries& series : analysis.copy->series) {
    double bytes = *usual;
    if (!series.tunables.empty()) {
      if (series.tunables.find(kThreshold) == std::string::npos) continue;
      bytes = std::strtod(series.tunables.substr(series.tunables.find('=') + 1).c_str(), nullptr);
    }
    const double away = off(series.shape, bytes);
    const std::string name = series.tunables.empty() ? "as the loader sets it" : series.tunables;
    std::printf("%-52s threshold %11.0f B  switch %s %6.2f %% off  within %.0f %%\n", name.c_str(),
                bytes, std::isfinite(away) ? "found," : "NOT found,", 100 * std::min(away, 99.0),
                100 * kWithin);
    csv += series.tunables + "," + std::to_string(static_cast<std::int64_t>(bytes)) + "," +
           (std::isfinite(away) ? std::to_string(away) : "") + ",0.02\n";
    ++lines;
    missed += away > kWithin ? 1 : 0;
  }
  std::FILE* file = std::fopen(SONDE_SOURCE_DIR "/data/score/copy_host.csv", "w");
  if (file == nullptr || std::fputs(csv.c_str(), file) < 0 || std::fclose(file) != 0) {
    std::perror("data/score/copy_host.csv");
    return 1;
  }
  return missed > 0 || lines < 3 ? 1 : 0;
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  if (argc > 1) return sonde::score(argv[1]);
  std::string directory = (std::filesystem::temp_directory_path() / "sonde-score-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return 1;
  const std::string run = directory + "/run";
  const std::string command = std::string("'") + SONDE_BIN_DIR +
                              "/sonde-copy' --device host --vary-threshold --no-progress --out '" +
                              run + "'";
  const int code = std::system(command.c_str());
  const int result = code == 0 ? sonde::score(run) : 1;
  std::filesystem::remove_all(directory);
  return result;
}
