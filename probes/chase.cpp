// sonde-chase: pointer-chase latency per core, per footprint and per number of concurrent blocks.
#include <algorithm>

#include "core/parse.h"
#include "core/units.h"
#include "harness/probe.h"

namespace sonde {
namespace {

/// Loads in one timed window of a warm chase: enough that a clock of 20 ns resolution and an
/// interrupt-free window of about a millisecond both fit (16,384 x 1.7 ns to 200 ns = 28 us to 3
/// ms).
constexpr std::int64_t kWarmLoads = 16384;
/// The default footprint sweep ends beyond the last cache by this factor, and at least at
/// kLeastSweep: a cache that the system does not declare is then still seen.
constexpr std::int64_t kBeyondLastCache = 4;
constexpr std::int64_t kLeastSweep = 64 * kMiB;
constexpr std::int64_t kMostSweep = 1 * kGiB;
/// A quick run on a real device ends here: building and warming longer chains takes longer than
/// all other points together.
constexpr std::int64_t kMostQuickSweep = 128 * kMiB;
constexpr std::int64_t kSlowFootprint = 32 * kMiB;
constexpr std::int64_t kFirstFootprint = 4 * kKiB;

class Chase : public Probe {
 public:
  const Schema& schema() const override { return chase_schema(); }
  std::string about() const override {
    return "Latency of dependent loads (ns a load): per core, per footprint, per number of blocks.";
  }

  void add_options(CommandLine& line) override {
    line.text("--footprint", footprint_text_,
              "bytes of one block's chain (default: a sweep on the first core)");
    line.text("--blocks", blocks_text_,
              "numbers of concurrent blocks (default: up to two waves and a little more)");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (device.cores.empty()) throw UsageError("--device: " + device.name + " has no usable core");
    const std::int64_t line = device.chase_line_bytes;
    const std::int64_t most = device.memory_bytes.value_or(kMostSweep);
    std::vector<std::int64_t> footprints;
    if (footprint_text_) {
      footprints = parse_list(*footprint_text_, "--footprint", true, 1, most);
      for (std::int64_t bytes : footprints) {
        if (bytes < 2 * line) {
          throw UsageError("--footprint: " + format_size(Bytes(bytes)) +
                           " holds no chain: it needs two lines of " + format_size(Bytes(line)) +
                           " each");
        }
      }
    }
    std::vector<Point> plan;  // series may overlap: the harness drops repeats
    const bool blocks_only = blocks_text_.has_value();
    if (!blocks_only) add_cores(plan, selection, footprints);
    if (!blocks_only && !selection.cores && footprints.empty()) add_sweep(plan, selection);
    if (blocks_only || (!selection.cores && footprints.empty()))
      add_blocks(plan, selection, footprints);
    return plan;
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all;
    if (footprint_text_) all["footprint"] = *footprint_text_;
    if (blocks_text_) all["blocks"] = *blocks_text_;
    return all;
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    ChaseWork work;
    const std::string& core = axis<std::string>(schema(), point, "core");
    const auto kinds = device.description().kinds();
    if (std::find(kinds.begin(), kinds.end(), core) != kinds.end()) {
      work.kind = core;
    } else {
      work.cores = parse_core_set(core);
    }
    work.blocks = axis<std::int64_t>(schema(), point, "blocks");
    work.footprint_bytes = axis<std::int64_t>(schema(), point, "footprint_bytes");
    work.warm = axis<std::string>(schema(), point, "state") == "warm";
    // A cold launch reads each line of the payload once; a warm one repeats until time can be read.
    work.loads =
        work.warm ? kWarmLoads : work.footprint_bytes / device.description().chase_line_bytes;
    work.seed = trial.seed;
    Sample sample = run_verified(device, device.chase(), "chase", work, trial);
    set(schema(), row, "loads", work.loads);
    set(schema(), row, "latency_ns", nanoseconds(sample.elapsed) / static_cast<double>(work.loads));
    return sample;
  }

 private:
  static Point point_of(const std::string& core, std::int64_t blocks, std::int64_t footprint,
                        bool warm) {
    Point point;
    point.axes = {core, blocks, footprint, warm ? "warm" : "cold"};
    point.label = core + "/" + std::to_string(blocks) + "/" + std::to_string(footprint) + "/" +
                  (warm ? "warm" : "cold");
    // Building and walking a chain, about 20 ns a line twice, and the window: for --dry-run only.
    point.estimate_s = 1e-3 + static_cast<double>(footprint) / 64 * 40e-9;
    return point;
  }

  /// Each core alone, at the device's own footprint or those asked for.
  static void add_cores(std::vector<Point>& plan, const Selection& selection,
                        const std::vector<std::int64_t>& footprints) {
    const DeviceDescription& device = selection.device;
    const bool warm = !device.cold_launches || !footprints.empty();
    std::vector<CoreName> cores = selection.cores.value_or(device.cores);
    // A footprint list without cores is a sweep on one core, not cores times footprints.
    if (!selection.cores && !footprints.empty()) cores.resize(1);
    for (const CoreName& core : cores) {
      if (footprints.empty()) {
        plan.push_back(point_of(core.str(), 1, device.chase_footprint_bytes, warm));
      }
      for (std::int64_t bytes : footprints) plan.push_back(point_of(core.str(), 1, bytes, warm));
    }
  }

  /// Footprints on the first core, from inside the nearest cache to beyond the last one.
  static void add_sweep(std::vector<Point>& plan, const Selection& selection) {
    const DeviceDescription& device = selection.device;
    std::int64_t last_cache = 0;
    for (std::size_t i = 0; i + 1 < device.memory.size(); ++i) {
      last_cache = std::max(last_cache, device.memory[i].capacity_bytes.value_or(0));
    }
    const bool real = device.time_source != TimeSource::modelled;
    const std::int64_t most = selection.quick && real ? kMostQuickSweep : kMostSweep;
    std::int64_t end = kFirstFootprint;
    while (end < std::max(kLeastSweep, kBeyondLastCache * last_cache) && end < most) end *= 2;
    for (std::int64_t bytes = kFirstFootprint; bytes <= end; bytes *= 2) {
      // Halfway points bracket a capacity within a half, and tell a slope from a level.
      for (std::int64_t size : {bytes, bytes + bytes / 2}) {
        if (size > end || (size != bytes && selection.quick && real && bytes >= kSlowFootprint))
          continue;
        Point point = point_of(device.cores.front().str(), 1, size, true);
        if (device.memory_bytes && size > *device.memory_bytes) {
          point.skip = format_size(Bytes(size)) + " is beyond the " +
                       format_size(Bytes(*device.memory_bytes)) + " this device may allocate";
        }
        plan.push_back(std::move(point));
      }
    }
  }

  void add_blocks(std::vector<Point>& plan, const Selection& selection,
                  const std::vector<std::int64_t>& footprints) const {
    const DeviceDescription& device = selection.device;
    // Each kind of core has waves of its own; numbers that were asked for are of the first kind, or
    // of the cores named.
    std::vector<std::string> kinds = device.kinds();
    if (blocks_text_ || selection.cores || !device.places_blocks) kinds.resize(1);
    for (const std::string& kind : kinds) add_blocks_of(kind, plan, selection, footprints);
  }

  void add_blocks_of(const std::string& kind, std::vector<Point>& plan, const Selection& selection,
                     const std::vector<std::int64_t>& footprints) const {
    const DeviceDescription& device = selection.device;
    const std::vector<CoreName> cores = selection.cores.value_or(device.cores_of(kind));
    const auto count = static_cast<std::int64_t>(cores.size());
    // Where the device places blocks itself there may be more of them than cores: that is the
    // question. Where we place them, one a core is all there is.
    const bool device_places = device.places_blocks && !selection.cores;
    constexpr std::int64_t kMostBlocks = 1 << 16;  // of a launch; a modelled one takes a second
    const std::int64_t most = device_places ? kMostBlocks : count;
    const std::vector<std::int64_t> numbers =
        !blocks_text_ ? default_blocks(count, device_places)
                      : parse_list(*blocks_text_, "--blocks", false, 1, most);
    const bool warm = !device.cold_launches;
    std::vector<std::int64_t> sizes = footprints;
    if (sizes.empty()) sizes = {device.chase_footprint_bytes};
    for (std::int64_t bytes : sizes) {
      for (std::int64_t blocks : numbers) {
        const std::string core =
            device_places ? kind
                          : format_core_set({cores.begin(),
                                             cores.begin() + static_cast<std::ptrdiff_t>(blocks)});
        plan.push_back(point_of(core, blocks, bytes, warm));
      }
    }
  }

  /// Dense enough to see where the latency starts to rise, and both sides of each place where a
  /// wave could end if a core takes one block: n and n + 1, 2n and 2n + 1.
  static std::vector<std::int64_t> default_blocks(std::int64_t cores, bool beyond) {
    std::vector<std::int64_t> numbers;
    const std::int64_t step = std::max<std::int64_t>(1, cores / 28);
    for (std::int64_t b = 1; b <= cores; b += step) numbers.push_back(b);
    numbers.push_back(cores);
    if (beyond) {
      for (std::int64_t b : {cores + 1, cores + cores / 7, cores + cores / 2, 2 * cores - 1,
                             2 * cores, 2 * cores + 1, 2 * cores + cores / 7}) {
        numbers.push_back(b);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }

  std::optional<std::string> footprint_text_;
  std::optional<std::string> blocks_text_;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Chase>(); }

}  // namespace sonde
