#include "core/schema.h"

namespace sonde {
namespace {

constexpr bool kRequired = true;
/// Times, rates and counts of work: a zero or less is damage or a fault of a clock, never a value.
constexpr bool kPositive = true;

/// What every probe may know of the device around a sample, and when the sample ended.
void add_conditions(std::vector<Column>& metrics) {
  metrics.push_back({"placement", CellType::text});  // cores that really ran, as a set
  metrics.push_back({"clock_mhz", CellType::number});
  metrics.push_back({"power_w", CellType::number});
  metrics.push_back({"temperature_c", CellType::number});
  metrics.push_back({"waited_s", CellType::number});  // measuring threads without their core
  metrics.push_back({"note", CellType::text});        // page kind or kernel really used
  metrics.push_back({"end_s", CellType::number});     // device time; a resume goes on from here
}

}  // namespace

const Schema& chase_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "chase", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {{"core", CellType::text, kRequired},
              {"blocks", CellType::integer, kRequired},
              {"footprint_bytes", CellType::integer, kRequired},
              {"state", CellType::text, kRequired}};  // warm: a lap before timing; cold: none
    s.metrics = {
        {"loads", CellType::integer, kRequired, kPositive},  // dependent loads a block, timed
        {"elapsed_s", CellType::number, kRequired, kPositive},
        {"latency_ns", CellType::number, kRequired, kPositive}};  // elapsed over loads
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const Schema& profile_schema() {
  static const Schema schema = [] {
    Schema s{
        .probe = "profile", .major = 1, .axes = {}, .metrics = {}, .extra_key = {"address_index"}};
    // A point is a core; the index is that of the sampled address, empty where none was reached.
    s.axes = {{"core", CellType::text, kRequired}, {"address_index", CellType::integer, kRequired}};
    s.metrics = {{"address_bytes", CellType::integer, kRequired},         // offset inside the chain
                 {"latency_ns", CellType::number, kRequired, kPositive},  // of one load
                 {"elapsed_s", CellType::number, kRequired, kPositive}};  // of the whole profile
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const Schema& interfere_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "interfere", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {{"victim", CellType::text, kRequired},
              {"victim_work", CellType::text, kRequired},
              {"aggressors", CellType::text, kRequired},       // a set; "none"
              {"aggressor_work", CellType::text, kRequired}};  // none, register, load, store, ...
    s.metrics = {{"footprint_bytes", CellType::integer, kRequired},
                 {"loads", CellType::integer, kRequired, kPositive},
                 {"elapsed_s", CellType::number, kRequired, kPositive},
                 {"latency_ns", CellType::number, kRequired, kPositive},
                 // least operations of any aggressor inside the victim's window
                 {"background_operations", CellType::integer}};
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const Schema& handoff_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "handoff", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {{"from", CellType::text, kRequired},
              {"to", CellType::text, kRequired},
              {"kind", CellType::text, kRequired}};                // read or write hand-off
    s.metrics = {{"address_index", CellType::integer, kRequired},  // which of several fresh lines
                 {"exchanges", CellType::integer, kRequired, kPositive},  // round trips timed
                 {"elapsed_s", CellType::number, kRequired, kPositive},
                 {"latency_ns", CellType::number, kRequired, kPositive},
                 {"counting", CellType::text, kRequired}};  // "one_way": half a round trip
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const Schema& stream_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "stream", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {{"cores", CellType::text, kRequired},             // a set
              {"kind", CellType::text, kRequired},              // read, write, copy, triad
              {"bytes", CellType::integer, kRequired},          // of one array of one core
              {"request_bytes", CellType::integer, kRequired},  // one access or request
              {"requests", CellType::integer, kRequired},       // a command
              {"addresses", CellType::text, kRequired},         // private or shared
              {"passes", CellType::integer, kRequired},         // over the same bytes
              {"store", CellType::text, kRequired},             // ordinary, nt, none
              {"tile_bytes", CellType::integer},                // moved at once; empty: one command
              {"buffers", CellType::integer},                   // tiles a core holds; empty: most
              {"pattern", CellType::text},                      // shared: same or staggered order
              {"reread", CellType::integer},                    // times each tile is read in turn
              {"alignment_bytes", CellType::integer}};          // empty: whole pages
    s.metrics = {{"moved_bytes", CellType::integer, kRequired, kPositive},
                 {"elapsed_s", CellType::number, kRequired, kPositive},
                 {"bandwidth_bytes_per_s", CellType::number, kRequired, kPositive},
                 {"counting", CellType::text, kRequired}};  // "each array once a pass and core"
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
        {"state", CellType::text, kRequired},  // warm: same buffers; rotated: beyond the cache
        {"cores", CellType::text},      // a set that shares the copy; empty: the device's way
        {"tunables", CellType::text}};  // what the C library was told; empty: nothing
    s.metrics = {{"elapsed_s", CellType::number, kRequired, kPositive},
                 {"bandwidth_bytes_per_s", CellType::number, kRequired, kPositive},
                 {"counting", CellType::text, kRequired},  // "once": bytes over time
                 {"store", CellType::text}};  // ordinary or nt; empty: the method's own choice
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const Schema& gemm_schema() {
  static const Schema schema = [] {
    Schema s{.probe = "gemm", .major = 1, .axes = {}, .metrics = {}, .extra_key = {}};
    s.axes = {{"m", CellType::integer, kRequired},
              {"n", CellType::integer, kRequired},
              {"k", CellType::integer, kRequired},
              {"dtype", CellType::text, kRequired},
              {"kernel", CellType::text, kRequired},
              {"label", CellType::text},      // model, layer and tensor-parallel degree, if known
              {"blocks", CellType::integer},  // most cores it may use; empty: the device's choice
              {"state", CellType::text},      // of the operands: rotated or warm; empty: unknown
              {"cores", CellType::text},      // the set asked for; empty: the device's choice
              {"role", CellType::text}};      // empty: a shape of the sweep; else roof, anchor/3
    s.metrics = {
        {"elapsed_s", CellType::number, kRequired, kPositive},
        {"flop", CellType::number, kRequired, kPositive},  // 2 m n k: useful work
        {"flop_per_s", CellType::number, kRequired, kPositive},
        {"least_bytes", CellType::number, kRequired, kPositive},  // A and B read, C written, once
        {"intensity_flop_per_byte", CellType::number, kRequired, kPositive},
        // busy inside elapsed, mean over the cores: memory to L1, L1 to L0, multiply, store
        {"mte2_busy_s", CellType::number},
        {"mte1_busy_s", CellType::number},
        {"cube_busy_s", CellType::number},
        {"fixpipe_busy_s", CellType::number}};
    add_conditions(s.metrics);
    return s;
  }();
  return schema;
}

const std::vector<const Schema*>& all_schemas() {
  static const std::vector<const Schema*> schemas = {
      &chase_schema(),  &profile_schema(), &interfere_schema(), &handoff_schema(),
      &stream_schema(), &copy_schema(),    &gemm_schema()};
  return schemas;
}

}  // namespace sonde
