#include "topology/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/statistics.h"

namespace sonde {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// nullopt for a text that names no single core (a kind, a set).
std::optional<CoreName> core_of(const std::string& text) {
  try {
    return parse_core_name(text);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace

ProfileTable read_profile(const ProbeRows& profile, TimeSource source) {
  const Schema& schema = *profile.schema;
  const Rows& rows = profile.table->rows;
  const TextColumn& core_names = rows.texts(schema.index("core"));
  const IntegerColumn &indices = rows.integers(schema.index("address_index")),
                      &offsets = rows.integers(schema.index("address_bytes"));
  const NumberColumn& latencies = rows.numbers(schema.index("latency_ns"));
  struct Sample {
    int core;
    int address;
    double latency;
  };
  std::vector<Sample> samples;
  std::vector<std::string> names;
  std::vector<int> core_ids(core_names.texts().size(), -1);  // by code
  std::unordered_map<std::int64_t, int> address_ids;
  std::vector<std::pair<std::int64_t, std::int64_t>> visited;  // index, bytes
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t code = core_names.code(i);
    if (code == 0) continue;
    if (core_ids[code] < 0) {
      core_ids[code] = static_cast<int>(names.size());
      names.push_back(core_names.at(i));
    }
    const auto index = indices.at(i), bytes = offsets.at(i);
    const auto latency = latencies.at(i);
    if (!rows.usable(i, source) || !index || !bytes || !latency) continue;
    // The address is what cores have in common; the index only orders the visits.
    const auto [address, unseen] =
        address_ids.try_emplace(*bytes, static_cast<int>(visited.size()));
    if (unseen) visited.emplace_back(*index, *bytes);
    samples.push_back({core_ids[code], address->second, *latency});
  }

  ProfileTable table;
  std::vector<bool> measured(names.size(), false);
  for (const Sample& sample : samples) measured[static_cast<std::size_t>(sample.core)] = true;
  std::map<CoreName, std::vector<int>> ids;  // by name, so that columns do not depend on row order
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<CoreName> core = core_of(names[i]);
    if (core && measured[i]) {
      ids[*core].push_back(static_cast<int>(i));
    } else {
      table.without_row.push_back(names[i]);
    }
  }
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> column(names.size(), kNone);
  for (const auto& [core, texts] : ids) {
    for (int id : texts) {
      column[static_cast<std::size_t>(id)] = table.cores.size();
    }
    table.cores.push_back(core);
  }
  std::sort(visited.begin(), visited.end());
  std::vector<std::size_t> line(visited.size());
  for (std::size_t i = 0; i < visited.size(); ++i) {
    table.addresses.push_back(visited[i].second);
    line[static_cast<std::size_t>(address_ids[visited[i].second])] = i;
  }

  const std::size_t lines = visited.size();
  std::vector<std::pair<std::size_t, double>> cells;
  cells.reserve(samples.size());
  for (const Sample& sample : samples) {
    const std::size_t c = column[static_cast<std::size_t>(sample.core)];
    if (c == kNone) continue;
    cells.emplace_back(c * lines + line[static_cast<std::size_t>(sample.address)], sample.latency);
  }
  std::sort(cells.begin(), cells.end());
  table.latency_ns = Matrix(lines, table.cores.size(), kMissing);
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t j = i;
    while (j < cells.size() && cells[j].first == cells[i].first) ++j;
    // Sorted by value too: the median is in the middle.
    table.latency_ns.cells()[cells[i].first] =
        (cells[(i + j - 1) / 2].second + cells[(i + j) / 2].second) / 2;
    i = j;
  }
  return table;
}

void keep_covered(ProfileTable& table) {
  const auto present = [](double value) { return !std::isnan(value); };
  const Matrix all = std::move(table.latency_ns);
  std::vector<std::size_t> columns, lines;
  std::vector<CoreName> cores;
  for (std::size_t c = 0; c < all.cols(); ++c) {
    const auto values = all.column(c);
    const CoreName& core = table.cores[c];
    const auto first = std::find_if(values.begin(), values.end(), present);
    const bool varies =
        std::any_of(first, values.end(), [&](double v) { return present(v) && v != *first; });
    const auto there = std::count_if(values.begin(), values.end(), present);
    if (varies && 2 * static_cast<std::size_t>(there) >= values.size()) {
      columns.push_back(c);
      cores.push_back(core);
    } else {
      table.without_row.push_back(core.str());
    }
  }
  std::vector<std::int64_t> addresses;
  for (std::size_t a = 0; a < all.rows(); ++a) {
    std::size_t there = 0;
    for (std::size_t c : columns) there += present(all(a, c)) ? 1U : 0U;
    if (2 * there < columns.size()) continue;
    lines.push_back(a);
    addresses.push_back(table.addresses[a]);
  }
  table.latency_ns = Matrix(lines.size(), columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t a = 0; a < lines.size(); ++a) {
      table.latency_ns(a, c) = all(lines[a], columns[c]);
    }
  }
  table.cores = std::move(cores);
  table.addresses = std::move(addresses);
}

CoreMatrix medians(const PairSamples& samples) {
  CoreMatrix matrix{samples.cores, {}};
  matrix.cells.reserve(samples.cells.size());
  for (const std::vector<double>& cell : samples.cells) matrix.cells.push_back(median(cell));
  return matrix;
}

std::vector<std::string> values_of(const ProbeRows& rows, TimeSource source,
                                   const std::string& column) {
  if (!rows.table) return {};
  const TextColumn& cells = rows.table->rows.texts(rows.schema->index(column));
  std::vector<bool> used(cells.texts().size(), false);
  for (std::size_t i = 0; i < rows.table->rows.size(); ++i) {
    if (rows.table->rows.usable(i, source)) used[cells.code(i)] = true;
  }
  std::vector<std::string> values;
  for (std::size_t code = 1; code < used.size(); ++code) {
    if (used[code]) values.push_back(cells.texts()[code]);
  }
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace sonde
