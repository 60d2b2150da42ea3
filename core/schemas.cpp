#include "core/schema.h"

namespace sonde {
namespace {

constexpr bool kRequired = true;

/// What every probe may know of the device around a sample, and when the sample ended.
void add_conditions(std::vector<Column>& metrics) {
  metrics.push_back({"placement", CellType::text});  // cores that really ran, as a set
  metrics.push_back({"clock_mhz", CellType::number});
  metrics.push_back({"power_w", CellType::number});
  metrics.push_back({"temperature_c", CellType::number});
  metrics.push_back({"note", CellType::text});     // page kind or kernel really used
  metrics.push_back({"end_s", CellType::number});  // device time; a resume goes on from here
}

}  // namespace

const Schema& chase_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "chase", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {{"core", CellType::text, kRequired},
              {"blocks", CellType::integer, kRequired},
              {"footprint_bytes", CellType::integer, kRequired},
              {"state", CellType::text, kRequired}};       // warm: a lap before timing; cold: none
    s.metrics = {{"loads", CellType::integer, kRequired},  // dependent loads a block, timed
                 {"elapsed_s", CellType::number, kRequired},
                 {"latency_ns", CellType::number, kRequired}};  // elapsed over loads
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const Schema& copy_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "copy", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {
        {"direction", CellType::text, kRequired},
        {"method", CellType::text, kRequired},
        {"bytes", CellType::integer, kRequired},
        {"alignment_bytes", CellType::integer, kRequired},
        {"state", CellType::text, kRequired}};  // warm: same buffers; rotated: beyond the cache
    s.metrics = {{"elapsed_s", CellType::number, kRequired},
                 {"bandwidth_bytes_per_s", CellType::number, kRequired},
                 {"counting", CellType::text, kRequired}};  // "once": bytes over time
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

}  // namespace sonde
