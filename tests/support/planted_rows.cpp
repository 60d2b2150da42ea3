#include "tests/support/planted_rows.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace sonde::test {
namespace {

double normal(Rng& rng) { return static_cast<double>(rng.gaussian_q16()) / 65536; }

/// Neighbours correlate by 0.5.
double next(double level, Rng& rng) { return 0.5 * level + std::sqrt(0.75) * normal(rng); }

/// Time held back comes in stretches of rows.
class Episodes {
 public:
  bool in_one(Rng& rng) {
    if (left_ > 0) return --left_ >= 0;
    if (rng.below(150) == 0) left_ = 5 + static_cast<int>(rng.below(15));
    return false;
  }

 private:
  int left_ = 0;
};

struct State {
  std::vector<double> samples;
  double level = 0;
  int rows = 0;
  bool done = false;
};

double independent(Scatter scatter, Rng& rng) {
  switch (scatter) {
    case Scatter::heavy: {
      const double z = normal(rng);
      double squares = 0;
      for (int i = 0; i < 3; ++i) squares += std::pow(normal(rng), 2);
      return z / std::sqrt(squares / 3) / std::sqrt(3.0);
    }
    case Scatter::skewed:
      return -std::log(1 - rng.uniform()) - std::log(2.0);
    default:
      return normal(rng);
  }
}

void add_chase(PlantedRun& planted, const RowsPlan& plan, Rng& rng) {
  std::vector<PlantedPoint> points;
  const auto add = [&](const std::string& core, std::int64_t blocks, std::int64_t footprint,
                       const char* state, double ns) {
    constexpr double kLoads = 256;
    // A clock that belongs to the point: the population of points has 1500 MHz as its median.
    const double clock = 1500 + 20 * (2 * rng.uniform() - 1);
    points.push_back({{{"core", core},
                       {"blocks", blocks},
                       {"footprint_bytes", footprint},
                       {"state", std::string(state)},
                       {"loads", std::int64_t{256}},
                       {"clock_mhz", clock}},
                      ns * kLoads * 1e-9,
                      {},
                      {{"latency_ns", 1e9 / kLoads}}});
  };
  planted.truth["chase.clock_mhz.median"] = 1500;
  for (int core = 0; core < 12; ++core) {
    const double ns = 100 + rng.uniform() + (core == 11 && !plan.flat ? 10 : 0);
    add("cpu" + std::to_string(core), 1, 16384, "cold", ns);
    planted.truth["chase.latency_ns.core_cpu" + std::to_string(core)] = ns;
  }
  for (int blocks = 1; blocks <= 24; ++blocks) {
    const double ns = (blocks <= 12 || plan.flat ? 130 : 260) + blocks;
    add("cpu", blocks, 16384, "cold", ns);
    planted.truth["chase.latency_ns.blocks_" + std::to_string(blocks)] = ns;
  }
  planted.truth["chase.wave_blocks"] = 12;
  // Three levels with ways of an octave and two between them.
  const auto level = [&](double bytes) {
    const auto way = [&](double from, double to) {
      return std::clamp(std::log2(bytes / from) / std::log2(to / from), 0.0, 1.0);
    };
    if (plan.flat) return 90.0;
    return 5 * std::pow(4, way(32 << 10, 64 << 10)) * std::pow(4.5, way(2 << 20, 8 << 20));
  };
  for (int step = 0; step <= 28; ++step) {
    const auto bytes = static_cast<std::int64_t>(std::exp2(12 + step / 2.0) / 64) * 64;
    add("cpu0", 1, bytes, "warm", level(static_cast<double>(bytes)));
  }
  planted.truth["chase.level_1.latency_ns"] = 5;
  planted.truth["chase.level_1.capacity_bytes"] = 32 << 10;
  planted.truth["chase.level_2.latency_ns"] = 20;
  planted.truth["chase.level_2.capacity_bytes"] = 2 << 20;
  planted.truth["chase.level_3.latency_ns"] = 90;
  planted.run.probes.push_back(planted_rows(chase_schema(), points, plan));
}

void add_streams(PlantedRun& planted, const RowsPlan& plan, Rng& rng) {
  std::vector<PlantedPoint> points;
  // All alike, some alike, or one best: what is largest was chosen among so many.
  constexpr double kApart[] = {0, 0.003, 0.05};
  for (const char* kind : {"read", "write"}) {
    const double apart = kApart[rng.below(3)];
    for (int n = 0; n < 8; ++n) {
      constexpr std::int64_t kBytes = 64 << 20;
      const double rate = 1e11 * (1 - apart * n);
      const double moved = static_cast<double>(kBytes) * (n + 1);
      points.push_back({{{"cores", n == 0 ? "cpu0" : "cpu0-" + std::to_string(n)},
                         {"kind", std::string(kind)},
                         {"bytes", kBytes},
                         {"request_bytes", std::int64_t{64}},
                         {"requests", std::int64_t{1}},
                         {"addresses", std::string("private")},
                         {"passes", std::int64_t{1}},
                         {"store", std::string("none")}},
                        moved / rate,
                        {{"bandwidth_bytes_per_s", moved}},
                        {}});
    }
    for (const char* what : {"peak", "memory", "core"}) {
      planted.truth[std::string("stream.") + what + "_bytes_per_s." + kind] = 1e11;
    }
  }
  planted.run.probes.push_back(planted_rows(stream_schema(), points, plan));
}

void add_handoffs(PlantedRun& planted, const RowsPlan& plan, Rng& rng) {
  std::vector<PlantedPoint> points;
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) {
      if (a == b) continue;
      const double ns = 60 + 3 * normal(rng);
      points.push_back({{{"from", "cpu" + std::to_string(a)},
                         {"to", "cpu" + std::to_string(b)},
                         {"kind", std::string("read")},
                         {"address_index", std::int64_t{0}},
                         {"exchanges", std::int64_t{1000}}},
                        ns * 2000e-9,
                        {},
                        {{"latency_ns", 1e9 / 2000}}});
    }
  }
  planted.truth["handoff.latency_ns.read.median"] = 60;
  planted.run.probes.push_back(planted_rows(handoff_schema(), points, plan));
}

void add_gemms(PlantedRun& planted, const RowsPlan& plan, Rng& rng) {
  constexpr double kPeak = 4e14, kBandwidth = 1.6e12;
  planted.run.manifest.device.roofs = {{"bf16_flop_per_s", kPeak, "planted"},
                                       {"memory_bytes_per_s", kBandwidth, "planted"}};
  std::vector<PlantedPoint> points;
  double best = 0, fastest = 0;
  const char* layers[] = {"qkv", "up", "down"};
  for (int i = 0; i < 60; ++i) {
    const std::int64_t m = i % 2 == 0 ? 64 : 2048;
    const auto n = static_cast<std::int64_t>(128 * (8 + rng.below(64)));
    const auto k = static_cast<std::int64_t>(128 * (8 + rng.below(64))) + i;  // each its own shape
    const auto mm = static_cast<double>(m), nn = static_cast<double>(n),
               kk = static_cast<double>(k);
    const double flop = 2 * mm * nn * kk, bytes = 2 * (mm * kk + kk * nn + mm * nn);
    const double fraction = 0.6 + 0.3 * rng.uniform();
    const double rate = fraction * std::min(kPeak, flop / bytes * kBandwidth);
    best = std::max(best, fraction);
    fastest = std::max(fastest, rate);
    points.push_back({{{"m", m},
                       {"n", n},
                       {"k", k},
                       {"dtype", std::string("bf16")},
                       {"kernel", std::string("auto")},
                       {"label", "Model " + std::string(layers[rng.below(3)]) + " tp1"},
                       {"flop", flop},
                       {"least_bytes", bytes},
                       {"intensity_flop_per_byte", flop / bytes},
                       {"clock_mhz", 1500 + 20 * (2 * rng.uniform() - 1)},
                       {"power_w", 500 + 30 * (2 * rng.uniform() - 1)}},
                      flop / rate,
                      {{"flop_per_s", flop}},
                      {}});
  }
  auto& truth = planted.truth;
  for (const char* name :
       {"fraction.mean", "fraction.median", "below_ridge.median", "above_ridge.median",
        "below_236.median", "by_m.64.median", "by_m.2048.median", "by_layer.qkv.median",
        "by_layer.up.median", "by_layer.down.median", "by_model.Model.median"}) {
    truth[std::string("gemm.") + name + ".datasheet"] = 0.75;
  }
  // The fraction does not depend on the shape: one over the mean of its inverse, 0.3 / ln 1.5.
  truth["gemm.fraction.time_weighted.datasheet"] = 0.3 / std::log(1.5);
  truth["gemm.best.datasheet"] = best;
  truth["gemm.peak_flop_per_s"] = fastest;
  truth["gemm.ridge_flop_per_byte"] = fastest / 1e11;
  truth["gemm.power_w.median"] = truth["gemm.power_w.above_ridge.median"] = 500;
  truth["gemm.clock_mhz.median"] = truth["gemm.clock_mhz.above_ridge.median"] = 1500;
  planted.run.probes.push_back(planted_rows(gemm_schema(), points, plan));
}

}  // namespace

const char* to_string(Scatter scatter) {
  switch (scatter) {
    case Scatter::normal:
      return "normal";
    case Scatter::heavy:
      return "heavy";
    case Scatter::skewed:
      return "skewed";
    case Scatter::outliers:
      return "outliers";
    case Scatter::drift:
      return "drift";
    case Scatter::shared_drift:
      return "shared drift";
    case Scatter::episodes:
      return "episodes";
  }
  return "";
}

ProbeRows planted_rows(const Schema& schema, const std::vector<PlantedPoint>& points,
                       const RowsPlan& plan) {
  ProbeRows rows{&schema, schema.probe + ".csv", Table(schema), {}};
  Rng rng(key_of({plan.seed, schema.size(), 77}));
  std::vector<State> states(points.size());
  for (State& state : states) state.level = normal(rng);
  double way = normal(rng);
  Episodes episodes;
  std::int64_t order = 0;
  for (std::int64_t round = 0; round < kMostSamples; ++round) {
    std::vector<std::size_t> turn;
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (!states[p].done) turn.push_back(p);
    }
    if (turn.empty()) break;
    shuffle(turn, rng);
    way = next(way, rng);
    for (const std::size_t p : turn) {
      State& state = states[p];
      double error = independent(plan.scatter, rng);
      if (plan.scatter == Scatter::drift) error = state.level = next(state.level, rng);
      if (plan.scatter == Scatter::shared_drift) error = way;
      double time = points[p].elapsed_s * std::max(0.05, 1 + plan.deviation * error);
      if (plan.scatter == Scatter::outliers && rng.uniform() < 0.03) time *= 1.3;
      const bool held = plan.scatter == Scatter::episodes && episodes.in_one(rng);
      if (held) time *= 1.25;
      Row row;
      row.device = "host";
      row.point = static_cast<std::int64_t>(p);
      row.repetition = round;
      row.order = order;
      row.start_s = static_cast<double>(order++);
      if (held) {
        row.status = Status::throttled;
        row.reason = "held back";
      }
      row.values.resize(schema.size());
      for (const auto& [name, cell] : points[p].cells) row.values[schema.index(name)] = cell;
      row.values[schema.index("elapsed_s")] = time;
      for (const auto& [name, work] : points[p].rates) row.values[schema.index(name)] = work / time;
      for (const auto& [name, by] : points[p].shares) row.values[schema.index(name)] = by * time;
      if (row.status == Status::ok) state.samples.push_back(time);
      ++state.rows;
      rows.table->rows.add(row);
      state.done = plan.samples > 0 ? state.rows >= plan.samples
                                    : state.rows >= kMostSamples ||
                                          decide_stop(state.samples, 0.05) != Stop::more;
    }
  }
  return rows;
}

PlantedRun planted_run(const RowsPlan& plan) {
  PlantedRun planted;
  planted.run.name = "planted";
  Manifest& manifest = planted.run.manifest;
  manifest.seed = plan.seed;
  manifest.device.name = "host";
  manifest.device.places_blocks = true;
  manifest.device.chase_footprint_bytes = 16384;
  for (int core = 0; core < 12; ++core) manifest.device.cores.push_back({"cpu", core});
  manifest.device.memory = {{"L2", std::int64_t{1} << 20, std::int64_t{64}, std::int64_t{1}},
                            {"memory", std::nullopt, std::int64_t{64}}};
  for (const char* probe : {"chase", "handoff", "stream", "gemm"}) {
    manifest.steps.push_back({probe, {}, "complete", plan.samples == 0, ""});
  }
  Rng rng(key_of({plan.seed, 5}));
  add_chase(planted, plan, rng);
  add_handoffs(planted, plan, rng);
  // Without a measured bandwidth the datasheet's roofs are the main ones.
  if (plan.seed % 2 == 0) add_streams(planted, plan, rng);
  if (plan.gemms) add_gemms(planted, plan, rng);
  return planted;
}

std::string kind_of_finding(const std::string& name) {
  std::string kind = name;
  for (const char* part : {".core_", ".blocks_", ".by_m.", ".by_layer.", ".by_model.", ".level_",
                           ".core_bytes", ".peak_bytes", ".memory_bytes"}) {
    const std::size_t at = kind.find(part);
    if (at == std::string::npos) continue;
    const std::string tail = part;
    if (tail == ".level_")
      return kind.find("latency") != std::string::npos ? "chase.level.latency_ns"
                                                       : "chase.level.capacity_bytes";
    if (tail.ends_with("_bytes")) return kind.substr(0, kind.rfind('.'));
    kind = kind.substr(0, at) + tail.substr(0, tail.size() - 1);
  }
  return kind;
}

}  // namespace sonde::test
