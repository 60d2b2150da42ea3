#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "core/error.h"
#include "core/units.h"
#include "device/host/clock.h"
#include "device/host/copy.h"
#include "device/host/describe.h"
#include "device/host/pin.h"
#include "device/registry.h"

namespace sonde::host {
namespace {

class HostCopy : public testing::Test {
 protected:
  HostCopy()
      : machine_(read_machine(FileRoot("/"), thread_affinity())),
        description_(describe_machine(machine_)) {
    machine_.caches.resize(std::min<std::size_t>(machine_.caches.size(), 1));  // small cold sets
  }
  static CopyWork work(std::int64_t bytes) {
    CopyWork w;
    w.bytes = bytes;
    w.seed = 11;
    return w;
  }
  static Check copied(CopyEngine& engine, const CopyWork& w) {
    engine.prepare(w);
    const Sample sample = engine.run({});
    EXPECT_GT(sample.elapsed.value(), 0);
    EXPECT_EQ(sample.note.rfind("memcpy, ", 0), 0U) << sample.note;
    return engine.verify();
  }
  static std::string skip_reason(CopyEngine& engine, const CopyWork& w) {
    try {
      engine.prepare(w);
    } catch (const Skip& skip) {
      return skip.what();
    }
    return "not skipped";
  }

  Machine machine_;
  DeviceDescription description_;
};

TEST_F(HostCopy, EverySizeArrivesWhole) {
  CopyEngine engine(machine_, description_);
  for (std::int64_t bytes : {std::int64_t{1}, std::int64_t{7}, std::int64_t{64}, std::int64_t{4097},
                             4 * kMiB + 3, 5 * kMiB, 4 * kMiB}) {
    const Check check = copied(engine, work(bytes));
    EXPECT_TRUE(check.ok) << bytes << ": " << check.problem;
  }
}

/// A copy that takes a planted time: never less than 2 ms.
void* slow_copy(void* to, const void* from, std::size_t bytes) {
  const std::int64_t end = monotonic_ns() + 2'000'000;
  while (monotonic_ns() < end) {
  }
  return std::memcpy(to, from, bytes);
}

TEST_F(HostCopy, ElapsedIsTheTimeOfOneCopyInSeconds) {
  CopyEngine engine(machine_, description_, slow_copy);
  engine.prepare(work(64));
  const double elapsed = engine.run({}).elapsed.value();
  EXPECT_GE(elapsed, 2e-3);
  EXPECT_LT(elapsed, 1.0);  // a factor of 1000 off would be 2 s; a busy machine is far from that
}

TEST_F(HostCopy, RunsOnTheFirstCoreThatIsAllowed) {
  machine_.cpus = {machine_.cpus.back()};
  CopyEngine engine(machine_, description_);
  engine.prepare(work(64));
  EXPECT_EQ(engine.run({}).placement, std::vector<CoreName>{core_of(machine_.cpus.back())});
  EXPECT_TRUE(engine.verify().ok);
}

TEST_F(HostCopy, ColdCopiesRotateAndArriveWhole) {
  machine_.caches = {{"L1d", 1, 64 * kKiB, 64}};
  CopyEngine engine(machine_, description_);
  for (std::int64_t bytes : {std::int64_t{1}, std::int64_t{100}, 8 * kKiB, 5 * kMiB}) {
    CopyWork w = work(bytes);
    w.warm = false;
    const Check check = copied(engine, w);
    EXPECT_TRUE(check.ok) << bytes << ": " << check.problem;
  }
  EXPECT_TRUE(copied(engine, work(5 * kMiB)).ok);
}

TEST_F(HostCopy, AlignmentIsKept) {
  static std::uintptr_t seen = 0;
  CopyEngine engine(machine_, description_, [](void* to, const void* from, std::size_t n) {
    seen |= reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    return std::memcpy(to, from, n);
  });
  for (std::int64_t alignment : {std::int64_t{1}, std::int64_t{64}, 4 * kKiB}) {
    CopyWork w = work(100);
    w.alignment = alignment;
    for (int i = 0; i < 4; ++i) {
      seen = 0;
      EXPECT_TRUE(copied(engine, w).ok);
      EXPECT_EQ(seen % static_cast<std::uintptr_t>(alignment), 0U) << alignment;
    }
  }
}

TEST_F(HostCopy, ACopyThatGoesWrongIsCaught) {
  const CopyFunction faulty[] = {
      // Last byte missing; one bit turned; nothing copied.
      [](void* to, const void* from, std::size_t n) { return std::memcpy(to, from, n - 1); },
      [](void* to, const void* from, std::size_t n) {
        std::memcpy(to, from, n);
        static_cast<unsigned char*>(to)[n / 2] ^= 0x10;
        return to;
      },
      [](void* to, const void*, std::size_t) { return to; },
  };
  for (CopyFunction function : faulty) {
    CopyEngine engine(machine_, description_, function);
    for (std::int64_t bytes : {std::int64_t{1}, std::int64_t{4097}, 5 * kMiB}) {
      engine.prepare(work(bytes));
      try {
        engine.run({});
      } catch (const PointFailure&) {
        continue;  // a copy of nothing may take no time at all
      }
      const Check check = engine.verify();
      EXPECT_FALSE(check.ok) << bytes;
      EXPECT_NE(check.problem.find("expected"), std::string::npos) << check.problem;
    }
  }
}

TEST_F(HostCopy, EveryMethodCopiesAnySizeAndSaysItsStores) {
  description_.copies = {copy_offer()};
  EXPECT_EQ(copy_offer().methods.front(), "auto");
  CopyEngine engine(machine_, description_);
  for (const CopyMethod& method : copy_methods()) {
    for (const std::int64_t bytes :
         {std::int64_t{1}, std::int64_t{63}, std::int64_t{4097}, 5 * kMiB}) {
      CopyWork w = work(bytes);
      w.method = method.name;
      engine.prepare(w);
      const Sample sample = engine.run({});
      EXPECT_EQ(sample.store, method.name == "nt_loop"       ? "nt"
                              : method.name == "vector_loop" ? "ordinary"
                                                             : "");
      const Check check = engine.verify();
      EXPECT_TRUE(check.ok) << method.name << " " << bytes << ": " << check.problem;
    }
    if (method.alignment == 1) continue;
    CopyWork w = work(4096);
    w.method = method.name;
    w.alignment = 1;
    EXPECT_NE(skip_reason(engine, w).find("aligned to"), std::string::npos);
  }
}

TEST_F(HostCopy, SeveralCoresShareOneCopy) {
  if (machine_.cpus.size() < 2) GTEST_SKIP() << "one core";
  CopyEngine engine(machine_, description_);
  CopyWork w = work(100'000);
  w.cores = {core_of(machine_.cpus[0]), core_of(machine_.cpus[1])};
  for (const bool warm : {true, false}) {
    w.warm = warm;
    engine.prepare(w);
    EXPECT_EQ(engine.run({}).placement, w.cores);
    const Check check = engine.verify();
    EXPECT_TRUE(check.ok) << check.problem;
  }
  w.bytes = 64;
  EXPECT_NE(skip_reason(engine, w).find("too few for 2 cores"), std::string::npos);
  w.cores = {{"cpu", 99'999}};
  EXPECT_NE(skip_reason(engine, w), "not skipped");
}

TEST_F(HostCopy, APartThatOneOfSeveralCoresLeavesOutIsCaught) {
  if (machine_.cpus.size() < 2) GTEST_SKIP() << "one core";
  static std::atomic<const void*> first = nullptr;
  first = nullptr;
  CopyEngine engine(machine_, description_, [](void* to, const void* from, std::size_t n) {
    const void* none = nullptr;
    // Whoever comes first is the one that works: the other core's part never arrives.
    if (first.compare_exchange_strong(none, from) || none == from) std::memcpy(to, from, n);
    return to;
  });
  CopyWork w = work(4 * kMiB);
  w.cores = {core_of(machine_.cpus[0]), core_of(machine_.cpus[1])};
  engine.prepare(w);
  try {
    engine.run({});
  } catch (const PointFailure&) {
  }
  EXPECT_FALSE(engine.verify().ok);
}

TEST_F(HostCopy, WhatCannotBeDoneIsSkippedWithTheReason) {
  CopyEngine engine(machine_, description_);
  CopyWork w = work(64);
  w.direction = "h2d";
  EXPECT_EQ(skip_reason(engine, w), "no h2d copies here; there is d2d");
  w = work(64);
  w.method = "dma";
  EXPECT_EQ(skip_reason(engine, w), "no method dma for d2d copies here; there is auto");
  EXPECT_NE(skip_reason(engine, work(0)).find("at least 1 B"), std::string::npos);
  w = work(64);
  w.alignment = 48;
  EXPECT_NE(skip_reason(engine, w).find("power of two"), std::string::npos);
  EXPECT_THROW(engine.run({}), PointFailure) << "nothing is prepared after a skip";
}

TEST_F(HostCopy, BeyondTheMemoryOfAMeasurementIsSkippedNamingTheLimit) {
  description_.memory_bytes = 16 * kMiB;
  CopyEngine engine(machine_, description_);
  for (std::int64_t bytes : {8 * kMiB, std::int64_t{1} << 62}) {
    EXPECT_NE(skip_reason(engine, work(bytes)).find("16,777,216 B"), std::string::npos);
  }
  machine_.caches = {{"L3", 3, kGiB, 64}};
  CopyWork cold = work(4 * kKiB);
  cold.warm = false;
  EXPECT_NE(skip_reason(engine, cold).find("16,777,216 B"), std::string::npos);
  machine_.caches.clear();
  EXPECT_NE(skip_reason(engine, cold).find("last cache"), std::string::npos);
}

TEST(HostDevice, OpensByNameAndOffersItsEngines) {
  const std::unique_ptr<Device> device = open_device("host");
  const DeviceDescription& d = device->description();
  EXPECT_EQ(d.name, "host");
  EXPECT_EQ(d.time_source, TimeSource::host_clock);
  EXPECT_FALSE(d.places_blocks);
  EXPECT_FALSE(d.cores.empty());
  EXPECT_FALSE(d.product.empty());
  EXPECT_NE(device->chase(), nullptr);
  EXPECT_NE(device->profile(), nullptr);
  EXPECT_NE(device->contention(), nullptr);
  EXPECT_NE(device->handoff(), nullptr);
  EXPECT_NE(device->stream(), nullptr);
  EXPECT_NE(device->copy(), nullptr);
  EXPECT_NE(device->gemm(), nullptr);
  EXPECT_GT(d.profile_bytes, 0);
  EXPECT_GT(d.contention_bytes, 0);
  EXPECT_EQ(d.handoff_kinds, (std::vector<std::string>{"read", "write"}));
  EXPECT_EQ(d.aggressor_works.front(), "register");
  EXPECT_EQ(d.stream.kinds.size(), 4U);
  ASSERT_GE(d.gemm.kernels.size(), 4U);
  EXPECT_EQ(std::vector<std::string>(d.gemm.kernels.begin(), d.gemm.kernels.begin() + 4),
            (std::vector<std::string>{"auto", "onednn", "onednn_plain", "eigen"}));
  EXPECT_EQ(d.gemm.dtypes, (std::vector<std::string>{"bf16", "fp32"}));
  EXPECT_TRUE(std::any_of(d.conditions.begin(), d.conditions.end(), [](const auto& condition) {
    return condition.first == "gemm_fill" && condition.second.find("(-1, 1)") != std::string::npos;
  })) << "what the operands hold decides their speed";
  EXPECT_GT(device->now().value(), 1.6e9);
  device->telemetry();
  EXPECT_THROW(open_device("host:3"), UsageError);
}

}  // namespace
}  // namespace sonde::host
