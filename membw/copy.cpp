// sonde-copy: copy time and bandwidth against size, per direction and method.
#include <algorithm>

#include "core/parse.h"
#include "core/units.h"
#include "harness/probe.h"
#include "membw/ladder.h"

namespace sonde {
namespace {

/// From a size that is all fixed cost to one far beyond the largest cache on sale (about 1 GiB);
/// 256 MiB is where the published curves level off.
constexpr std::int64_t kSmallest = 1 * kKiB;
constexpr std::int64_t kLargest = 256 * kMiB;
constexpr int kPerOctave = 8;
/// From here on filling and checking the buffers of a real copy takes most of a quick run.
constexpr std::int64_t kSlow = 16 * kMiB;
/// A quick run ends an octave beyond where C libraries of today change their method last (99 to
/// 114 MiB).
constexpr std::int64_t kLargestQuick = 192 * kMiB;
/// One page: what an allocator gives for large blocks, and off no vector width.
constexpr std::int64_t kAlignment = 4096;

class Copy : public Probe {
 public:
  const Schema& schema() const override { return copy_schema(); }
  std::string about() const override {
    return "Copy time and bandwidth against size. Bandwidth counts the bytes copied once.";
  }

  void add_options(CommandLine& line) override {
    line.text("--bytes", bytes_text_,
              "sizes (default: 1 KiB to 256 MiB, 8 an octave; with --quick to 192 MiB, 4 an octave "
              "from 16 MiB on, where time is not modelled)");
    line.text("--direction", direction_, "d2d, h2d or d2h (default: all the device has)");
    line.text("--method", method_, "auto (the device's own choice) or one it can force");
    line.flag("--rotated", rotated_,
              "rotate buffers beyond the last cache (default: the same two)");
  }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (selection.cores) throw UsageError("--cores: a copy is placed by the device itself");
    // Source and destination both live in the memory one measurement may take.
    const std::int64_t most = device.memory_bytes ? *device.memory_bytes / 2 : 4096 * kGiB;
    std::vector<std::int64_t> sizes;
    if (bytes_text_) {
      sizes = parse_list(*bytes_text_, "--bytes", true, 1, most);
    } else {
      sizes = size_ladder(kSmallest, kLargest, kPerOctave);
      if (selection.quick && device.time_source != TimeSource::modelled) {
        sizes = size_ladder(kSmallest, kSlow, kPerOctave);
        const auto large = size_ladder(kSlow, kLargestQuick, kPerOctave / 2);
        sizes.insert(sizes.end(), large.begin() + 1, large.end());
      }
    }
    std::vector<Point> points;
    for (const auto& [direction, method] : paths(device)) {
      for (std::int64_t bytes : sizes) {
        Point point;
        point.axes = {direction, method, bytes, kAlignment, rotated_ ? "rotated" : "warm"};
        point.label = direction + "/" + method + "/" + std::to_string(bytes);
        if (bytes > most) {
          point.skip = "two buffers of " + format_size(Bytes(bytes)) + " are beyond the " +
                       format_size(Bytes(2 * most)) + " this device may allocate";
        }
        // About 5 GB/s with filling and checking, and a fixed part: for --dry-run only.
        point.estimate_s = 5e-4 + static_cast<double>(bytes) / 5e9 * 3;
        points.push_back(std::move(point));
      }
    }
    return points;
  }

  std::map<std::string, std::string> options() const override {
    std::map<std::string, std::string> all = {{"method", method_},
                                              {"rotated", rotated_ ? "yes" : "no"}};
    if (bytes_text_) all["bytes"] = *bytes_text_;
    if (direction_) all["direction"] = *direction_;
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
    const Sample sample = run_verified(device, device.copy(), "copy", work, trial);
    set(schema(), row, "bandwidth_bytes_per_s", (Bytes(work.bytes) / sample.elapsed).value());
    set(schema(), row, "counting", "once");
    return sample;
  }

 private:
  std::vector<std::pair<std::string, std::string>> paths(const DeviceDescription& device) const {
    std::vector<std::pair<std::string, std::string>> chosen;
    std::vector<std::string> directions;
    for (const CopyPath& path : device.copies) {
      directions.push_back(path.direction);
      if (direction_ && *direction_ != path.direction) continue;
      if (std::find(path.methods.begin(), path.methods.end(), method_) == path.methods.end()) {
        throw UsageError("--method: '" + method_ + "' is not a method of " + path.direction +
                         " on " + device.name + ": there is " + join_names(path.methods) +
                         did_you_mean(method_, path.methods));
      }
      chosen.emplace_back(path.direction, method_);
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
  std::string method_ = "auto";
  bool rotated_ = false;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Copy>(); }

}  // namespace sonde
