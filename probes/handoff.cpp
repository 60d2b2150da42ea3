// sonde-handoff: latency of handing one cache line from core to core.
#include "core/parse.h"
#include "core/units.h"
#include "harness/probe.h"

namespace sonde {
namespace {

/// 1,000 round trips of about 280 ns are 0.3 ms: long against the clock, short against a time
/// slice.
constexpr std::int64_t kExchanges = 1000;
/// Repetitions go through so many lines: one line's home slice would bias the whole matrix.
constexpr std::int64_t kLines = 16;

/// Ordered pairs that one plan may hold of a kind: they grow with the square of the cores. The 17
/// million of 4,096 cores would take hours, at a millisecond each, and minutes only to be planned.
constexpr std::size_t kMostPairs = 500'000;

/// As many cores as give no more pairs, evenly spread.
std::vector<CoreName> few_enough(const std::vector<CoreName>& cores) {
  std::size_t most = cores.size();
  while (most * (most - 1) > kMostPairs) --most;
  std::vector<CoreName> chosen;
  for (std::size_t i = 0; i < most; ++i) chosen.push_back(cores[i * cores.size() / most]);
  return chosen;
}

class Handoff : public Probe {
 public:
  const Schema& schema() const override { return handoff_schema(); }
  std::string about() const override {
    return "Latency (ns, one way: half a round trip) of handing a cache line from one core to\n"
           "another. read: a modified line moves to a reader; write: its ownership moves.";
  }

  void add_options(CommandLine& line) override {
    line.text("--kind", kind_text_, "read, write or read,write (default: all the device has)");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (device.cores.empty()) throw UsageError("--device: " + device.name + " has no usable core");
    const bool offered = !device.handoff_kinds.empty();
    std::vector<std::string> kinds = device.handoff_kinds;
    if (!offered) kinds = {"read", "write"};
    if (kind_text_) kinds = parse_names(*kind_text_, "--kind", kinds);
    const std::vector<CoreName> all = selection.cores.value_or(device.cores);
    const std::vector<CoreName> cores = all.empty() ? all : few_enough(all);
    std::vector<Point> points;
    const auto add = [&](const CoreName& from, const CoreName& to, const std::string& kind,
                         const std::string& skip) {
      Point point;
      point.axes = {from.str(), to.str(), kind};
      point.label = from.str() + "/" + to.str() + "/" + kind;
      point.skip = skip;
      point.estimate_s = 1e-3;
      points.push_back(std::move(point));
    };
    for (const std::string& kind : kinds) {
      if (!offered) {
        add(cores.front(), cores.back(), kind, "this device has no hand-off engine");
        continue;
      }
      if (cores.size() < all.size()) {
        add(all.front(), all.front(), kind,
            "pairs of " + format_count(static_cast<std::int64_t>(all.size())) +
                " cores are too many: " + format_count(static_cast<std::int64_t>(cores.size())) +
                " cores, evenly spread, are taken; --cores names others");
      }
      if (cores.size() < 2) add(cores.front(), cores.front(), kind, "a hand-off needs two cores");
      for (const CoreName& from : cores) {
        for (const CoreName& to : cores) {
          if (from != to) add(from, to, kind, "");
        }
      }
    }
    return points;
  }

  std::map<std::string, std::string> options() const override {
    if (!kind_text_) return {};
    return {{"kind", *kind_text_}};
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    HandoffWork work;
    work.from = parse_core_name(axis<std::string>(schema(), point, "from"));
    work.to = parse_core_name(axis<std::string>(schema(), point, "to"));
    work.kind = axis<std::string>(schema(), point, "kind");
    work.exchanges = kExchanges;
    work.address_index = trial.repetition % kLines;
    work.seed = trial.seed;
    Sample sample = run_verified(device, device.handoff(), "hand-off", work, trial);
    set(schema(), row, "address_index", work.address_index);
    set(schema(), row, "exchanges", work.exchanges);
    set(schema(), row, "latency_ns",
        nanoseconds(sample.elapsed) / static_cast<double>(2 * work.exchanges));
    set(schema(), row, "counting", "one_way");
    return sample;
  }

 private:
  std::optional<std::string> kind_text_;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Handoff>(); }

}  // namespace sonde
