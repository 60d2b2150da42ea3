#include "device/sim/memory.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace sonde::sim {

namespace {

/// A footprint beyond this many times the capacity leaves no set that still hits: with hashed sets
/// of 16 ways and 64 lines in the mean, six standard deviations away.
constexpr std::int64_t kSureMiss = 4;

int log2_of(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

}  // namespace

AddressMap::AddressMap(const Chip& chip)
    : channels_(chip.memory.channels),
      sets_(chip.memory.slice_bytes / (chip.memory.line_bytes * chip.memory.ways)),
      interleave_shift_(log2_of(chip.memory.interleave_bytes)),
      line_shift_(log2_of(chip.memory.line_bytes)),
      channel_shift_(log2_of(channels_)),
      power_of_two_(std::has_single_bit(static_cast<std::uint64_t>(channels_))),
      line_mask_(chip.memory.interleave_bytes / chip.memory.line_bytes - 1) {
  const int dies = chip.structure.dies;
  for (int c = 0; c < static_cast<int>(channels_); ++c) place_.push_back({c % dies, c / dies});
  Rng rng(key_of({static_cast<std::uint64_t>(channels_)}));  // wired: the same for every seed
  for (std::size_t i = 0; i < kOrders; ++i) {
    std::vector<std::uint8_t> order(static_cast<std::size_t>(channels_));
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = static_cast<std::uint8_t>(c);
    shuffle(order, rng);
    order_.insert(order_.end(), order.begin(), order.end());
  }
}

CyclicCache::CyclicCache(std::int64_t sets, std::int64_t ways)
    : lines_(static_cast<std::size_t>(sets)), ways_(static_cast<std::uint32_t>(ways)) {}

void CyclicCache::miss_always() { std::fill(lines_.begin(), lines_.end(), ways_ + 1); }

CyclicCache walked_l2(const Chip& chip, const AddressMap& map, std::int64_t blocks,
                      std::int64_t footprint, std::int64_t stride) {
  CyclicCache l2(map.channels() * map.sets(), chip.memory.ways);
  if (blocks * stride > kSureMiss * chip.l2_bytes()) {
    l2.miss_always();
    return l2;
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t end = block * stride + footprint;
    for (std::int64_t at = block * stride; at < end; at += chip.memory.line_bytes) {
      const AddressMap::Home home = map.home(at);
      l2.add(home.channel * map.sets() + home.set);
    }
  }
  return l2;
}

std::int64_t l2_hit_ppm(const Chip& chip, const AddressMap& map, std::int64_t bytes) {
  if (bytes > kSureMiss * chip.l2_bytes()) return 0;
  const CyclicCache l2 = walked_l2(chip, map, 1, bytes, bytes);
  std::int64_t hits = 0;
  for (std::int64_t at = 0; at < bytes; at += chip.memory.line_bytes) {
    const AddressMap::Home home = map.home(at);
    hits += l2.hits(home.channel * map.sets() + home.set) ? 1 : 0;
  }
  return hits * 1'000'000 / divide_up(bytes, chip.memory.line_bytes);
}

std::vector<Ticks> ring_offsets(std::int64_t stops, Ticks hop) {
  const auto distance = [&](std::int64_t stop) { return std::min(stop, stops - stop); };
  std::int64_t sum = 0;
  for (std::int64_t stop = 0; stop < stops; ++stop) sum += distance(stop);
  std::vector<Ticks> offsets;
  for (std::int64_t stop = 0; stop < stops; ++stop) {
    offsets.push_back((distance(stop) * stops - sum) * hop / stops);
  }
  return offsets;
}

ChaseMemory::ChaseMemory(const Chip& chip, const AddressMap& map, std::int64_t blocks,
                         std::int64_t footprint)
    : map_(map),
      footprint_(footprint),
      line_bytes_(chip.data_cache.line_bytes),
      lines_(footprint / line_bytes_),
      stride_(divide_up(footprint, chip.memory.interleave_bytes) * chip.memory.interleave_bytes),
      data_sets_(chip.data_cache.bytes / (line_bytes_ * chip.data_cache.ways)),
      hit_(chip.data_cache.hit),
      beyond_{chip.memory.l2_near, chip.memory.l2_far, chip.memory.hbm_near, chip.memory.hbm_far},
      gradient_(chip.scatter.gradient),
      row_step_(kRow / std::max<std::int64_t>(chip.memory.channels - 1, 1)),
      ring_(ring_offsets(chip.memory.channels / chip.structure.dies, chip.noc.hop)),
      data_cache_(data_sets_, chip.data_cache.ways),
      l2_(walked_l2(chip, map, blocks, lines_ * line_bytes_, stride_)) {
  fill_data_cache(chip);
}

void ChaseMemory::fill_data_cache(const Chip& chip) {
  if (lines_ * line_bytes_ > kSureMiss * chip.data_cache.bytes) {
    may_hit_ = false;
    return;
  }
  for (std::int64_t line = 0; line < lines_; ++line) data_cache_.add(line % data_sets_);
}

}  // namespace sonde::sim
