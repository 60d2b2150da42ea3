// sonde-interfere: how much a victim's loads slow down while sets of other cores work.
#include <algorithm>
#include <cmath>

#include "core/decide.h"
#include "core/parse.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "core/units.h"
#include "harness/probe.h"
#include "probes/pair_design.h"

namespace sonde {
namespace {

/// Loads of a warm victim: 16,384 loads of 100 ns are 1.6 ms, long against the barrier's start.
constexpr std::int64_t kWarmLoads = 16384;
/// Most random halves a victim: with 300 the membership of each of 131 others is told from the rest
/// (docs/measuring.md). A victim begins with kSubsetStep and gets as many more while one of its
/// coefficients is undecided.
constexpr std::int64_t kSubsets = 300;
constexpr std::int64_t kSubsetStep = 100;
constexpr std::int64_t kMostSubsets = 100'000;

class Interfere : public Probe {
 public:
  const Schema& schema() const override { return interfere_schema(); }
  std::string about() const override {
    return "Load latency (ns) of a victim core alone and beside aggressor cores that work: what\n"
           "slows it beyond the register control is shared.";
  }

  void add_options(CommandLine& line) override {
    line.choice("--design", design_, {"pairs", "subsets"},
                "pairs (most pairs of cores in one direction, then both where it is not clear that "
                "they share nothing) or subsets (beside random halves of all others, which shows "
                "sharing that one aggressor cannot saturate)");
    line.text("--aggressor", aggressor_text_,
              "works of the aggressors, e.g. register,load,store (default: all the device has; "
              "with --quick register and load)");
    line.text("--victim-work", victim_text_,
              "works of the victim, each beside each work of the aggressors (default: the "
              "aggressors' own where the device has it, else load)");
    line.text("--subsets", subsets_text_, "most random subsets a victim and work (default: 300)");
  }

  /// Other subsets tell more than the same one again.
  std::optional<std::int64_t> usual_repetitions() const override {
    return design_ == "subsets" ? 1 : kPairRepetitions;
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (device.cores.empty()) throw UsageError("--device: " + device.name + " has no usable core");
    const bool offered = !device.aggressor_works.empty();
    std::vector<std::string> works = device.aggressor_works;
    if (aggressor_text_) {
      std::vector<std::string> valid = works;
      valid.insert(valid.begin(), "none");
      works = parse_names(*aggressor_text_, "--aggressor", valid);
      std::erase(works, "none");  // each victim alone is always measured: it is the reference
    } else if (selection.quick) {
      std::erase_if(works, [](const std::string& w) { return w != "register" && w != "load"; });
    }
    subsets_ = kSubsets;
    if (subsets_text_) {
      if (design_ != "subsets") throw UsageError("--subsets: only with --design subsets");
      subsets_ = parse_one(*subsets_text_, "--subsets", false, 1, kMostSubsets);
    }
    const std::vector<CoreName> cores = selection.cores.value_or(device.cores);
    kinds_ = kinds_of(device, works);
    std::vector<std::string> victim_works;
    for (const Beside& kind : kinds_) add_once(victim_works, kind.victim_work);
    if (victim_works.empty()) victim_works = {"load"};
    std::vector<Point> points;
    for (const std::string& victim_work : victim_works) {
      for (const CoreName& victim : cores) {
        points.push_back(point_of(victim, {victim_work, "none"}, {}));
        if (!offered) points.back().skip = "this device has no contention engine";
      }
    }
    if (!offered) return points;
    const std::vector<Directed> first = first_pairs(cores.size(), selection.seed);
    for (const Beside& kind : kinds_) {
      if (design_ == "subsets") {
        for (std::size_t v = 0; v < cores.size(); ++v) {
          add_subsets(cores, v, kind, std::min(kSubsetStep, subsets_), selection.seed, points);
        }
      } else if (kind.work == "register") {
        const std::size_t most = std::min(kControls, cores.size() - 1);
        for (std::size_t v = 0; v < cores.size(); ++v) {
          for (std::size_t next = 1; next <= most; ++next) {
            points.push_back(point_of(cores[v], kind, {cores[(v + next) % cores.size()]}));
          }
        }
      } else {
        for (const auto& [victim, aggressor] : first) {
          points.push_back(point_of(cores[victim], kind, {cores[aggressor]}));
        }
      }
    }
    return points;
  }

  std::vector<Point> extend(const Selection& selection, const std::vector<Point>& points,
                            const std::vector<PointSamples>& samples) override {
    if (selection.device.aggressor_works.empty()) return {};
    const std::vector<CoreName> cores = selection.cores.value_or(selection.device.cores);
    return design_ == "subsets" ? more_subsets(cores, selection.seed, points, samples)
                                : more_pairs(cores, selection.seed, points, samples);
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all = {{"design", design_}};
    if (aggressor_text_) all["aggressor"] = *aggressor_text_;
    if (victim_text_) all["victim-work"] = *victim_text_;
    if (subsets_text_) all["subsets"] = *subsets_text_;
    return all;
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    const DeviceDescription& description = device.description();
    ContentionWork work;
    work.victim = parse_core_name(axis<std::string>(schema(), point, "victim"));
    work.victim_work = axis<std::string>(schema(), point, "victim_work");
    work.aggressors = parse_core_set(axis<std::string>(schema(), point, "aggressors"));
    work.aggressor_work = axis<std::string>(schema(), point, "aggressor_work");
    work.footprint_bytes = description.contention_bytes;
    // As in the chase: a cold launch reads its chain once.
    work.loads = description.cold_launches ? work.footprint_bytes / description.chase_line_bytes
                                           : kWarmLoads;
    work.seed = trial.seed;
    Sample sample = run_verified(device, device.contention(), "contention", work, trial);
    set(schema(), row, "footprint_bytes", work.footprint_bytes);
    set(schema(), row, "loads", work.loads);
    set(schema(), row, "latency_ns", nanoseconds(sample.elapsed) / static_cast<double>(work.loads));
    set(schema(), row, "background_operations", cell_of(sample.background_operations));
    return sample;
  }

 private:
  /// What a victim does beside what its aggressors do.
  struct Beside {
    std::string victim_work;
    std::string work;
    bool operator==(const Beside&) const = default;
  };

  static Point point_of(const CoreName& victim, const Beside& kind,
                        const std::vector<CoreName>& aggressors) {
    Point point;
    const std::string set = format_core_set(aggressors);
    point.axes = {victim.str(), kind.victim_work, set, kind.work};
    point.label = victim.str() + "/" + (kind.victim_work == "load" ? "" : kind.victim_work + "/") +
                  kind.work + "/" + set;
    point.estimate_s = 5e-3;  // two laps and the window on the host: for --dry-run only
    return point;
  }

  static void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  /// Each victim's work that was asked for beside each work of aggressors. Unasked, a victim does
  /// what its aggressors do where it can (what stores share shows in stores), else it loads; the
  /// control, which shares nothing, goes with each victim's work in use.
  std::vector<Beside> kinds_of(const DeviceDescription& device,
                               const std::vector<std::string>& works) const {
    std::vector<std::string> valid = device.victim_works;
    if (valid.empty()) valid = {"load"};
    std::vector<std::string> victim_works;
    std::map<std::string, std::string> beside;
    if (victim_text_) {
      victim_works = parse_names(*victim_text_, "--victim-work", valid);
    } else {
      for (const std::string& work : works) {
        if (work == "register") continue;
        const bool same = std::find(valid.begin(), valid.end(), work) != valid.end();
        beside[work] = same ? work : valid.front();
        add_once(victim_works, beside[work]);
      }
      if (victim_works.empty()) victim_works = {valid.front()};
    }
    std::vector<Beside> kinds;
    for (const std::string& work : works) {
      for (const std::string& victim_work : victim_works) {
        const auto chosen = beside.find(work);
        if (chosen == beside.end() || chosen->second == victim_work) {
          kinds.push_back({victim_work, work});
        }
      }
    }
    return kinds;
  }

  /// The first `count` random halves (rounded up) of the cores beside one victim: the same for
  /// every kind of work.
  static void add_subsets(const std::vector<CoreName>& cores, std::size_t victim,
                          const Beside& kind, std::int64_t count, std::uint64_t seed,
                          std::vector<Point>& points) {
    Rng rng(key_of({seed, victim}));
    for (std::int64_t s = 0; s < count; ++s) {
      std::vector<CoreName> others;
      for (std::size_t i = 0; i < cores.size(); ++i) {
        if (i != victim) others.push_back(cores[i]);
      }
      shuffle(others, rng);
      others.resize((others.size() + 1) / 2);
      points.push_back(point_of(cores[victim], kind, others));
    }
  }

  /// What was measured of one kind: logarithm of the latency of each point with samples.
  struct Measured {
    std::map<std::size_t, double> alone;  ///< by victim
    struct Launch {
      std::size_t victim;
      std::vector<std::size_t> aggressors;
      double log_latency;
    };
    std::vector<Launch> beside;
  };
  Measured measured(const Beside& kind, const std::vector<CoreName>& cores,
                    const std::vector<Point>& points,
                    const std::vector<PointSamples>& samples) const {
    std::map<CoreName, std::size_t> position;
    for (std::size_t i = 0; i < cores.size(); ++i) position[cores[i]] = i;
    Measured result;
    for (std::size_t p = 0; p < points.size(); ++p) {
      const auto text = [&](std::string_view name) {
        return axis<std::string>(schema(), points[p], name);
      };
      if (samples[p].elapsed_s.empty() || text("victim_work") != kind.victim_work) continue;
      // Every point of one kind takes as many loads: latencies are as their elapsed times.
      const double log_latency = std::log(*median(samples[p].elapsed_s));
      const std::size_t victim = position.at(parse_core_name(text("victim")));
      if (text("aggressor_work") == "none") {
        result.alone[victim] = log_latency;
      } else if (text("aggressor_work") == kind.work) {
        std::vector<std::size_t> aggressors;
        for (const CoreName& core : parse_core_set(text("aggressors"))) {
          aggressors.push_back(position.at(core));
        }
        result.beside.push_back({victim, std::move(aggressors), log_latency});
      }
    }
    return result;
  }

  std::vector<Point> more_pairs(const std::vector<CoreName>& cores, std::uint64_t seed,
                                const std::vector<Point>& points,
                                const std::vector<PointSamples>& samples) const {
    std::vector<Point> more;
    for (const Beside& kind : kinds_) {
      if (kind.work == "register") continue;
      PairLog log;
      const auto pairs_of = [&](const Measured& all) {
        std::vector<MeasuredPair> pairs;
        for (const auto& one : all.beside) {
          pairs.push_back({{one.victim, one.aggressors.front()}, one.log_latency});
        }
        return pairs;
      };
      const Measured beside = measured(kind, cores, points, samples);
      log.alone = beside.alone;
      log.beside = pairs_of(beside);
      log.controls = pairs_of(measured({kind.victim_work, "register"}, cores, points, samples));
      for (const auto& [victim, aggressor] : further_pairs(cores.size(), seed, log)) {
        more.push_back(point_of(cores[victim], kind, {cores[aggressor]}));
      }
    }
    return more;
  }

  /// Whether the latencies of one victim leave open which aggressors slow it: with and without
  /// each.
  static bool undecided(const std::vector<const Measured::Launch*>& launches, std::size_t cores) {
    std::vector<double> with(cores, 0), count(cores, 0);
    double sum = 0, squares = 0;
    for (const auto* launch : launches) {
      sum += launch->log_latency;
      squares += launch->log_latency * launch->log_latency;
      for (std::size_t core : launch->aggressors) {
        with[core] += launch->log_latency;
        ++count[core];
      }
    }
    const auto n = static_cast<double>(launches.size());
    const double variance = std::max(0.0, squares / n - sum / n * sum / n);
    for (std::size_t core = 0; core < cores; ++core) {
      if (count[core] == 0 || count[core] == n) continue;
      const double excess = with[core] / count[core] - (sum - with[core]) / (n - count[core]);
      const double error = std::sqrt(variance * (1 / count[core] + 1 / (n - count[core])));
      if (decide(excess, error, cores * (cores - 1)) == Decision::undecided) return true;
    }
    return false;
  }

  std::vector<Point> more_subsets(const std::vector<CoreName>& cores, std::uint64_t seed,
                                  const std::vector<Point>& points,
                                  const std::vector<PointSamples>& samples) const {
    std::vector<std::size_t> launched(cores.size(), 0);
    std::vector<bool> open(cores.size(), false);
    for (const Beside& kind : kinds_) {
      const Measured all = measured(kind, cores, points, samples);
      std::vector<std::vector<const Measured::Launch*>> of(cores.size());
      for (const auto& launch : all.beside) of[launch.victim].push_back(&launch);
      for (std::size_t v = 0; v < cores.size(); ++v) {
        launched[v] = std::max(launched[v], of[v].size());
        if (kind.work == "register" || of[v].empty()) continue;
        open[v] = open[v] || undecided(of[v], cores.size());
      }
    }
    std::vector<Point> more;
    for (const Beside& kind : kinds_) {  // the control goes with the others
      for (std::size_t v = 0; v < cores.size(); ++v) {
        const auto count = static_cast<std::int64_t>(launched[v]);
        if (!open[v] || count >= subsets_) continue;
        // Those that are there already are left out by the runner.
        add_subsets(cores, v, kind, std::min(count + kSubsetStep, subsets_), seed, more);
      }
    }
    return more;
  }

  std::string design_ = "pairs";
  std::optional<std::string> aggressor_text_;
  std::optional<std::string> victim_text_;
  std::optional<std::string> subsets_text_;
  std::vector<Beside> kinds_;
  std::int64_t subsets_ = kSubsets;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Interfere>(); }

}  // namespace sonde
