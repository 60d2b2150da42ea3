#include "report/core_map.h"

#include <algorithm>
#include <map>

#include "report/pairs.h"

namespace sonde {
namespace {

/// Positions that the group takes in `names`; nullopt when its cores are not neighbours there.
std::optional<std::pair<std::size_t, std::size_t>> run_of(
    const std::vector<CoreName>& group, const std::map<CoreName, std::size_t>& place) {
  std::size_t first = place.size(), last = 0, count = 0;
  for (const CoreName& core : group) {
    const auto at = place.find(core);
    if (at == place.end()) continue;
    first = std::min(first, at->second);
    last = std::max(last, at->second);
    ++count;
  }
  if (count == 0 || last - first + 1 != count) return std::nullopt;
  return std::pair(first, count);
}

}  // namespace

std::optional<HeatMap> core_heat_map(const CoreMatrix& matrix,
                                     const std::optional<CoreTree>& tree) {
  if (pair_values(matrix).empty()) return std::nullopt;
  const std::size_t n = matrix.cores.size();
  std::vector<std::size_t> order;
  if (tree) {
    for (const CoreName& core : tree->order) {
      const auto found = std::find(matrix.cores.begin(), matrix.cores.end(), core);
      if (found != matrix.cores.end()) {
        order.push_back(static_cast<std::size_t>(found - matrix.cores.begin()));
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  }
  std::vector<std::size_t> rows, columns;
  for (const std::size_t i : order) {
    bool row = false, column = false;
    for (std::size_t j = 0; j < n; ++j) {
      row = row || (i != j && matrix.at(i, j));
      column = column || (i != j && matrix.at(j, i));
    }
    if (row) rows.push_back(i);
    if (column) columns.push_back(i);
  }
  HeatMap map;
  std::map<CoreName, std::size_t> row_of, column_of;
  for (const std::size_t i : rows) {
    row_of[matrix.cores[i]] = map.rows.size();
    map.rows.push_back(matrix.cores[i].str());
  }
  for (const std::size_t j : columns) {
    column_of[matrix.cores[j]] = map.columns.size();
    map.columns.push_back(matrix.cores[j].str());
  }
  for (const std::size_t i : rows) {
    for (const std::size_t j : columns) map.cells.push_back(matrix.at(i, j));
  }
  if (!tree) return map;
  constexpr std::size_t kMostNamed = 12;  // more names would touch each other
  for (std::size_t level = 0; level < tree->levels.size(); ++level) {
    const auto& groups = tree->levels[level].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].size() < 2) continue;
      const auto row = run_of(groups[g], row_of);
      const auto column = run_of(groups[g], column_of);
      if (!row || !column) continue;
      HeatGroup group{row->first, row->second, column->first, column->second, ""};
      if (level == 0 && groups.size() <= kMostNamed) group.name = "group " + std::to_string(g + 1);
      map.groups.push_back(std::move(group));
    }
  }
  return map;
}

std::string order_sentence(const HeatMap& map, const std::optional<CoreTree>& tree) {
  if (!tree || tree->levels.empty()) {
    return tree && tree->none_found ? "The rows show no groups of cores, so the order says nothing."
                                    : "Cores in the device's order.";
  }
  std::string text = "Cores in the order of the inferred tree";
  if (!map.groups.empty()) {
    text += ", its groups outlined (";
    for (std::size_t i = 0; i < tree->levels.size(); ++i) {
      const std::size_t groups = tree->levels[i].groups.size();
      text += (i > 0 ? ", " : "") + tree->levels[i].name + ": " + std::to_string(groups) +
              (groups == 1 ? " group" : " groups");
    }
    text += ")";
  }
  return text + ".";
}

}  // namespace sonde
