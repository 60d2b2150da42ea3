#include "tests/support/campaigns.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/manifest.h"
#include "core/parse.h"

namespace sonde::test {

namespace {

namespace fs = std::filesystem;

/// Writes a picture that is whole by its first and last bytes, whatever it is asked to draw.
constexpr const char* kStandIn = R"(#!/bin/sh
target=${2#*target=\'}
target=${target%%\'*}
case $target in
  *.svg) printf '<svg xmlns="http://www.w3.org/2000/svg"></svg>\n' >"$target" ;;
  *) printf '\211PNG\r\n\032\n....IEND\256\102\140\202' >"$target" ;;
esac
)";

std::string text_or_nothing(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

StoredRows whole_rows(const fs::path& run) {
  StoredRows rows;
  std::error_code error;
  for (fs::directory_iterator it(run, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".csv") continue;
    const std::string text = text_or_nothing(it->path());
    rows[it->path().stem().string()] = text.substr(0, text.rfind('\n') + 1);
  }
  return rows;
}

std::vector<pid_t> processes_with(const std::string& entry) {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const auto pid = parse_integer(it->path().filename().string());
    if (!pid) continue;
    const std::string environment = '\0' + text_or_nothing(it->path() / "environ");
    if (environment.find('\0' + entry + '\0') != std::string::npos) {
      found.push_back(static_cast<pid_t>(*pid));
    }
  }
  return found;
}

std::vector<std::string> leftovers(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find(".tmp") != std::string::npos || name.find(".draft") != std::string::npos) {
      found.push_back(name);
    }
  }
  return found;
}

SmallCampaign::SmallCampaign(const fs::path& scratch, const std::string& device)
    : scratch_(scratch), device_(device), undisturbed_(scratch / "undisturbed" / "run") {
  fs::create_directories(scratch / "tools");
  fs::create_directories(undisturbed_.parent_path());
  const fs::path stand_in = scratch / "tools" / "gnuplot";
  if (!fs::exists(stand_in)) {
    write_text(stand_in, kStandIn);
    fs::permissions(stand_in, fs::perms::owner_all);
  }
  const auto start = std::chrono::steady_clock::now();
  const Result result = test::run(scratch_, command(undisturbed_), environment());
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.exit_code != 0 || !result.err.empty()) {
    throw std::runtime_error("undisturbed campaign: exit " + std::to_string(result.exit_code) +
                             ": " + result.err);
  }
  rows_ = whole_rows(undisturbed_);
  if (rows_.size() < 5) throw std::runtime_error("undisturbed campaign: files are missing");
}

std::vector<std::string> SmallCampaign::command(const fs::path& run) const {
  return {"sonde",      "campaign", "--device",      device_, "--out",
          run.string(), "--quick",  "--repetitions", "1",     "--no-progress"};
}

Environment SmallCampaign::environment(std::vector<std::string> more) const {
  more.push_back("PATH=" + (scratch_ / "tools").string() + ":/usr/bin:/bin");
  return {more};
}

std::string SmallCampaign::check_stored(const fs::path& run) const {
  for (const auto& stored : whole_rows(run)) {
    const std::string& probe = stored.first;
    const std::string& text = stored.second;
    const auto expected = rows_.find(probe);
    if (expected == rows_.end()) return probe + ".csv: the undisturbed campaign has none";
    if (!expected->second.starts_with(text)) {
      return probe + ".csv: what is stored is not how the undisturbed one begins";
    }
    const fs::path file = run / (probe + ".csv");
    // A kill may leave nothing, or a part of the header.
    if (text.empty()) continue;
    try {
      const auto schema = std::find_if(all_schemas().begin(), all_schemas().end(),
                                       [&](const Schema* one) { return one->probe == probe; });
      const Table table = read_table(file, **schema, {});
      if (table.unprotected > 0) return probe + ".csv: rows without a check";
    } catch (const Error& error) {
      return error.what();
    }
  }
  if (!fs::exists(run / "manifest.json")) return "";
  try {
    read_manifest(run / "manifest.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string SmallCampaign::check_complete(const fs::path& run) const {
  if (std::string problem = check_stored(run); !problem.empty()) return problem;
  if (whole_rows(run) != rows_) return "rows are not those of the undisturbed campaign";
  for (const char* file : {"topology.json", "topology.xml", "report/findings.csv"}) {
    if (text_or_nothing(run / file) != text_or_nothing(undisturbed_ / file)) {
      return std::string(file) + ": differs from the undisturbed campaign's";
    }
  }
  for (const Step& step : read_manifest(run / "manifest.json").steps) {
    if (step.state != "complete") return step.probe + ": is " + step.state;
  }
  const auto names = [](const fs::path& folder) {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      all.push_back(fs::relative(entry.path(), folder).string());
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  for (const std::string& name : leftovers(run)) return name + ": was left over";
  if (names(run) != names(undisturbed_)) return "other files than the undisturbed campaign's";
  return "";
}

}  // namespace sonde::test
