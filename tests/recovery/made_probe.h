#pragma once

#include <vector>

#include "core/stored_run.h"

namespace sonde::truth {

/// Rows of a probe by their values in the order of the schema; what is left out at their end is
/// empty.
inline ProbeRows probe_of(const Schema& schema, const std::vector<std::vector<Cell>>& rows) {
  ProbeRows probe;
  probe.schema = &schema;
  probe.file = schema.probe + ".csv";
  probe.table.emplace(schema);
  std::int64_t repetition = 0;
  for (const std::vector<Cell>& cells : rows) {
    Row row;
    row.device = "made up";
    row.time_source = TimeSource::modelled;
    row.repetition = repetition++;
    row.values = cells;
    row.values.resize(schema.size());
    probe.table->rows.add(row);
  }
  return probe;
}

}  // namespace sonde::truth
