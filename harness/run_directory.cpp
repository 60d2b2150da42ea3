#include "harness/run_directory.h"

#include <unistd.h>

#include <cstdio>

#include "core/error.h"
#include "core/terminal.h"
#include "core/version.h"

namespace sonde {
namespace {

std::string describe_options(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    if (!text.empty()) text += ' ';
    text += name + "=" + value;
  }
  return text;
}

}  // namespace

std::string directory_stem(const std::string& device) {
  std::string stem;
  for (char c : device) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.';
    stem += plain ? c : '-';
  }
  return stem;
}

std::filesystem::path create_run_directory(const std::string& device) {
  std::string utc;  // 2026-11-30T14:05:09Z -> 20261130T140509Z
  for (char c : utc_now()) {
    if (c != '-' && c != ':') utc += c;
  }
  const std::string stem = "sonde-" + directory_stem(device) + "-" + utc;
  for (int n = 1; n < 1000; ++n) {
    std::filesystem::path path = n == 1 ? stem : stem + "-" + std::to_string(n);
    if (create_directory_exclusively(path)) return path;
  }
  throw OutputError(stem + ": a thousand runs of this second exist");
}

RunDirectory::RunDirectory(const std::string& out, const StepRequest& request, const Schema& schema,
                           const ReadOptions& reading)
    : request_(request), schema_(schema) {
  if (out.empty()) {
    path_ = create_run_directory(request.device.name);
    created_ = true;
  } else {
    path_ = out;
    created_ = create_directory_exclusively(path_);
    std::error_code ignored;
    if (!created_ && !std::filesystem::is_directory(path_, ignored)) {
      throw OutputError(path_.string() + ": is not a directory");
    }
  }
  lock_ = std::make_unique<FileLock>(path_ / ".lock");
  check_manifest();
  const auto csv = find_table(path_, request_.probe);
  if (!csv) {
    complete_ = false;
    return;
  }
  std::error_code ignored;
  if (std::filesystem::file_size(*csv, ignored) == 0) return;  // killed before its header
  try {
    Table table = read_table(*csv, schema_, reading);
    stored_ = table.rows.whole();
    warnings_ = std::move(table.warnings);
    lines_ = std::move(table.lines);
    if (table.cut_line) whole_bytes_ = table.whole_bytes;
  } catch (const RefusedFile&) {
    // A run killed inside the header line left no row: start the file anew.
    const std::string text = read_file(*csv);
    if (text.find('\n') != std::string::npos || !csv_header(schema_).starts_with(text)) throw;
    if (::truncate(csv->c_str(), 0) != 0) throw OutputError(csv->string() + ": cannot be cut back");
    return;
  }
}

void RunDirectory::check_manifest() {
  const auto stored = find_manifest(path_);
  if (!stored) {
    if (find_table(path_, request_.probe)) {
      throw UsageError(path_.string() +
                       ": holds rows but no manifest.json, so nobody knows of what");
    }
    manifest_.version = version();
    manifest_.revision = revision();
    manifest_.build_preset = build_preset();
    manifest_.seed = request_.seed;
    manifest_.started_utc = utc_now();
    manifest_.device = request_.device;
    manifest_.idle_power_w = request_.idle_power_w;
    manifest_.idle_temperature_c = request_.idle_temperature_c;
    return;
  }
  manifest_ = *stored;
  if (manifest_.device.name != request_.device.name) {
    throw UsageError(path_.string() + ": holds a run of " + manifest_.device.name + ", not of " +
                     request_.device.name);
  }
  // A modelled device is its description, to the last condition (the chip file's check is one). A
  // real one may have other free memory; its cores and product must be the same.
  const DeviceDescription& before = manifest_.device;
  const DeviceDescription& now = request_.device;
  const bool same =
      before.product == now.product && before.cores == now.cores &&
      (now.time_source != TimeSource::modelled || before.conditions == now.conditions);
  if (!same) {
    throw UsageError(
        path_.string() + ": was measured on another " + now.name +
        " than there is now (cores, product or chip file differ); use a new directory");
  }
  if (manifest_.revision != revision()) {
    print_error(path_.string() + ": was begun by revision " + manifest_.revision + ", this is " +
                revision());
  }
  if (manifest_.seed != request_.seed) {
    throw UsageError(path_.string() + ": holds a run with --seed " +
                     std::to_string(manifest_.seed) + ", not " + std::to_string(request_.seed));
  }
  if (const Step* step = manifest_.step(request_.probe)) {
    if (step->options != request_.options) {
      throw UsageError(path_.string() + ": its " + request_.probe +
                       " step was run with other options (" + describe_options(step->options) +
                       "), asked now: " + describe_options(request_.options));
    }
    complete_ = step->state == "complete";
  }
}

void RunDirectory::drop_tail(std::size_t rows) {
  if (rows == 0) return;
  const std::size_t kept = stored_.size() - rows;
  dropped_from_ = lines_[kept];
  stored_.resize(kept);
}

void RunDirectory::cut_dropped() {
  // From the first dropped row on, bad and repeated lines among them included.
  const std::string text = read_file(csv_path());
  std::size_t end = 0;
  for (std::int64_t line = 1; line < *dropped_from_; ++line) end = text.find('\n', end) + 1;
  if (::truncate(csv_path().c_str(), static_cast<off_t>(end)) != 0) {
    throw OutputError(csv_path().string() + ": an incomplete sample cannot be removed");
  }
  dropped_from_.reset();
}

CsvWriter& RunDirectory::rows() {
  if (writer_) return *writer_;
  const auto stored = find_table(path_, request_.probe);
  if (stored && stored->extension() == ".gz") {
    throw UsageError(stored->string() + ": cannot be continued while compressed; unpack it first");
  }
  store_state("running", "");
  if (whole_bytes_ && ::truncate(csv_path().c_str(), *whole_bytes_) != 0) {
    throw OutputError(csv_path().string() + ": the cut last line cannot be removed");
  }
  if (dropped_from_) cut_dropped();
  writer_ = std::make_unique<CsvWriter>(schema_, csv_path());
  return *writer_;
}

void RunDirectory::write(const Row& row) {
  rows().write(row);
  ++written_;
}

void RunDirectory::finish(const std::string& state, const std::string& reason) {
  if (writer_) writer_->close();
  store_state(state, reason);
}

void RunDirectory::store_state(const std::string& state, const std::string& reason) {
  lock_->check_in_place();
  Step* step = manifest_.step(request_.probe);
  if (step == nullptr) step = &manifest_.steps.emplace_back();
  step->probe = request_.probe;
  step->options = request_.options;
  step->adaptive = request_.adaptive;
  step->state = state;
  step->reason = reason;
  step->rows.reset();
  if (state != "running") {
    step->rows = static_cast<std::int64_t>(stored_.size()) + written_;
  }
  write_manifest(path_, manifest_);
}

}  // namespace sonde
