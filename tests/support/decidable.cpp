#include "tests/support/decidable.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rng.h"
#include "device/registry.h"

namespace sonde {
namespace {

/// Standard deviation of a median of three normal values, of five: by numerical integration.
double median_error(std::int64_t n) { return n <= 1 ? 1 : n <= 3 ? 0.669 : 0.536; }
constexpr std::size_t kMostPairs = 4000;  // sampled of a chip, beside all neighbours in a group
constexpr std::size_t kAddresses = 256;   // of the chip without noise

/// Which core is in which group of each level.
using GroupsOf = std::vector<std::vector<std::size_t>>;

class Quiet {
 public:
  Quiet(const sim::Chip& chip, const std::string& device, const ChipDesign& design)
      : chip_(chip), design_(design), device_(open_device(device)) {
    const DeviceDescription& d = device_->description();
    for (const CoreName& core : d.cores) {
      device_->profile()->prepare({core, d.profile_bytes, kAddresses, 11});
      std::vector<double>& profile = profiles_.emplace_back();
      for (const AddressTime& at : device_->profile()->run({}).series) {
        profile.push_back(nanoseconds(at.latency));
      }
      double mean = 0, square = 0;
      for (double value : profile) {
        mean += value / static_cast<double>(profile.size());
        square += value * value / static_cast<double>(profile.size());
      }
      latency_square_ = std::max(latency_square_, square);
      for (double& value : profile) value -= mean;
      alone_.push_back(elapsed(profiles_.size() - 1, nullptr));
    }
  }

  std::size_t cores() const { return profiles_.size(); }
  const std::vector<CoreName>& names() const { return device_->description().cores; }

  /// Mean of both directions.
  double slow_down(std::size_t a, std::size_t b) {
    return (std::log(elapsed(a, &names()[b]) / alone_[a]) +
            std::log(elapsed(b, &names()[a]) / alone_[b])) /
           2;
  }
  /// Of the slow-down of a pair in one direction.
  double slow_down_error() const {
    const bool is_long = alone_.front() > sim::to_seconds(chip_.noise.long_from).value();
    const double own = noise(is_long ? chip_.noise.long_ppm : chip_.noise.launch_ppm);
    // A drift wanders between knots that are uniform within its range.
    const double drift = 1e-6 * static_cast<double>(chip_.scatter.drift_ppm) / 2;
    return median_error(design_.launches) * std::hypot(own, drift);
  }

  double apart(std::size_t a, std::size_t b) const {
    double sum = 0;
    for (std::size_t i = 0; i < profiles_[a].size(); ++i) {
      const double difference = profiles_[a][i] - profiles_[b][i];
      sum += difference * difference;
    }
    return sum / static_cast<double>(profiles_[a].size());
  }
  /// Of the mean square difference of two profiles that is `apart` without noise.
  double apart_error(double apart) const {
    const double load = noise(chip_.noise.load_ppm);
    const double square = load * load * latency_square_;
    return std::sqrt((8 * square * square + 8 * apart * square) /
                     static_cast<double>(design_.addresses));
  }

 private:
  double noise(std::int64_t own_ppm) const {
    return design_.noise_percent ? 0.01 * static_cast<double>(*design_.noise_percent)
                                 : 1e-6 * static_cast<double>(own_ppm);
  }

  double elapsed(std::size_t victim, const CoreName* aggressor) {
    const DeviceDescription& d = device_->description();
    ContentionWork work;
    work.victim = d.cores[victim];
    work.footprint_bytes = d.contention_bytes;
    work.loads = d.contention_bytes / d.chase_line_bytes;
    if (aggressor != nullptr) {
      work.aggressors = {*aggressor};
      work.aggressor_work = "load";
    }
    device_->contention()->prepare(work);
    return device_->contention()->run({}).elapsed.value();
  }

  const sim::Chip& chip_;
  ChipDesign design_;
  std::unique_ptr<Device> device_;
  std::vector<std::vector<double>> profiles_;
  std::vector<double> alone_;
  double latency_square_ = 0;
};

/// Every pair of a small chip; of a large one a sample, with pairs of every group of every level.
std::vector<std::pair<std::size_t, std::size_t>> some_pairs(std::size_t cores,
                                                            const GroupsOf& groups) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (cores * (cores - 1) / 2 <= kMostPairs) {
    for (std::size_t b = 1; b < cores; ++b) {
      for (std::size_t a = 0; a < b; ++a) pairs.emplace_back(a, b);
    }
    return pairs;
  }
  Rng rng(key_of({cores, 0x70616972}));
  while (pairs.size() < kMostPairs / 2) {
    const std::size_t a = rng.below(cores), b = rng.below(cores);
    if (a != b) pairs.emplace_back(a, b);
  }
  // Two of one group, and one with a core of another group of the same coarser one.
  for (const std::vector<std::size_t>& level : groups) {
    for (std::size_t k = 0; k < kMostPairs / 2 / groups.size(); ++k) {
      const std::size_t a = rng.below(cores), from = rng.below(cores);
      for (std::size_t step = 0; step < cores; ++step) {
        const std::size_t b = (from + step) % cores;
        if (b == a || level[b] != level[a]) continue;
        pairs.emplace_back(a, b);
        break;
      }
    }
  }
  return pairs;
}

/// Least of what pairs of one group have over most of what others have.
double gap_between(const std::vector<std::pair<std::size_t, std::size_t>>& pairs,
                   const std::vector<double>& values, const std::vector<std::size_t>& group,
                   double& nearest_other) {
  double same = std::numeric_limits<double>::infinity(), other = -same;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (group[pairs[p].first] == group[pairs[p].second]) {
      same = std::min(same, values[p]);
    } else {
      other = std::max(other, values[p]);
    }
  }
  nearest_other = other;
  return same - other;
}

}  // namespace

std::vector<TrueLevel> true_levels(const sim::Chip& chip, const std::string& device,
                                   const ChipDesign& design) {
  std::vector<TrueLevel> levels;
  for (sim::PlantedLevel& planted : sim::planted_structure(chip)) {
    levels.push_back({std::move(planted), 0});
  }
  if (levels.empty()) return levels;
  Quiet quiet(chip, device + (device.find('?') == std::string::npos ? "?" : "&") + "noise=off",
              design);
  GroupsOf groups;
  for (const TrueLevel& level : levels) {
    auto& of = groups.emplace_back();
    for (const CoreName& core : quiet.names()) {
      std::size_t g = 0;
      for (const auto& group : level.planted.groups) {
        if (group.contains(core)) break;
        ++g;
      }
      of.push_back(g);
    }
  }
  const auto pairs = some_pairs(quiet.cores(), groups);
  std::vector<double> slow, near;
  for (const auto& [a, b] : pairs) {
    slow.push_back(quiet.slow_down(a, b));
    near.push_back(-quiet.apart(a, b));
  }
  for (std::size_t l = 0; l < levels.size(); ++l) {
    double other = 0;
    const double by_load = gap_between(pairs, slow, groups[l], other) / quiet.slow_down_error();
    const double profile_gap = gap_between(pairs, near, groups[l], other);
    levels[l].clearness = std::max(by_load, profile_gap / quiet.apart_error(-other));
  }
  return levels;
}

}  // namespace sonde
