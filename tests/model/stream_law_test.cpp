// Modelled streaming traffic against closed formulas and the maker's published times.
#include <gtest/gtest.h>

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
  StreamWork work = reading(512 * kMiB, 2048, 64);
  const double one = seconds(bench.time(work, "vector", 1).total);
  work.shared = true;
  // All 56 cores walk what one walks: the HBM serves it once, and the ports are the limit.
  const StreamTime all = bench.time(work, "vector", 56);
  EXPECT_EQ(all.bound, "subsystem port");
  EXPECT_NEAR(seconds(all.total), 2 * 512.0 * kMiB / (100 * 1.65e9), 3e-6);
  EXPECT_LT(seconds(all.total), 2 * one);
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
          const double ports = 100 * 1.65e9 * static_cast<double>((cores + 1) / 2);
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
