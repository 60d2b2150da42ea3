#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/rng.h"
#include "device/sim/chain_order.h"
#include "device/sim/chip.h"
#include "device/sim/topology.h"

namespace sonde::sim {

/// Where an address lives. Blocks of `interleave` bytes are dealt over the channels: every run of
/// `channels` blocks uses each channel once, in an order hashed from the run's number. Channel c
/// and its L2 slice sit on die c mod dies, at stop c / dies of that die's ring.
class AddressMap {
 public:
  explicit AddressMap(const Chip& chip);

  struct Home {
    int channel;
    std::int64_t set;  ///< of the slice; hashed, since physical pages scatter
  };
  Home home(std::int64_t address) const {
    const std::int64_t block = address >> interleave_shift_;
    const std::int64_t run = power_of_two_ ? block >> channel_shift_ : block / channels_;
    const auto position = static_cast<std::size_t>(block - run * channels_);
    const std::uint64_t hash = mix64(static_cast<std::uint64_t>(run) + 0x51d3ULL);
    const int channel =
        order_[(hash & (kOrders - 1)) * static_cast<std::size_t>(channels_) + position];
    const std::int64_t line = (address >> line_shift_) & line_mask_;  // within its block
    const std::uint64_t scattered =
        mix64(hash + (static_cast<std::uint64_t>(line) << 8) + static_cast<std::uint64_t>(channel));
    return {channel, static_cast<std::int64_t>(
                         ((scattered >> 32) * static_cast<std::uint64_t>(sets_)) >> 32)};
  }
  int die(int channel) const { return place_[static_cast<std::size_t>(channel)].die; }
  int stop(int channel) const { return place_[static_cast<std::size_t>(channel)].stop; }
  std::int64_t channels() const { return channels_; }
  std::int64_t sets() const { return sets_; }

 private:
  static constexpr std::size_t kOrders = 64;
  std::int64_t channels_;
  std::int64_t sets_;
  int interleave_shift_;
  int line_shift_;
  int channel_shift_;
  bool power_of_two_;
  std::int64_t line_mask_;
  std::vector<std::uint8_t> order_;  ///< kOrders permutations of the channels
  struct Place {
    int die;
    int stop;
  };
  std::vector<Place> place_;  ///< of each channel: two divisions a load less
};

/// Steady state of a set-associative LRU cache under a chain that is walked round and round: each
/// line comes back after all others of its set, so a set with more lines than ways always misses
/// and any other always hits. Exact, whatever the order of the chain.
class CyclicCache {
 public:
  CyclicCache() = default;
  CyclicCache(std::int64_t sets, std::int64_t ways);

  void add(std::int64_t set) { ++lines_[static_cast<std::size_t>(set)]; }
  /// Far more lines than room: every access misses.
  void miss_always();
  bool hits(std::int64_t set) const { return lines_[static_cast<std::size_t>(set)] <= ways_; }

 private:
  std::vector<std::uint32_t> lines_;
  std::uint32_t ways_ = 0;
};

/// The L2 after memory from address 0 on has been walked round and round: `blocks` pieces of
/// `footprint` bytes, `stride` apart.
CyclicCache walked_l2(const Chip& chip, const AddressMap& map, std::int64_t blocks,
                      std::int64_t footprint, std::int64_t stride);

/// Share of the lines of one walked piece of `bytes` that the L2 answers, in parts per million.
std::int64_t l2_hit_ppm(const Chip& chip, const AddressMap& map, std::int64_t bytes);

/// What the way along a ring of `stops` adds to a latency that is a mean over its stops, by the
/// difference of two stop numbers: `hop` for each stop on the shorter way round, less the mean.
std::vector<Ticks> ring_offsets(std::int64_t stops, Ticks hop);

/// What one load costs before anyone waits.
struct Load {
  Ticks latency = 0;
  bool port = false;  ///< goes through the group port, whose service is part of the latency
};

/// The memory of one launch: `blocks` chains side by side, each of `footprint` bytes.
class ChaseMemory {
 public:
  ChaseMemory(const Chip& chip, const AddressMap& map, std::int64_t blocks, std::int64_t footprint);

  std::int64_t footprint() const { return footprint_; }
  std::int64_t lines() const { return lines_; }
  /// First byte of a block's chain.
  std::int64_t base(std::int64_t block) const { return block * stride_; }

  /// A load by a core: `line` of block's chain; `first_visit` when the data cache has not seen it
  /// since it was emptied.
  Load load(const CoreSite& site, std::int64_t block, std::int64_t line, bool first_visit) const {
    if (may_hit_ && !first_visit && data_cache_.hits(line % data_sets_)) return {hit_, false};
    const AddressMap::Home home = map_.home(base(block) + line * line_bytes_);
    const std::size_t far = map_.die(home.channel) == site.die ? 0 : 1;
    const std::size_t miss = l2_.hits(home.channel * map_.sets() + home.set) ? 0 : 2;
    const auto away = static_cast<std::size_t>(std::abs(map_.stop(home.channel) - site.stop));
    return {beyond_[miss + far] + ring_[away] + site.offset + along_row(site, home.channel), true};
  }

 private:
  void fill_data_cache(const Chip& chip);
  /// What the way along the row of a chip with a gradient adds.
  Ticks along_row(const CoreSite& site, int channel) const {
    return gradient_ * std::abs(site.along_row - channel * row_step_) / kRow;
  }

  const AddressMap& map_;
  std::int64_t footprint_;
  std::int64_t line_bytes_;
  std::int64_t lines_;
  std::int64_t stride_;
  std::int64_t data_sets_;
  Ticks hit_;
  std::array<Ticks, 4> beyond_;  ///< L2 near, L2 far, HBM near, HBM far: means over a die's slices
  Ticks gradient_;               ///< from one end of the row to the other
  std::int64_t row_step_;        ///< from channel to channel on it
  std::vector<Ticks> ring_;      ///< by distance in stops: what the way adds to that mean
  bool may_hit_ = true;          ///< false: the chain is far larger than the data cache
  CyclicCache data_cache_;       ///< of any block: another base only renames the sets
  CyclicCache l2_;
};

}  // namespace sonde::sim
