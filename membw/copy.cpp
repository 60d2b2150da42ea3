// sonde-copy: copy time and bandwidth against size, per direction and method.
#include <algorithm>
#include <map>
#include <set>

#include "core/parse.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "core/units.h"
#include "harness/probe.h"
#include "membw/ladder.h"
#include "membw/refine.h"
#include "membw/tuned_copy.h"

namespace sonde {
namespace {

/// From a size that is all fixed cost to one far beyond the largest cache on sale (about 1 GiB);
/// 256 MiB is where the published curves level off.
constexpr std::int64_t kSmallest = 1 * kKiB;
constexpr std::int64_t kLargest = 256 * kMiB;
constexpr int kPerOctave = 8;
/// From here on filling and checking the buffers of a real copy takes most of a run.
constexpr std::int64_t kSlow = 16 * kMiB;
/// A quick run ends an octave beyond where C libraries of today change their method last (99 to
/// 114 MiB).
constexpr std::int64_t kLargestQuick = 192 * kMiB;
/// With moved thresholds there are four curves to take, a process a sample.
constexpr int kPerOctaveVaried = 4;
/// One page: what an allocator gives for large blocks, and off no vector width.
constexpr std::int64_t kAlignment = 4096;
constexpr std::int64_t kLargestAlignment = 2 * kMiB;

class Copy : public Probe {
 public:
  const Schema& schema() const override { return copy_schema(); }
  std::string about() const override {
    return "Copy time and bandwidth against size. Bandwidth counts the bytes copied once.";
  }

  void add_options(CommandLine& line) override {
    line.text(
        "--bytes", bytes_text_,
        "sizes, no others (default: 1 KiB to 256 MiB, 8 an octave and some beside powers of "
        "two, where time is not modelled 4 an octave from 16 MiB on; then more where the time "
        "jumps. With --quick on a real device to 192 MiB, and none added)");
    line.text("--direction", direction_, "d2d, h2d or d2h (default: all the device has)");
    line.text("--method", method_,
              "auto (the device's own choice) or those it can force, or all (default: auto)");
    line.text("--alignment", alignment_text_, "bytes both buffers are aligned to (default: 4096)");
    line.flag("--rotated", rotated_,
              "rotate buffers beyond the last cache (default: the same two)");
    line.flag("--vary-threshold", vary_,
              "host: once more under GLIBC_TUNABLES that move the C library's thresholds: what "
              "moves along is a switch of method, what stays is an edge of a cache");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (selection.cores && device.places_blocks) {
      throw UsageError("--cores: a copy is placed by the device itself");
    }
    if (vary_ && device.name != "host") {
      throw UsageError("--vary-threshold: only the host's copies have such thresholds");
    }
    device_ = device.name;
    // Source and destination both live in the memory one measurement may take.
    most_ = device.memory_bytes ? *device.memory_bytes / 2 : 4096 * kGiB;
    std::vector<std::int64_t> alignments = {kAlignment};
    if (alignment_text_) {
      alignments = parse_list(*alignment_text_, "--alignment", true, 1, kLargestAlignment);
    }
    const std::vector<std::string> settings =
        vary_ ? threshold_settings() : std::vector<std::string>{""};
    Cell cores;
    if (selection.cores) cores = format_core_set(*selection.cores);
    std::vector<Point> points;
    for (const auto& [direction, method] : paths(device)) {
      for (const std::string& tunables : settings) {
        const std::vector<std::int64_t> sizes = sizes_for(selection, tunables);
        for (const std::int64_t alignment : alignments) {
          for (const std::int64_t bytes : sizes) {
            points.push_back(
                point({direction, method, bytes, alignment, rotated_ ? "rotated" : "warm", cores,
                       tunables.empty() ? Cell() : Cell(tunables)}));
          }
        }
      }
    }
    return points;
  }

  std::vector<Point> extend(const Selection& selection, const std::vector<Point>& points,
                            const std::vector<PointSamples>& samples) override {
    const bool real = selection.device.time_source != TimeSource::modelled;
    if (bytes_text_ || (selection.quick && real)) return {};
    // Curves: points that differ in nothing but their size.
    std::map<std::string, std::map<std::int64_t, std::size_t>> curves;
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::string curve;
      for (std::size_t c = 0; c < points[i].axes.size(); ++c) {
        if (c != schema().index("bytes")) curve += format_cell(points[i].axes[c]) + '\x1f';
      }
      if (samples[i].elapsed_s.empty()) continue;
      curves[curve].emplace(axis<std::int64_t>(schema(), points[i], "bytes"), i);
    }
    std::vector<Point> further;
    for (const auto& [name, members] : curves) {
      std::vector<TimedSize> tested;
      for (const auto& [bytes, i] : members) {
        const std::vector<double>& elapsed = samples[i].elapsed_s;
        const double middle = *median(elapsed);
        const double error = robust_deviation(elapsed).value_or(0) / middle *
                             median_deviation(static_cast<std::int64_t>(elapsed.size()));
        tested.push_back({bytes, middle, error});
      }
      for (const std::int64_t bytes : refine_sizes(tested, real)) {
        std::vector<Cell> axes = points[members.begin()->second].axes;
        axes[schema().index("bytes")] = bytes;
        further.push_back(point(std::move(axes)));
      }
    }
    return further;
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all = {{"method", method_},
                                              {"rotated", rotated_ ? "yes" : "no"}};
    if (bytes_text_) all["bytes"] = *bytes_text_;
    if (direction_) all["direction"] = *direction_;
    if (alignment_text_) all["alignment"] = *alignment_text_;
    if (vary_) all["vary-threshold"] = "yes";
    return all;
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row& row) override {
    CopyWork work;
    work.direction = axis<std::string>(schema(), point, "direction");
    work.method = axis<std::string>(schema(), point, "method");
    work.bytes = axis<std::int64_t>(schema(), point, "bytes");
    work.alignment = axis<std::int64_t>(schema(), point, "alignment_bytes");
    work.warm = !rotated_;
    work.seed = trial.seed;
    work.cores = parse_core_set(text(point, "cores").value_or("none"));
    Sample sample;
    if (vary_) {
      // Each process lays its buffers out by seed: another one for each sample, as in one process.
      work.seed = key_of({trial.seed, static_cast<std::uint64_t>(trial.repetition)}) >> 1;
      sample = tuned_copy(device_, work, text(point, "tunables").value_or(""));
    } else {
      sample = run_verified(device, device.copy(), "copy", work, trial);
    }
    set(schema(), row, "bandwidth_bytes_per_s", (Bytes(work.bytes) / sample.elapsed).value());
    set(schema(), row, "counting", "once");
    if (!sample.store.empty()) set(schema(), row, "store", sample.store);
    return sample;
  }

 private:
  static std::optional<std::string> text(const Point& point, std::string_view name) {
    const Cell& cell = point.axes[copy_schema().index(name)];
    if (const auto* value = std::get_if<std::string>(&cell)) return *value;
    return std::nullopt;
  }

  std::vector<std::int64_t> sizes_for(const Selection& selection,
                                      const std::string& tunables) const {
    if (bytes_text_) return parse_list(*bytes_text_, "--bytes", true, 1, most_);
    const bool real = selection.device.time_source != TimeSource::modelled;
    std::set<std::int64_t> sizes;
    const auto add = [&](const std::vector<std::int64_t>& some) {
      sizes.insert(some.begin(), some.end());
    };
    if (vary_) {
      add(size_ladder(kSmallest, std::min(kLargest, largest_under(tunables)), kPerOctaveVaried));
      if (const std::int64_t at = threshold_of(tunables))
        add(size_ladder(at / 2, at * 2, kPerOctave));
    } else if (real) {
      add(size_ladder(kSmallest, kSlow, kPerOctave));
      add(class_sizes(kSmallest, kSlow));
      add(size_ladder(kSlow, selection.quick ? kLargestQuick : kLargest, kPerOctave / 2));
    } else {
      add(size_ladder(kSmallest, kLargest, kPerOctave));
      add(class_sizes(kSmallest, kLargest));
    }
    return {sizes.begin(), sizes.end()};
  }

  Point point(std::vector<Cell> axes) const {
    Point made;
    made.axes = std::move(axes);
    const std::int64_t bytes = axis<std::int64_t>(schema(), made, "bytes");
    for (const Cell& cell : made.axes) {
      if (cell.index() == 0) continue;  // not asked for
      made.label += (made.label.empty() ? "" : "/") + format_cell(cell);
    }
    if (bytes > most_) {
      made.skip = "two buffers of " + format_size(Bytes(bytes)) + " are beyond the " +
                  format_size(Bytes(2 * most_)) + " this device may allocate";
    }
    // About 5 GB/s with filling and checking, and a fixed part (that of a process where one is
    // started): for --dry-run only.
    made.estimate_s = (vary_ ? 2e-2 : 5e-4) + static_cast<double>(bytes) / 5e9 * 3;
    return made;
  }

  std::vector<std::pair<std::string, std::string>> paths(const DeviceDescription& device) const {
    std::vector<std::pair<std::string, std::string>> chosen;
    std::vector<std::string> directions;
    for (const CopyPath& path : device.copies) {
      directions.push_back(path.direction);
      if (direction_ && *direction_ != path.direction) continue;
      const std::vector<std::string> methods =
          method_ == "all" ? path.methods : parse_names(method_, "--method", path.methods);
      for (const std::string& method : methods) chosen.emplace_back(path.direction, method);
    }
    if (chosen.empty() && !directions.empty()) {
      throw UsageError("--direction: '" + direction_.value_or("") + "' is not one of " +
                       device.name + ": there is " + join_names(directions) +
                       did_you_mean(direction_.value_or(""), directions));
    }
    if (chosen.empty()) chosen.emplace_back(direction_.value_or("d2d"), method_);
    return chosen;
  }

  std::optional<std::string> bytes_text_;
  std::optional<std::string> direction_;
  std::optional<std::string> alignment_text_;
  std::string method_ = "auto";
  bool rotated_ = false;
  bool vary_ = false;
  std::string device_;
  std::int64_t most_ = 0;  ///< of one buffer
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Copy>(); }

}  // namespace sonde
