// What holds for every modelled chip, those of a file and those drawn by seed: all engines answer,
// nothing is above its roof, more work never takes less time, and a seed gives the same rows.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "device/registry.h"
#include "device/sim/chip.h"
#include "device/sim/random_chip.h"
#include "device/sim/topology.h"
#include "tests/support/planted.h"

namespace sonde::sim {
namespace {

constexpr std::uint64_t kSeeds = 40;

struct Subject {
  std::string name;  ///< without "sim:"
  Chip chip;
  std::unique_ptr<Device> open(const std::string& options = "") const {
    const char* mark = name.find('?') == std::string::npos ? "?" : "&";
    return open_device("sim:" + name + (options.empty() ? "" : mark + options));
  }
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> list;
    for (const std::string& name : chip_names()) list.push_back({name, load_chip(name)});
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      list.push_back(
          {"random?seed=" + std::to_string(seed), random_chip(seed, Selector::Structure::any)});
    }
    return list;
  }();
  return all;
}

void for_all(const std::function<void(const Subject&)>& check) {
  for (const Subject& subject : subjects()) {
    SCOPED_TRACE(subject.name);
    check(subject);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

template <class Work>
Sample sample(Engine<Work>* engine, const Work& work, const Trial& trial = {}) {
  engine->prepare(work);
  Sample taken = engine->run(trial);
  const Check check = engine->verify();
  EXPECT_TRUE(check.ok) << check.problem;
  EXPECT_TRUE(std::isfinite(taken.elapsed.value()));
  EXPECT_GT(taken.elapsed.value(), 0);
  return taken;
}

template <class Work>
double seconds(Engine<Work>* engine, const Work& work, const Trial& trial = {}) {
  return sample(engine, work, trial).elapsed.value();
}

ChaseWork chase_work(const Device& device, std::int64_t blocks) {
  ChaseWork work;
  work.kind = device.description().cores.front().kind;
  work.blocks = blocks;
  work.footprint_bytes = 4096;
  work.loads = 64;
  work.warm = false;
  return work;
}

ContentionWork contention_work(const Device& device, const std::string& aggressor_work,
                               std::size_t aggressors) {
  const auto& cores = device.description().cores;
  ContentionWork work;
  work.victim = cores.front();
  work.aggressor_work = aggressor_work;
  work.aggressors.assign(cores.begin() + 1,
                         cores.begin() + 1 + static_cast<std::ptrdiff_t>(aggressors));
  work.footprint_bytes = device.description().contention_bytes;
  work.loads = work.footprint_bytes / device.description().chase_line_bytes;
  return work;
}

StreamWork stream_work(const Device& device, const std::string& kind, std::int64_t bytes,
                       std::size_t cores) {
  StreamWork work;
  work.cores = device.description().cores_of(device.description().cores.front().kind);
  work.cores.resize(std::min(cores, work.cores.size()));
  work.kind = kind;
  work.bytes = bytes;
  work.request_bytes = device.description().stream.request_bytes.front();
  work.requests = 8;
  return work;
}

GemmWork gemm_work(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& dtype) {
  GemmWork work;
  work.m = m;
  work.n = n;
  work.k = k;
  work.dtype = dtype;
  return work;
}

CopyWork copy_work(std::int64_t bytes, const std::string& method = "auto") {
  CopyWork work;
  work.bytes = bytes;
  work.method = method;
  return work;
}

TEST(AllChips, AreThoseOfTheFilesAndFortyDrawn) {
  EXPECT_EQ(subjects().size(), chip_names().size() + kSeeds);
  EXPECT_GE(chip_names().size(), 1U);
}

/// Elapsed times of one of each kind of work the device offers, one after the other.
std::vector<double> rows(Device& device, std::uint64_t seed) {
  const DeviceDescription& d = device.description();
  std::vector<double> all;
  std::int64_t point = 0;
  const auto trial = [&] { return Trial{seed, point++, 0}; };
  if (device.chase() != nullptr) {
    all.push_back(seconds(device.chase(), chase_work(device, 1), trial()));
    const auto cores = static_cast<std::int64_t>(d.cores_of(d.cores.front().kind).size());
    all.push_back(seconds(device.chase(), chase_work(device, cores + 1), trial()));
  }
  if (device.profile() != nullptr) {
    ProfileWork work{d.cores.back(), 4 * kMiB, 64, seed};
    const Sample taken = sample(device.profile(), work, trial());
    EXPECT_EQ(taken.series.size(), 64U);
    for (const AddressTime& at : taken.series) {
      EXPECT_GT(at.latency.value(), 1e-9);
      EXPECT_LT(at.latency.value(), 5e-6);
      all.push_back(at.latency.value());
    }
  }
  for (const std::string& work : d.aggressor_works) {
    const Sample taken = sample(device.contention(), contention_work(device, work, 3), trial());
    EXPECT_TRUE(taken.background_operations.value_or(0) > 0) << work;
    all.push_back(taken.elapsed.value());
  }
  for (const std::string& kind : d.stream.kinds) {
    all.push_back(seconds(device.stream(), stream_work(device, kind, 128 * kKiB, 4096), trial()));
  }
  for (const CopyPath& path : d.copies) {
    for (const std::string& method : path.methods) {
      all.push_back(seconds(device.copy(), copy_work(kMiB, method), trial()));
    }
  }
  for (const std::string& dtype : d.gemm.dtypes) {
    all.push_back(seconds(device.gemm(), gemm_work(1000, 500, 300, dtype), trial()));
  }
  return all;
}

TEST(AllChips, EveryEngineAnswersAndASeedGivesTheSameRows) {
  for_all([](const Subject& subject) {
    const auto first = rows(*subject.open(), 3);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, rows(*subject.open(), 3));
    EXPECT_NE(first, rows(*subject.open(), 4));
  });
}

TEST(AllChips, WithoutNoiseTrialAndTimeChangeNothing) {
  for_all([](const Subject& subject) {
    const auto device = subject.open("noise=off");
    const auto first = rows(*device, 3);
    EXPECT_EQ(first, rows(*device, 3));  // later, by the device's own clock
  });
}

TEST(AllChips, AResumedRunGoesOn) {
  for_all([](const Subject& subject) {
    const auto whole = subject.open("noise=on+drift+episodes");
    rows(*whole, 5);
    const Seconds middle = whole->now();
    const auto expected = rows(*whole, 6);
    const auto resumed = subject.open("noise=on+drift+episodes");
    resumed->resume_at(middle);
    EXPECT_EQ(rows(*resumed, 6), expected);
  });
}

TEST(AllChips, NothingIsAboveItsRoof) {
  for_all([](const Subject& subject) {
    const auto device = subject.open("noise=off");
    const DeviceDescription& d = device->description();
    const double memory = d.roof("memory_bytes_per_s").value();
    const Chip& chip = subject.chip;
    const double clock = static_cast<double>(chip.clock_hz);
    for (const std::string& kind : d.stream.kinds) {
      // Five times what the L2 holds, so that nothing stays in it.
      const auto cores = d.cores_of(d.cores.front().kind).size();
      const std::int64_t big = 5 * chip.l2_bytes() / static_cast<std::int64_t>(cores) + kMiB;
      const StreamWork far = stream_work(*device, kind, big, 4096);
      EXPECT_LE(static_cast<double>(far.moved_bytes()) / seconds(device->stream(), far),
                memory * (1 + 1e-9))
          << kind;
      // In the L2: every core's own port, there and back.
      StreamWork near = stream_work(*device, kind, 64 * kKiB, 4096);
      near.passes = 64;
      const double ports = static_cast<double>(chip.subsystems()) * clock *
                           static_cast<double>(chip.subsystem_port.bytes_per_cycle);
      EXPECT_LE(static_cast<double>(near.moved_bytes()) / seconds(device->stream(), near),
                (kind == "copy" ? 2 : 1) * ports)
          << kind;
    }
    for (const std::string& dtype : d.gemm.dtypes) {
      const double peak = d.roof(dtype + "_flop_per_s").value();
      double best = 0;
      for (std::int64_t edge : {512, 4096, 8192}) {
        const GemmWork work = gemm_work(edge, edge, edge, dtype);
        best = std::max(best, work.flop() / seconds(device->gemm(), work));
      }
      EXPECT_LE(best, peak) << dtype;
    }
    for (const CopyPath& path : d.copies) {
      for (const std::string& method : path.methods) {
        // Read and written.
        const std::int64_t bytes = 2 * kGiB;
        EXPECT_LE(
            2 * static_cast<double>(bytes) / seconds(device->copy(), copy_work(bytes, method)),
            memory * (1 + 1e-9))
            << method;
      }
    }
  });
}

TEST(AllChips, MoreWorkNeverTakesLessTime) {
  for_all([](const Subject& subject) {
    const auto device = subject.open("noise=off");
    const DeviceDescription& d = device->description();
    const auto rises = [](double& before, double now, const std::string& what) {
      EXPECT_GE(now, before) << what;
      before = now;
    };
    if (device->chase() != nullptr) {
      double before = 0;
      const auto cores = static_cast<std::int64_t>(d.cores_of(d.cores.front().kind).size());
      for (std::int64_t blocks : {std::int64_t{1}, cores / 2, cores, 2 * cores}) {
        rises(before, seconds(device->chase(), chase_work(*device, blocks)),
              std::to_string(blocks) + " blocks");
      }
    }
    for (const std::string& work : d.aggressor_works) {
      // More aggressors may leave each so little that the victim's own port has rest: only the
      // victim alone is the least.
      const double alone = seconds(device->contention(), contention_work(*device, "none", 0));
      for (std::size_t count : {std::size_t{1}, std::size_t{3}, d.cores.size() - 1}) {
        EXPECT_GE(seconds(device->contention(), contention_work(*device, work, count)), alone)
            << count << " that " << work;
      }
    }
    for (const std::string& kind : d.stream.kinds) {
      double before = 0;
      for (std::int64_t bytes = 4 * kKiB; bytes <= 4 * kMiB; bytes *= 4) {
        rises(before, seconds(device->stream(), stream_work(*device, kind, bytes, 4)),
              kind + " of " + std::to_string(bytes) + " B");
      }
    }
    for (const CopyPath& path : d.copies) {
      for (const std::string& method : path.methods) {
        if (method == "auto") continue;  // falls where a switch pays
        double before = 0;
        for (std::int64_t bytes = 1024; bytes <= kGiB; bytes *= 8) {
          rises(before, seconds(device->copy(), copy_work(bytes, method)),
                method + " of " + std::to_string(bytes) + " B");
        }
      }
    }
    for (const std::string& dtype : d.gemm.dtypes) {
      double before = 0;
      for (std::int64_t depth = 64; depth <= 16384; depth *= 4) {
        rises(before, seconds(device->gemm(), gemm_work(512, 768, depth, dtype)),
              dtype + " of depth " + std::to_string(depth));
      }
    }
  });
}

/// What a corrupt device leaves is caught by every engine.
TEST(AllChips, VerificationCatchesWrongResults) {
  for_all([](const Subject& subject) {
    const auto device = subject.open("fault=corrupt");
    const DeviceDescription& d = device->description();
    const auto caught = [](auto* engine, const auto& work) {
      engine->prepare(work);
      engine->run({});
      return !engine->verify().ok;
    };
    if (device->chase() != nullptr) {
      EXPECT_TRUE(caught(device->chase(), chase_work(*device, 2)));
      EXPECT_TRUE(caught(device->profile(), ProfileWork{d.cores.front(), kMiB, 8, 1}));
    }
    if (device->contention() != nullptr) {
      EXPECT_TRUE(caught(device->contention(), contention_work(*device, "load", 1)));
      EXPECT_TRUE(caught(device->stream(), stream_work(*device, "read", kMiB, 4)));
    }
    if (device->copy() != nullptr) {
      EXPECT_TRUE(caught(device->copy(), copy_work(4096)));
    }
    if (device->gemm() != nullptr) {
      EXPECT_TRUE(caught(device->gemm(), gemm_work(64, 64, 64, d.gemm.dtypes.front())));
    }
  });
}

/// A launch fills every core of a kind once before any gets a second block.
TEST(AllChips, ALaunchUsesEveryCoreOnce) {
  for_all([](const Subject& subject) {
    const Topology topology(subject.chip);
    std::set<std::string> kinds;
    std::size_t placed = 0;
    for (const CoreSite& site : topology.cores()) kinds.insert(site.kind);
    for (const std::string& kind : kinds) {
      const std::vector<int>& order = topology.block_order(kind);
      EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), order.size()) << kind;
      placed += order.size();
    }
    EXPECT_EQ(placed, topology.cores().size());
    for (const CoreSite& site : topology.cores()) {
      const auto found = topology.find(site.name());
      ASSERT_TRUE(found) << site.name().str();
      EXPECT_EQ(topology.cores()[static_cast<std::size_t>(*found)].name(), site.name());
    }
  });
}

}  // namespace
}  // namespace sonde::sim
