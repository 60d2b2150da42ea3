#include "device/sim/random_chip.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/rng.h"

namespace sonde::sim {

namespace {

constexpr const char* kRandomBase = "950pr_9579";
constexpr std::int64_t kFewestCores = 8;
constexpr std::int64_t kMostCores = 1024;
constexpr std::int64_t kMostChannels = 256;
constexpr std::int64_t kMostStops = 32;  // of the ring of one die
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Whole numbers of a range.
class Draw {
 public:
  explicit Draw(std::uint64_t key) : rng_(key) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  /// Each as likely as any other in proportion to its own size: a drawn one is accepted with
  /// probability low / n.
  std::int64_t log_uniform(std::int64_t low, std::int64_t high) {
    while (true) {
      const std::int64_t n = between(low, high);
      if (between(1, n) <= low) return n;
    }
  }
  std::int64_t power_of_two(int low, int high) { return std::int64_t{1} << between(low, high); }

 private:
  Rng rng_;
};

/// Where cores sit and what they share.
struct Layout {
  std::int64_t dies = 1;
  std::int64_t group_subsystems = 1;
  std::vector<std::vector<std::int64_t>> working;  ///< as in a chip file
  std::int64_t cubes = 0;
  std::int64_t vectors = 1;
  bool shared_port = false;  ///< of a group
};

/// Takes subsystems away until `subsystems` are left; on half of the chips whole groups first.
void harvest(Layout& layout, std::int64_t subsystems, Draw& draw) {
  std::int64_t left = 0;
  for (const auto& die : layout.working) {
    left += static_cast<std::int64_t>(die.size()) * layout.group_subsystems;
  }
  const bool whole_groups = draw.one_in(2);
  while (left > subsystems) {
    auto& die = layout.working[static_cast<std::size_t>(draw.between(0, layout.dies - 1))];
    auto& group =
        die[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(die.size()) - 1))];
    std::int64_t on_die = 0;
    for (std::int64_t n : die) on_die += n;
    const bool whole = whole_groups && group < on_die && left - group >= subsystems;
    const std::int64_t taken = std::min<std::int64_t>(group, whole ? group : 1);
    if (taken == 0 || taken == on_die) continue;  // a die keeps at least one
    group -= taken;
    left -= taken;
  }
}

Layout structured(std::int64_t cores, Draw& draw) {
  Layout layout;
  layout.dies = draw.between(1, std::min<std::int64_t>(8, cores / 4));
  layout.shared_port = !draw.one_in(4);
  layout.group_subsystems = layout.shared_port ? draw.between(2, 6) : 1;
  layout.vectors = draw.between(1, 3);
  layout.cubes = draw.between(0, 2);
  // Something is planted.
  if (!layout.shared_port && layout.vectors + layout.cubes == 1) layout.vectors = 2;
  const std::int64_t each = layout.vectors + layout.cubes;
  const std::int64_t subsystems = std::clamp(
      cores / each, std::max(layout.dies, divide_up(kFewestCores, each)), kMostCores / each);
  const std::int64_t places =
      divide_up(subsystems, layout.dies * layout.group_subsystems) + draw.between(0, 2);
  layout.working.assign(
      static_cast<std::size_t>(layout.dies),
      std::vector<std::int64_t>(static_cast<std::size_t>(places), layout.group_subsystems));
  harvest(layout, subsystems, draw);
  return layout;
}

/// One die of subsystems of one core, each with ports of its own.
Layout structureless(std::int64_t cores) {
  Layout layout;
  layout.working = {std::vector<std::int64_t>(static_cast<std::size_t>(cores), 1)};
  return layout;
}

/// The text of a chip file, value by value.
class ChipText {
 public:
  ChipText(const std::string& base, std::string source) : source_(std::move(source)) {
    text_ = "base = \"" + base + "\"\n";
  }

  void section(const std::string& name) { text_ += "\n[" + name + "]\n"; }
  void raw(const std::string& key, const std::string& value, const std::string& unit) {
    text_ += key + " = { value = " + value + ", unit = \"" + unit + "\", source = \"" + source_ +
             "\", confidence = \"guess\" }\n";
  }
  void whole(const std::string& key, std::int64_t value, const std::string& unit) {
    raw(key, std::to_string(value), unit);
  }
  /// `value` in thousandths of the unit.
  void thousandths(const std::string& key, std::int64_t value, const std::string& unit) {
    raw(key, std::to_string(value / 1000) + "." + std::to_string(1000 + value % 1000).substr(1),
        unit);
  }
  void note(const std::string& text) { text_ += "# " + text + "\n"; }
  const std::string& text() const { return text_; }

 private:
  std::string source_;
  std::string text_;
};

std::string lists(const std::vector<std::vector<std::int64_t>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    std::string inner;
    for (std::int64_t n : row) inner += (inner.empty() ? "" : ", ") + std::to_string(n);
    text += (text.empty() ? "[" : ", [") + inner + "]";
  }
  return "[" + text + "]";
}

void draw_structure(ChipText& out, const Layout& layout) {
  out.section("structure");
  out.whole("dies", layout.dies, "count");
  out.whole("group_subsystems", layout.group_subsystems, "count");
  out.raw("working_subsystems", lists(layout.working), "count");
  out.raw("subsystem_ids", "\"die_by_die\"", "name");
  out.whole("cubes_per_subsystem", layout.cubes, "count");
  out.whole("vectors_per_subsystem", layout.vectors, "count");
}

/// Latencies in picoseconds, as drawn.
struct Ways {
  std::int64_t l2_near = 0;
  std::int64_t die_hop = 0;
  std::int64_t half_ring = 0;  ///< from a stop to the one opposite
  std::int64_t hbm_near = 0;
};

Ways draw_ways(const Layout& layout, bool ring, Draw& draw) {
  Ways ways;
  ways.l2_near = draw.between(60'000, 220'000);
  // A hop on five of six chips with dies: 5 % of the near latency to nearly half of it.
  const bool hop = layout.dies > 1 && !draw.one_in(6);
  if (hop) ways.die_hop = draw.between(ways.l2_near / 20, ways.l2_near * 9 / 20);
  // Without a hop places on different dies would look alike where their stops have one number.
  if (ring && (hop || layout.dies == 1) && draw.one_in(2)) {
    ways.half_ring = draw.between(ways.l2_near / 100, ways.l2_near / 10);
  }
  ways.hbm_near = ways.l2_near + ways.die_hop + draw.between(80'000, 300'000);
  return ways;
}

struct Rates {
  std::int64_t clock_mhz = 0;
  std::int64_t subsystem = 0;  ///< bytes a cycle
};

void draw_memory(ChipText& out, const Layout& layout, const Ways& ways, const Rates& rates,
                 std::int64_t channels, Draw& draw) {
  const std::int64_t line = draw.power_of_two(6, 7);
  const std::int64_t slice = draw.between(1, 16) * (kMiB / 2);
  out.section("data_cache");
  out.whole("capacity", draw.power_of_two(13, 17), "B");
  out.whole("line", line, "B");
  out.whole("ways", draw.power_of_two(1, 3), "count");
  out.whole("hit", draw.between(4, 40), "cycles");
  out.section("memory");
  out.whole("channels", channels, "count");
  out.whole("interleave", draw.power_of_two(7, 12), "B");
  out.section("l2");
  out.whole("slice_capacity", slice, "B");
  out.whole("line", 128, "B");
  out.whole("ways", draw.power_of_two(3, 5), "count");
  out.thousandths("near", ways.l2_near, "ns");
  out.thousandths("far", ways.l2_near + ways.die_hop, "ns");
  out.section("hbm");
  out.whole("capacity", draw.between(2, 24) * 8, "GiB");
  out.thousandths("channel_rate", draw.log_uniform(200, 8000) * 1000 / channels, "GB/s");
  out.thousandths("near", ways.hbm_near, "ns");
  out.thousandths("far", ways.hbm_near + ways.die_hop, "ns");
  out.whole("piece_cost", draw.between(0, 64), "B");
  out.whole("mixed_share", draw.between(70, 100), "%");
  out.section("noc");
  const std::int64_t stops = channels / layout.dies;
  out.thousandths("hop", stops < 2 ? 0 : ways.half_ring / (stops / 2), "ns");
  out.whole("slice_rate", draw.between(32, 256), "B/cycle");
  // A chain that the L2 holds at least in part: half of it to twice it, 16 to 128 MiB.
  std::int64_t chain = 16 * kMiB;
  while (chain < channels * slice && chain < 128 * kMiB) chain *= 2;
  out.section("profile");
  out.whole("chain", chain, "B");

  out.section("subsystem_port");
  out.whole("rate", rates.subsystem, "B/cycle");
  out.section("group_port");
  // A port of its own is never waited for; a shared one takes half of its subsystems' rate or more.
  out.whole("servers", 1, "count");
  out.thousandths("service",
                  layout.shared_port ? draw.between(ways.l2_near / 20, ways.l2_near / 3) : 100,
                  "ns");
  const std::int64_t all = rates.subsystem * layout.group_subsystems;
  out.whole("rate",
            layout.shared_port ? draw.between(std::max(rates.subsystem, all / 2), all) : 65536,
            "B/cycle");
  out.whole("grant", draw.power_of_two(12, 15), "B");
  out.section("mte");
  // What is in flight lets one core use 60 to 100 % of its port at the far latency of the HBM.
  const std::int64_t bytes_a_us = rates.subsystem * rates.clock_mhz;
  out.whole("in_flight",
            bytes_a_us * (ways.hbm_near + ways.die_hop) / 1'000'000 * draw.between(60, 100) / 100,
            "B");
  out.whole("issue", draw.between(10, 60), "cycles");
  out.whole("startup", draw.between(20, 200), "cycles");
  out.whole("l2_write_rate", draw.between(16, 64), "B/cycle");
  out.whole("memory_write_rate", draw.between(16, 64), "B/cycle");
}

void draw_launches_and_copies(ChipText& out, Draw& draw) {
  out.section("launch");
  out.thousandths("kernel", draw.between(500, 5000), "us");
  out.thousandths("operator_call", draw.between(1000, 8000), "us");
  out.section("scheduler");
  out.thousandths("wave_cost", draw.between(2000, 40'000), "us");
  // Without a switch every copy is a kernel's.
  out.section("copy");
  out.whole("switch", draw.one_in(3) ? 0 : draw.log_uniform(32'768, 4'194'304), "B");
  out.section("sdma");
  out.thousandths("fixed", draw.between(500, 4000), "us");
  out.whole("queues", draw.between(1, 8), "count");
  out.whole("queue_rate", draw.between(50, 300), "GB/s");
  out.section("tensor_move");
  out.thousandths("fixed", draw.between(3000, 10'000), "us");
}

void draw_noise(ChipText& out, Draw& draw) {
  out.section("noise");
  out.thousandths("load_spread", draw.between(300, 3000), "%");
  out.thousandths("launch_spread", draw.between(300, 2000), "%");
  out.thousandths("long_spread", draw.between(100, 500), "%");
  out.whole("tail_one_in", draw.between(50, 1000), "count");
  out.whole("tail_rise", draw.between(5, 50), "%");
}

Chip::Scatter draw_scatter(std::uint64_t key, bool planted, const Ways& ways, Draw& draw) {
  Chip::Scatter scatter;
  scatter.key = key;
  scatter.shuffled_ids = true;
  if (draw.one_in(2)) scatter.core_offset = draw.between(0, ways.l2_near / 10);
  if (!planted && draw.one_in(2)) {
    scatter.gradient = draw.between(ways.l2_near / 50, ways.l2_near / 4);
  }
  // Most often where nothing is planted: what changes in time must not be taken for a place.
  if (draw.one_in(planted ? 4 : 2)) {
    scatter.drift_ppm = draw.between(1000, 20'000);
    scatter.drift_period = draw.log_uniform(200, 100'000) * kTicksPerUs;
  }
  return scatter;
}

}  // namespace

Chip random_chip(std::uint64_t seed, Selector::Structure structure) {
  const std::uint64_t key = key_of({seed, 0x63686970});
  Draw draw(key);
  const bool bare = draw.one_in(4);
  const bool planted =
      structure == Selector::Structure::planted || (structure == Selector::Structure::any && !bare);
  const std::int64_t cores = draw.log_uniform(kFewestCores, kMostCores);
  const Layout layout = planted ? structured(cores, draw) : structureless(cores);
  // At least as many stops as places, or places would share one; else no ring.
  const auto places = static_cast<std::int64_t>(layout.working.front().size());
  const std::int64_t most = std::min(kMostStops, kMostChannels / layout.dies);
  std::int64_t stops = draw.power_of_two(1, 5);
  while (stops < places && 2 * stops <= most) stops *= 2;
  stops = std::min(stops, most);
  const Ways ways = draw_ways(layout, stops >= places, draw);
  const Rates rates = {draw.between(80, 240) * 10, draw.between(32, 128)};

  const std::string name = "random?seed=" + std::to_string(seed) +
                           (structure == Selector::Structure::none      ? "&structure=none"
                            : structure == Selector::Structure::planted ? "&structure=planted"
                                                                        : "");
  ChipText out(kRandomBase, "drawn by seed " + std::to_string(seed));
  out.section("chip");
  out.raw("product", "\"Chip drawn by seed " + std::to_string(seed) + "\"", "name");
  out.section("clock");
  out.whole("core", rates.clock_mhz, "MHz");
  draw_structure(out, layout);
  draw_memory(out, layout, ways, rates, stops * layout.dies, draw);
  draw_launches_and_copies(out, draw);
  draw_noise(out, draw);
  const Chip::Scatter scatter = draw_scatter(key, planted, ways, draw);
  // The check of a chip is that of its text: what a chip file has no key for goes there too.
  out.note("core_offset " + std::to_string(scatter.core_offset) + " ps, gradient " +
           std::to_string(scatter.gradient) + " ps, drift " + std::to_string(scatter.drift_ppm) +
           " ppm over " + std::to_string(scatter.drift_period) + " ps");
  Chip chip = parse_chip(out.text(), name);
  chip.scatter = scatter;
  chip.parameters.clear();  // a description shows them, and these are to be found
  return chip;
}

}  // namespace sonde::sim
