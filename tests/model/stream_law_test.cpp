// Modelled streaming traffic against closed formulas and the maker's published times.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "device/sim/memory.h"
#include "device/sim/stream_model.h"
#include "device/sim/traffic.h"
#include "tests/model/chip_text.h"

namespace sonde::sim {
namespace {

double seconds(Ticks ticks) { return static_cast<double>(ticks) / 1e12; }

/// The maker's samples ran on a part with 32 subsystems.
Chip chip_of_32() {
  return parse_chip(with(chip_text(), "[[3, 3, 3, 3, 2, 0], [3, 3, 3, 3, 2, 0]]",
                         "[[3, 3, 3, 3, 3, 1], [3, 3, 3, 3, 3, 1]]"),
                    kChipFile);
}

struct Bench {
  explicit Bench(Chip read) : chip(std::move(read)), topology(chip), map(chip) {}

  StreamTime time(StreamWork work, const std::string& kind_of_core, std::size_t cores) const {
    const auto all = kind_of_core == "cube" ? topology.cubes() : topology.vectors();
    const std::vector<CoreSite> sites(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(cores));
    for (const CoreSite& site : sites) work.cores.push_back(site.name());
    const auto [hits, fresh] = hits_.try_emplace(working_set(work), 0);
    if (fresh) hits->second = l2_hit_ppm(chip, map, working_set(work));
    return stream_time(chip, sites, work, hits->second);
  }

  Chip chip;
  Topology topology;
  AddressMap map;
  mutable std::map<std::int64_t, std::int64_t> hits_;  // slow to find for many sizes
};

StreamWork reading(std::int64_t bytes, std::int64_t request_bytes, std::int64_t requests) {
  StreamWork work;
  work.bytes = bytes;
  work.request_bytes = request_bytes;
  work.requests = requests;
  return work;
}

constexpr std::int64_t kMakers = 301'989'888;  // bytes read in the maker's samples

TEST(StreamLaw, MakersTimesOn32Cores) {
  const Bench bench(chip_of_32());
  const struct {
    std::int64_t request_bytes;
    std::int64_t requests;
    const char* cores;
    double us;
  } cases[] = {{128, 1, "vector", 881.1},
               {128, 64, "vector", 206.0},
               {2048, 64, "vector", 185.7},
               {8192, 1, "cube", 241.6},
               {32768, 1, "cube", 187.2}};
  for (const auto& c : cases) {
    const std::size_t cores = c.cores == std::string("cube") ? 32 : 64;
    const StreamWork work =
        reading(kMakers / static_cast<std::int64_t>(cores), c.request_bytes, c.requests);
    EXPECT_NEAR(seconds(bench.time(work, c.cores, cores).total) * 1e6, c.us, 0.05 * c.us)
        << c.requests << " x " << c.request_bytes;
  }
}

TEST(StreamLaw, L2ReadsAtTheRateReportedFor28Cores) {
  const Bench bench(shipped_chip());
  for (const auto& [kind, cores] : {std::pair<std::string, std::size_t>{"cube", 28},
                                    std::pair<std::string, std::size_t>{"vector", 56}}) {
    StreamWork work = reading(64 * kMiB / static_cast<std::int64_t>(cores), 2048, 64);
    work.passes = 64;
    const StreamTime time = bench.time(work, kind, cores);
    const double bytes = 64.0 * 64 * kMiB;
    EXPECT_NEAR(bytes / seconds(time.total), 4.57e12, 0.05 * 4.57e12);
    EXPECT_EQ(time.bound, "subsystem port");
  }
}

TEST(StreamLaw, OneVectorCoreReadsAsReported) {
  const Bench bench(shipped_chip());
  const double rate =
      512.0 * kMiB / seconds(bench.time(reading(512 * kMiB, 2048, 64), "vector", 1).total);
  EXPECT_NEAR(rate, 157e9, 0.05 * 157e9);
}

TEST(StreamLaw, MemoryBoundIsBytesOverTheHbmRate) {
  const Bench bench(shipped_chip());
  const std::int64_t each = 16 * kMiB;  // 896 MiB on 56 cores: nothing stays in the L2
  const double start = 1.5e-6 + 78 / 1.65e9 + 316e-9;
  const double bytes = 56.0 * static_cast<double>(each);
  for (std::int64_t piece : {512L, 2048L, 32768L}) {
    const double cost = bytes * (1 + 14.0 / static_cast<double>(piece));
    StreamWork work = reading(each, piece, 65536 / piece);
    EXPECT_NEAR(seconds(bench.time(work, "vector", 56).total), start + cost / 1.6384e12, 2e-9);
    work.kind = "write";
    EXPECT_NEAR(seconds(bench.time(work, "vector", 56).total), start + cost / 1.6384e12, 2e-9);
    work.kind = "copy";
    EXPECT_NEAR(seconds(bench.time(work, "vector", 56).total),
                start + 2 * cost / (0.93 * 1.6384e12), 2e-9);
  }
}

TEST(StreamLaw, SmallCommandsAreBoundByTheirIssue) {
  const Bench bench(shipped_chip());
  const std::int64_t commands = 100'000;
  const StreamTime time = bench.time(reading(commands * 128, 128, 1), "vector", 1);
  EXPECT_EQ(time.bound, "transfer engine");
  const double start = 1.5e-6 + 78 / 1.65e9 + 134e-9;  // 12.8 MB lie in the L2
  EXPECT_NEAR(seconds(time.total), start + static_cast<double>(commands) * 39 / 1.65e9, 2e-9);
}

TEST(StreamLaw, OneCoreWritesAtItsWritePort) {
  const Bench bench(shipped_chip());
  StreamWork work = reading(512 * kMiB, 2048, 64);
  work.kind = "write";
  const double start = 1.5e-6 + 78 / 1.65e9 + 316e-9;
  EXPECT_NEAR(seconds(bench.time(work, "vector", 1).total), start + 512.0 * kMiB / (40 * 1.65e9),
              1e-8);
}

TEST(StreamLaw, SharedLinesAreFetchedOnce) {
  const Bench bench(shipped_chip());
  StreamWork work = reading(512 * kMiB, 32768, 1);
  const double one = seconds(bench.time(work, "cube", 1).total);
  // Eight Cube cores walk what one walks: as long, because the HBM serves it once; not so when each
  // has its own array.
  work.shared = true;
  EXPECT_NEAR(seconds(bench.time(work, "cube", 8).total), one, 1e-3 * one);
  work.shared = false;
  const double all = 28 * 512.0 * kMiB * (1 + 14.0 / 32768) / 1.6384e12;
  EXPECT_GT(all, 1.9 * one);
  EXPECT_NEAR(seconds(bench.time(work, "cube", 28).total), all, 3e-6);
}

TEST(StreamLaw, SameAddressesInStepAreServedOneAfterTheOther) {
  const Bench bench(shipped_chip());
  StreamWork work = reading(32 * kMiB, 2048, 64);  // in the L2
  work.shared = true;
  work.passes = 16;
  const double bytes = 16.0 * 56 * 32 * kMiB;
  // 32 slices; 512 B take 4 cycles, and 4 more for a look-up that overlaps with nothing.
  const StreamTime same = bench.time(work, "vector", 56);
  EXPECT_EQ(same.bound, "L2 slices, same addresses");
  EXPECT_NEAR(seconds(same.total), bytes / (32 * 512 / 8.0 * 1.65e9), 3e-6);
  work.pattern = "staggered";
  const StreamTime staggered = bench.time(work, "vector", 56);
  EXPECT_EQ(staggered.bound, "subsystem port");
  EXPECT_NEAR(seconds(staggered.total), bytes / (28 * 100 * 1.65e9), 3e-6);
}

TEST(StreamLaw, StaggeredBeyondTheL2FetchesForEachCore) {
  const Bench bench(shipped_chip());
  StreamWork work = reading(512 * kMiB, 2048, 64);
  work.shared = true;
  work.pattern = "staggered";
  const double cost = 56 * 512.0 * kMiB * (1 + 14.0 / 2048);
  EXPECT_NEAR(seconds(bench.time(work, "vector", 56).total), cost / 1.6384e12, 3e-6);
}

TEST(StreamLaw, BuffersFollowLittlesLaw) {
  // So many bytes are on their way in a round trip of one latency and one tile through the port.
  const Bench bench(shipped_chip());
  const std::int64_t bytes = 512 * kMiB;
  for (std::int64_t buffers : {1L, 2L}) {
    StreamWork work = reading(bytes, 2048, 1);
    work.tile_bytes = 16 * kKiB;
    work.requests = 8;
    work.buffers = buffers;
    const double trip = 316e-9 + 164 / 1.65e9;  // 16 KiB at 100 B/cycle
    const double law = static_cast<double>(bytes) / (16.0 * kKiB) / static_cast<double>(buffers);
    EXPECT_NEAR(seconds(bench.time(work, "vector", 1).total), law * trip, 1e-3 * law * trip);
  }
  // Enough of them: what the engine itself can have in flight.
  StreamWork work = reading(bytes, 2048, 8);
  const Ticks alone = bench.time(work, "vector", 1).total;
  work.tile_bytes = 16 * kKiB;
  work.buffers = 8;
  EXPECT_EQ(bench.time(work, "vector", 1).total, alone);
}

TEST(StreamLaw, MoreBuffersAreNeverSlower) {
  const Bench bench(shipped_chip());
  for (const char* kind : {"read", "copy"}) {
    for (std::int64_t tile : {2048L, 8192L, 24'000L}) {
      Ticks before = std::numeric_limits<Ticks>::max();
      for (std::int64_t buffers = 1; buffers <= 10; ++buffers) {
        StreamWork work = reading(16 * kMiB + 12'345, 2048, 4);
        work.kind = kind;
        work.tile_bytes = tile;
        work.buffers = buffers;
        const Ticks now = bench.time(work, "vector", 3).total;
        EXPECT_LE(now, before) << kind << " " << tile << " " << buffers;
        before = now;
      }
    }
  }
}

TEST(StreamLaw, OneBufferTakesTurns) {
  // A copy through one buffer is a read and then a write; through two the longer of both.
  const Bench bench(shipped_chip());
  const auto time = [&](const char* kind, std::int64_t buffers) {
    StreamWork work = reading(4 * kMiB, 2048, 8);  // in the L2, whatever the kind
    work.passes = 16;
    work.kind = kind;
    work.tile_bytes = 16 * kKiB;
    work.buffers = buffers;
    return seconds(bench.time(work, "vector", 1).total);
  };
  const double read = time("read", 1);
  const double write = time("write", 1);
  EXPECT_NEAR(time("copy", 1), read + write, 0.01 * read);
  EXPECT_NEAR(time("copy", 2), std::max(time("read", 2), write), 0.01 * write);
}

TEST(StreamLaw, ReReadsComeFromTheL2) {
  const Bench bench(shipped_chip());
  StreamWork work = reading(16 * kMiB, 2048, 64);  // 896 MiB: far beyond the L2
  const double once = seconds(bench.time(work, "vector", 56).total);
  work.reread = 2;
  // Twice through the ports takes less than once from the HBM.
  EXPECT_NEAR(seconds(bench.time(work, "vector", 56).total), once, 1e-9);
  work.reread = 12;
  const StreamTime many = bench.time(work, "vector", 56);
  EXPECT_EQ(many.bound, "subsystem port");
  const double bytes = 12.0 * 56 * 16 * kMiB;
  EXPECT_NEAR(seconds(many.total), bytes / (28 * 100 * 1.65e9), 3e-6);
  // Bytes counted are bytes moved: 12 reads of each.
  work.cores.resize(56);
  EXPECT_EQ(work.moved_bytes(), 16 * kMiB * 12 * 56);
}

TEST(StreamLaw, UnalignedRowsCostWhatTheMakerMeasured) {
  const Bench bench(chip_of_32());
  const auto slower = [&](const char* kind, std::size_t cores, std::int64_t request,
                          std::int64_t requests) {
    StreamWork work = reading(kMakers / static_cast<std::int64_t>(cores), request, requests);
    const double aligned = seconds(bench.time(work, kind, cores).total);
    work.alignment = 2;
    return seconds(bench.time(work, kind, cores).total) / aligned;
  };
  EXPECT_NEAR(slower("vector", 64, 2048, 64), 189.2 / 185.7, 0.005);
  EXPECT_NEAR(slower("cube", 32, 32768, 1), 203.0 / 187.2, 0.005);
}

TEST(StreamLaw, AnySizeMovesItsBytes) {
  // The last tile and request may be shorter: one byte more never takes less.
  const Bench bench(shipped_chip());
  const Tiling tiling{2048, 6000, 2};
  EXPECT_EQ(tiling.commands(6000), 3);
  EXPECT_EQ(tiling.commands(6001), 4);
  EXPECT_EQ(tiling.commands(12'000 + 2049), 8);
  Ticks before = 0;
  for (std::int64_t bytes : {1L, 127L, 128L, 2047L, 2048L, 2049L, 6000L, 6001L, 99'999L}) {
    StreamWork work = reading(bytes, 2048, 1);
    work.tile_bytes = 6000;
    work.buffers = 2;
    const Ticks now = bench.time(work, "vector", 5).total;
    EXPECT_GE(now, before) << bytes;
    before = now;
  }
}

TEST(StreamLaw, NeverAboveTheRoofs) {
  const Bench bench(shipped_chip());
  for (std::int64_t each = 4096; each <= 64 * kMiB; each *= 4) {
    for (std::size_t cores : {1UL, 2UL, 7UL, 56UL}) {
      for (const char* kind : {"read", "write", "copy"}) {
        for (std::int64_t piece : {64L, 2048L, 100'000L}) {
          StreamWork work = reading(each, piece, 1);
          work.kind = kind;
          work.passes = 3;
          const StreamTime time = bench.time(work, "vector", cores);
          const double moved = 3.0 * static_cast<double>(each) * static_cast<double>(cores) *
                               static_cast<double>(work.arrays());
          const auto subsystems = (cores + 1) / 2;
          const double ports = 100 * 1.65e9 * static_cast<double>(subsystems);
          EXPECT_LE(moved / seconds(time.total), ports * static_cast<double>(work.arrays()));
          if (each * static_cast<std::int64_t>(cores) > 512 * kMiB) {
            EXPECT_LE(moved / seconds(time.total), 1.6384e12);
          }
        }
      }
    }
  }
}

TEST(StreamLaw, MoreBytesNeverTakeLess) {
  const Bench bench(shipped_chip());
  Ticks before = 0;
  for (std::int64_t each = 4096; each <= 256 * kMiB; each += each / 2) {
    const Ticks now = bench.time(reading(each, 2048, 64), "vector", 56).total;
    EXPECT_GE(now, before) << each;
    before = now;
  }
}

}  // namespace
}  // namespace sonde::sim
