#include "tests/support/chip_rows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/rng.h"
#include "core/statistics.h"
#include "probes/pair_design.h"

namespace sonde {

ChipRows::ChipRows(const DeviceDescription& device, std::uint64_t seed) {
  run_.name = "run";
  run_.manifest.seed = seed;
  run_.manifest.device = device;
  for (const Schema* schema : all_schemas()) run_.probes.push_back({schema, "", {}, {}});
}

void ChipRows::add(const std::string& probe, std::int64_t repetition, std::vector<Cell> values) {
  ProbeRows& rows = *std::find_if(run_.probes.begin(), run_.probes.end(),
                                  [&](const ProbeRows& p) { return p.schema->probe == probe; });
  if (!rows.table) {
    rows.table.emplace(*rows.schema);
    rows.file = probe + ".csv";
  }
  Row row;
  row.device = run_.manifest.device.name;
  row.time_source = run_.manifest.device.time_source;
  row.repetition = repetition;
  row.values = std::move(values);
  row.values.resize(rows.schema->size());
  rows.table->rows.add(row);
}

void measure_profiles(Device& device, std::int64_t addresses, ChipRows& rows) {
  const DeviceDescription& d = device.description();
  std::int64_t point = 0;
  for (const CoreName& core : d.cores) {
    device.profile()->prepare({core, d.profile_bytes, addresses, rows.seed()});
    const Sample sample = device.profile()->run({rows.seed(), point++, 0});
    if (!device.profile()->verify().ok) throw std::runtime_error("a profile is wrong");
    std::int64_t index = 0;
    for (const AddressTime& at : sample.series) {
      rows.add(
          "profile", 0,
          {core.str(), index++, at.address_bytes, nanoseconds(at.latency), sample.elapsed.value()});
    }
  }
}

namespace {

/// A point of interference.
struct Launch {
  std::size_t victim;
  std::optional<std::size_t> aggressor;  ///< none: the victim alone
  const char* kind;
};

/// Measures the points in rounds of random order, as the runner does, so that drift hits all alike.
/// The logarithm of each one's median latency.
std::vector<double> measure_launches(Device& device, const std::vector<Launch>& launches,
                                     std::int64_t repetitions, std::int64_t& point,
                                     ChipRows& rows) {
  const DeviceDescription& d = device.description();
  std::vector<std::vector<double>> elapsed(launches.size());
  std::vector<std::size_t> order(launches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    Rng rng(key_of(
        {rows.seed(), static_cast<std::uint64_t>(point), static_cast<std::uint64_t>(repetition)}));
    shuffle(order, rng);
    for (std::size_t i : order) {
      ContentionWork work;
      work.victim = d.cores[launches[i].victim];
      if (launches[i].aggressor) work.aggressors = {d.cores[*launches[i].aggressor]};
      work.aggressor_work = launches[i].kind;
      work.footprint_bytes = d.contention_bytes;
      work.loads = d.contention_bytes / d.chase_line_bytes;
      work.seed = rows.seed();
      device.contention()->prepare(work);
      const Sample sample =
          device.contention()->run({rows.seed(), point + static_cast<std::int64_t>(i), repetition});
      if (!device.contention()->verify().ok) throw std::runtime_error("a victim went wrong");
      elapsed[i].push_back(sample.elapsed.value());
      rows.add("interfere", repetition,
               {work.victim.str(), std::string("load"), format_core_set(work.aggressors),
                work.aggressor_work, work.footprint_bytes, work.loads, sample.elapsed.value(),
                nanoseconds(sample.elapsed) / static_cast<double>(work.loads)});
    }
  }
  point += static_cast<std::int64_t>(launches.size());
  std::vector<double> logs;
  logs.reserve(elapsed.size());
  for (const std::vector<double>& samples : elapsed) logs.push_back(std::log(*median(samples)));
  return logs;
}

}  // namespace

std::int64_t measure_pairs(Device& device, std::int64_t repetitions, ChipRows& rows) {
  const std::size_t cores = device.description().cores.size();
  std::int64_t point = 0;
  PairLog log;
  std::vector<Launch> launches;
  for (std::size_t v = 0; v < cores; ++v) launches.push_back({v, std::nullopt, "none"});
  for (std::size_t v = 0; v < cores; ++v) {
    for (std::size_t next = 1; next <= std::min(kControls, cores - 1); ++next) {
      launches.push_back({v, (v + next) % cores, "register"});
    }
  }
  std::vector<Directed> more = first_pairs(cores, rows.seed());
  std::int64_t beside = 0;
  while (!more.empty() || !launches.empty()) {
    for (const Directed& pair : more) launches.push_back({pair.victim, pair.aggressor, "load"});
    beside += static_cast<std::int64_t>(more.size()) * repetitions;
    const std::vector<double> logs = measure_launches(device, launches, repetitions, point, rows);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Launch& one = launches[i];
      if (!one.aggressor) {
        log.alone[one.victim] = logs[i];
      } else {
        const bool control = std::string(one.kind) == "register";
        (control ? log.controls : log.beside).push_back({{one.victim, *one.aggressor}, logs[i]});
      }
    }
    launches.clear();
    more = further_pairs(cores, rows.seed(), log);
  }
  return beside;
}

}  // namespace sonde
