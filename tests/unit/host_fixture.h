#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "device/host/describe.h"
#include "device/host/machine.h"
#include "device/host/pin.h"

namespace sonde::host {

/// The machine the tests run on, and what an engine says to work it cannot do.
class HostFixture : public testing::Test {
 protected:
  HostFixture()
      : machine_(read_machine(FileRoot("/"), thread_affinity())),
        description_(describe_machine(machine_)) {}

  CoreName first() const { return core_of(machine_.cpus.front()); }
  CoreName last() const { return core_of(machine_.cpus.back()); }
  bool one_core() const { return machine_.cpus.size() < 2; }
  CoreName absent() const { return core_of(machine_.cpus.back() + 1); }

  template <class Engine, class Work>
  static std::string skip_reason(Engine& engine, const Work& work) {
    try {
      engine.prepare(work);
    } catch (const Skip& skip) {
      EXPECT_THROW(engine.run({}), PointFailure) << "nothing is prepared after a skip";
      return skip.what();
    }
    return "not skipped";
  }

  Machine machine_;
  DeviceDescription description_;
};

}  // namespace sonde::host
