// sonde-profile: load latency of each core at matching addresses of one chain.
#include "core/parse.h"
#include "core/units.h"
#include "harness/probe.h"

namespace sonde {
namespace {

/// As many addresses as tell two cores apart by a hundredth of the latency at 2 % noise a load: the
/// mean absolute difference of n addresses is known to about 1 / sqrt(n) of that noise.
constexpr std::int64_t kAddresses = 4096;
constexpr std::int64_t kQuickAddresses = 512;
constexpr std::int64_t kMostAddresses = 1 << 20;
constexpr std::int64_t kTiB = 1024 * kGiB;

class Profile : public Probe {
 public:
  const Schema& schema() const override { return profile_schema(); }
  std::string about() const override {
    return "Load latency (ns) of each core at the same sampled addresses of one chain: cores that\n"
           "lie alike have profiles that look alike. One row a core and address.";
  }

  void add_options(CommandLine& line) override {
    line.text("--bytes", bytes_text_, "bytes of the chain (default: the device's own)");
    line.text("--addresses", addresses_text_,
              "sampled addresses (default: 4096; with --quick 512). One repetition, unless "
              "--repetitions says more");
  }

  std::optional<std::int64_t> usual_repetitions() const override { return 1; }
  std::int64_t rows_per_sample() const override { return addresses_; }

  std::vector<Point> plan(const Selection& selection) override {
    const DeviceDescription& device = selection.device;
    if (device.cores.empty()) throw UsageError("--device: " + device.name + " has no usable core");
    const bool offered = device.profile_bytes > 0;
    const std::int64_t most = device.memory_bytes.value_or(kTiB);
    bytes_ = bytes_text_ ? parse_one(*bytes_text_, "--bytes", true, device.chase_line_bytes, most)
                         : device.profile_bytes;
    addresses_ = selection.quick ? kQuickAddresses : kAddresses;
    if (addresses_text_) {
      addresses_ = parse_one(*addresses_text_, "--addresses", false, 1, kMostAddresses);
    }
    const std::int64_t lines = bytes_ / device.chase_line_bytes;
    if (offered && addresses_ > lines) {
      if (addresses_text_ || bytes_text_) {
        throw UsageError("--addresses: " + format_count(addresses_) + " are more than the " +
                         format_count(lines) + " lines of " + format_size(Bytes(bytes_)));
      }
      addresses_ = lines;
    }
    std::vector<Point> points;
    for (const CoreName& core : selection.cores.value_or(device.cores)) {
      Point point;
      point.axes = {core.str(), {}};
      point.label = core.str();
      if (!offered) point.skip = "this device has no profile engine";
      // A few passes of a few hundred ns an address, and the chain once: for --dry-run only.
      point.estimate_s =
          static_cast<double>(addresses_) * 20e-6 + static_cast<double>(bytes_) / 64 * 5e-9;
      points.push_back(std::move(point));
    }
    return points;
  }

  std::map<std::string, std::string> options() const override {
    return {{"bytes", std::to_string(bytes_)}, {"addresses", std::to_string(addresses_)}};
  }

  Sample measure(Device& device, const Point& point, const Trial& trial, Row&) override {
    ProfileWork work;
    work.core = parse_core_set(axis<std::string>(schema(), point, "core")).front();
    work.bytes = bytes_;
    work.addresses = addresses_;
    work.seed = trial.seed;
    Sample sample = run_verified(device, device.profile(), "profile", work, trial);
    if (static_cast<std::int64_t>(sample.series.size()) != addresses_) {
      throw PointFailure(format_count(static_cast<std::int64_t>(sample.series.size())) + " of " +
                         format_count(addresses_) + " addresses were measured");
    }
    return sample;
  }

  std::vector<Row> rows(const Sample& sample, Row row) const override {
    std::vector<Row> all;
    all.reserve(sample.series.size());
    for (std::size_t i = 0; i < sample.series.size(); ++i) {
      set(schema(), row, "address_index", static_cast<std::int64_t>(i));
      set(schema(), row, "address_bytes", sample.series[i].address_bytes);
      set(schema(), row, "latency_ns", nanoseconds(sample.series[i].latency));
      all.push_back(row);
    }
    return all;
  }

 private:
  std::optional<std::string> bytes_text_;
  std::optional<std::string> addresses_text_;
  std::int64_t bytes_ = 0;
  std::int64_t addresses_ = kAddresses;
};

}  // namespace

std::unique_ptr<Probe> make_probe() { return std::make_unique<Profile>(); }

}  // namespace sonde
