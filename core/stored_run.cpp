#include "core/stored_run.h"

#include <algorithm>
#include <future>
#include <new>
#include <sstream>

#include "core/error.h"
#include "core/parse.h"

namespace sonde {
namespace {

/// A file of rows must speak of one device and one clock, and of those the manifest names.
void check_source(const Manifest& manifest, const ProbeRows& probe,
                  std::vector<std::string>& warnings) {
  const Rows& rows = probe.table->rows;
  const auto& devices = rows.devices().texts();
  const bool other_device = std::any_of(devices.begin() + 1, devices.end(), [&](const auto& name) {
    return name != manifest.device.name;
  });
  bool other_clock = false;
  for (std::size_t i = 0; i < rows.size() && !other_clock; ++i) {
    other_clock = rows.time_source(i) != manifest.device.time_source;
  }
  if (other_device) {
    warnings.push_back(probe.file + ": holds rows of another device than the manifest's " +
                       manifest.device.name);
  }
  if (other_clock) {
    warnings.push_back(probe.file + ": holds rows whose time_source is not the manifest's " +
                       to_string(manifest.device.time_source) +
                       "; they are left out of every statistic");
  }
}

/// A refused file is kept as problems.
ProbeRows read_probe(const std::filesystem::path& dir, const Schema& schema,
                     const ReadOptions& options) {
  ProbeRows probe{&schema, "", std::nullopt, {}};
  try {
    if (const auto path = find_table(dir, schema.probe)) {
      probe.file = path->filename().string();
      probe.table = read_table(*path, schema, options);
    }
  } catch (const RefusedFile& refused) {
    if (probe.file.empty()) probe.file = schema.probe + ".csv";
    std::istringstream lines(refused.what());
    for (std::string line; std::getline(lines, line);) probe.problems.push_back(line);
  }
  return probe;
}

std::string directory_name(const std::filesystem::path& dir) {
  std::filesystem::path whole = std::filesystem::absolute(dir).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  const std::string name = whole.filename().string();
  return name.empty() ? "run" : name;
}

}  // namespace

const ProbeRows* StoredRun::probe(const std::string& probe_name) const {
  const auto found = std::find_if(probes.begin(), probes.end(), [&](const ProbeRows& rows) {
    return rows.schema->probe == probe_name;
  });
  return found == probes.end() ? nullptr : &*found;
}

bool StoredRun::any_table() const {
  return std::any_of(probes.begin(), probes.end(),
                     [](const ProbeRows& p) { return p.table.has_value(); });
}

bool StoredRun::any_refused() const {
  return std::any_of(probes.begin(), probes.end(), [](const ProbeRows& p) { return p.refused(); });
}

StoredRun load_run(const std::filesystem::path& dir, const ReadOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_directory(dir, error)) {
    throw UsageError("--run " + dir.string() + ": not a directory");
  }
  std::optional<Manifest> manifest = find_manifest(dir);
  if (!manifest) {
    throw UsageError("--run " + dir.string() +
                     ": holds no manifest.json, so it is not a run directory");
  }
  StoredRun run{dir, directory_name(dir), std::move(*manifest), {}, {}};
  // Files do not depend on each other. Without a launch policy a machine that gives no thread reads
  // each when it is asked for.
  std::vector<std::future<ProbeRows>> files;
  for (const Schema* schema : all_schemas()) {
    files.push_back(std::async([&, schema] { return read_probe(dir, *schema, options); }));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Schema* schema = all_schemas()[i];
    ProbeRows probe;
    try {
      probe = files[i].get();
    } catch (const std::bad_alloc&) {
      // All at once were too much: alone it may fit.
      for (const std::future<ProbeRows>& other : files) {
        if (other.valid()) other.wait();
      }
      probe = read_probe(dir, *schema, options);
    }
    if (probe.table && probe.table->rows.empty()) {
      run.warnings.push_back(probe.file + ": holds no rows");
    }
    const Step* step = run.manifest.step(schema->probe);
    if (!probe.table && probe.problems.empty() && step != nullptr && step->state == "complete") {
      run.warnings.push_back(schema->probe + ".csv: is missing, although the manifest says that " +
                             schema->probe + " was complete");
    }
    if (probe.table && step != nullptr && step->rows &&
        static_cast<std::int64_t>(probe.table->rows.size()) + probe.table->skipped < *step->rows) {
      run.warnings.push_back(
          probe.file + ": holds " +
          format_count(static_cast<std::int64_t>(probe.table->rows.size()) + probe.table->skipped) +
          " rows, " + format_count(*step->rows) + " were written: the rest was lost");
    }
    if (probe.table) check_source(run.manifest, probe, run.warnings);
    run.probes.push_back(std::move(probe));
  }
  return run;
}

}  // namespace sonde
