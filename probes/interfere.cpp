// sonde-interfere: how much a victim's loads slow down while sets of other cores work.
#include <algorithm>

#include "core/parse.h"
#include "core/rng.h"
#include "core/units.h"
#include "harness/probe.h"

namespace sonde {
namespace {

/// Loads of a warm victim: 16,384 loads of 100 ns are 1.6 ms, long against the barrier's start.
constexpr std::int64_t kWarmLoads = 16384;
/// Random halves a victim: with 300 the membership of each of 131 others is told from the rest
/// (docs/measuring.md).
constexpr std::int64_t kSubsets = 300;
constexpr std::int64_t kMostSubsets = 100'000;
/// A quick run takes the register control of each victim against so many cores numbered next: cores
/// that are numbered together are the likeliest to share something.
constexpr std::size_t kQuickControls = 4;

class Interfere : public Probe {
 public:
  const Schema& schema() const override { return interfere_schema(); }
  std::string about() const override {
    return "Load latency (ns) of a victim core alone and beside aggressor cores that work: what\n"
           "slows it beyond the register control is shared.";
  }

  void add_options(CommandLine& line) override {
    line.choice("--design", design_, {"pairs", "subsets"},
                "pairs (each core beside each other one) or subsets (beside random halves of all "
                "others, which shows sharing that one aggressor cannot saturate)");
    line.text("--aggressor", aggressor_text_,
              "works of the aggressors, e.g. register,load,store (default: all the device has; "
              "with --quick load, and a sample of register)");
    line.text("--victim-work", victim_text_,
              "works of the victim, each beside each work of the aggressors (default: the "
              "aggressors' own where the device has it, else load)");
    line.text("--subsets", subsets_text_, "random subsets a victim and work (default: 300)");
  }

  /// Other subsets tell more than the same one again.
  std::optional<std::int64_t> usual_repetitions() const override {
    return design_ == "subsets" ? std::optional<std::int64_t>(1) : std::nullopt;
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (device.cores.empty()) throw UsageError("--device: " + device.name + " has no usable core");
    const bool offered = !device.aggressor_works.empty();
    std::vector<std::string> works = device.aggressor_works;
    const bool sampled_control = selection.quick && !aggressor_text_ && design_ == "pairs";
    if (aggressor_text_) {
      std::vector<std::string> valid = works;
      valid.insert(valid.begin(), "none");
      works = parse_names(*aggressor_text_, "--aggressor", valid);
      std::erase(works, "none");  // each victim alone is always measured: it is the reference
    } else if (selection.quick) {
      std::erase_if(works, [](const std::string& w) { return w != "register" && w != "load"; });
    }
    std::int64_t subsets = kSubsets;
    if (subsets_text_) {
      if (design_ != "subsets") throw UsageError("--subsets: only with --design subsets");
      subsets = parse_one(*subsets_text_, "--subsets", false, 1, kMostSubsets);
    }
    const std::vector<CoreName> cores = selection.cores.value_or(device.cores);
    std::vector<Point> points;
    const auto add = [&](const CoreName& victim, const std::string& victim_work,
                         const std::vector<CoreName>& aggressors, const std::string& work) {
      Point point;
      const std::string set = format_core_set(aggressors);
      point.axes = {victim.str(), victim_work, set, work};
      point.label =
          victim.str() + "/" + (victim_work == "load" ? "" : victim_work + "/") + work + "/" + set;
      if (!offered) point.skip = "this device has no contention engine";
      point.estimate_s = 5e-3;  // two laps and the window on the host: for --dry-run only
      points.push_back(std::move(point));
    };
    const std::vector<Beside> kinds = kinds_of(device, works);
    std::vector<std::string> victim_works;
    for (const Beside& kind : kinds) add_once(victim_works, kind.victim_work);
    if (victim_works.empty()) victim_works = {"load"};
    for (const std::string& victim_work : victim_works) {
      for (const CoreName& victim : cores) add(victim, victim_work, {}, "none");
    }
    if (!offered) return points;
    for (const auto& [victim_work, work] : kinds) {
      for (std::size_t v = 0; v < cores.size(); ++v) {
        if (design_ == "subsets") {
          Rng rng(key_of({selection.seed, v}));  // the same subsets for every work
          for (std::int64_t s = 0; s < subsets; ++s)
            add(cores[v], victim_work, random_half(cores, v, rng), work);
          continue;
        }
        const std::size_t most = sampled_control && work == "register"
                                     ? std::min(kQuickControls, cores.size() - 1)
                                     : cores.size() - 1;
        for (std::size_t next = 1; next <= most; ++next) {
          add(cores[v], victim_work, {cores[(v + next) % cores.size()]}, work);
        }
      }
    }
    return points;
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
    const Sample sample = run_verified(device, device.contention(), "contention", work, trial);
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
  };

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

  /// Half of the other cores, rounded up.
  static std::vector<CoreName> random_half(const std::vector<CoreName>& cores, std::size_t victim,
                                           Rng& rng) {
    std::vector<CoreName> others;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      if (i != victim) others.push_back(cores[i]);
    }
    shuffle(others, rng);
    others.resize((others.size() + 1) / 2);
    return others;
  }

  std::string design_ = "pairs";
  std::optional<std::string> aggressor_text_;
  std::optional<std::string> victim_text_;
  std::optional<std::string> subsets_text_;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Interfere>(); }

}  // namespace sonde
