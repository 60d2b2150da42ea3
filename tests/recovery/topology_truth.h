#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/rng.h"
#include "topology/cluster.h"
#include "topology/evidence.h"

namespace sonde::truth {

/// `number / size` for each core: groups of equal size in the order of the numbers.
inline Partition blocks(std::size_t cores, std::size_t size) {
  Partition partition;
  for (std::size_t i = 0; i < cores; ++i) partition.push_back(static_cast<int>(i / size));
  return partition;
}

/// Groups of the given sizes, one after the other.
inline Partition sizes(const std::vector<int>& counts) {
  Partition partition;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    partition.insert(partition.end(), static_cast<std::size_t>(counts[g]), static_cast<int>(g));
  }
  return partition;
}

inline std::vector<CoreName> names(std::size_t cores, const std::string& kind = "sm") {
  std::vector<CoreName> result;
  for (std::size_t i = 0; i < cores; ++i) result.push_back({kind, static_cast<int>(i)});
  return result;
}

inline double gaussian(Rng& rng) { return static_cast<double>(rng.gaussian_q16()) / 65536.0; }

/// Cores of a group see a pattern of their own over the addresses.
struct Planted {
  Partition groups;
  double nanoseconds = 0;  ///< standard deviation of the pattern
};

/// What a profile may hold beside structure.
struct Blemish {
  double noise = 0.02;          ///< of one value, relative
  double offsets = 0;           ///< ns: each core's own constant
  int noisy_cores = 0;          ///< with six times the noise
  double tails = 0;             ///< share of values that are late by 20 to 500 %
  double drift = 0;             ///< relative: a slow wave over each core's measurement, own phase
  double clocks = 0;            ///< relative: each core's own factor on every latency
  bool hits_and_misses = true;  ///< half of the addresses cost 2.3 times as much, for all cores
  double missing = 0;           ///< share of values that are not there
};

inline ProfileTable profile(std::size_t cores, std::size_t addresses,
                            const std::vector<Planted>& planted, const Blemish& blemish,
                            std::uint64_t seed) {
  Rng rng(key_of({seed, cores, addresses}));
  ProfileTable table;
  table.cores = names(cores);
  table.latency_ns = Matrix(addresses, cores);
  std::vector<double> home(addresses);
  for (std::size_t a = 0; a < addresses; ++a) {
    table.addresses.push_back(static_cast<std::int64_t>(a) * 64);
    home[a] = 140 + 10 * gaussian(rng) + (blemish.hits_and_misses && rng.below(2) == 1 ? 180 : 0);
  }
  std::vector<std::vector<std::vector<double>>> patterns;
  for (const Planted& level : planted) {
    auto& groups = patterns.emplace_back(static_cast<std::size_t>(group_count(level.groups)));
    for (auto& pattern : groups) {
      for (std::size_t a = 0; a < addresses; ++a)
        pattern.push_back(level.nanoseconds * gaussian(rng));
    }
  }
  for (std::size_t c = 0; c < cores; ++c) {
    const double offset = blemish.offsets * gaussian(rng);
    const double clock = 1 + blemish.clocks * gaussian(rng);
    const double phase = rng.uniform(), waves = 0.3 + 2 * rng.uniform();
    const double noise =
        blemish.noise * (c < static_cast<std::size_t>(blemish.noisy_cores) ? 6 : 1);
    for (std::size_t a = 0; a < addresses; ++a) {
      double value = home[a];
      for (std::size_t l = 0; l < planted.size(); ++l) {
        value += patterns[l][static_cast<std::size_t>(planted[l].groups[c])][a];
      }
      const double at = static_cast<double>(a) / static_cast<double>(addresses);
      value *= 1 + blemish.drift * std::sin(2 * std::numbers::pi * (phase + waves * at));
      value = (value * clock + offset) * (1 + noise * gaussian(rng));
      if (rng.uniform() < blemish.tails) value *= 1.2 + 4.8 * rng.uniform();
      table.latency_ns(a, c) = rng.uniform() < blemish.missing ? std::nan("") : value;
    }
  }
  return table;
}

/// Slow-down a pair shares when both cores are in one group of a level.
struct Sharing {
  Partition groups;
  double slow_down = 0;  ///< 0.1: 10 %
};

/// Victims by row. Each row and column has a strength of its own; every cell is a point with noise.
inline CoreMatrix pairs(std::size_t cores, const std::vector<Sharing>& shared, double noise,
                        double own_strength, std::uint64_t seed, double tails = 0,
                        double missing = 0) {
  Rng rng(key_of({seed, cores, 77}));
  CoreMatrix matrix{names(cores, "vector"), {}};
  matrix.cells.resize(cores * cores);
  std::vector<double> row(cores), column(cores);
  for (std::size_t i = 0; i < cores; ++i) {
    row[i] = own_strength * gaussian(rng);
    column[i] = own_strength * gaussian(rng);
  }
  for (std::size_t i = 0; i < cores; ++i) {
    for (std::size_t j = 0; j < cores; ++j) {
      if (i == j) continue;
      double value = 1 + row[i] + column[j];
      for (const Sharing& level : shared) {
        if (level.groups[i] == level.groups[j]) value += level.slow_down;
      }
      value *= 1 + noise * gaussian(rng);
      if (rng.uniform() < tails) value *= 1 + 3 * rng.uniform();
      if (rng.uniform() >= missing) matrix.cells[i * cores + j] = std::log(value);
    }
  }
  return matrix;
}

/// Share of the pairs of cores that two partitions treat alike.
inline double pair_accuracy(const Partition& a, const Partition& b) {
  double alike = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      alike += (a[i] == a[j]) == (b[i] == b[j]) ? 1 : 0;
      ++all;
    }
  }
  return alike / all;
}

}  // namespace sonde::truth
