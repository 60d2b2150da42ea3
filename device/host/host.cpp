// The CPU this runs on, as a device.
#include <gnu/libc-version.h>

#include <cstdlib>
#include <memory>

#include "core/error.h"
#include "device/common/gemm_reference.h"
#include "device/common/unix_time.h"
#include "device/host/chase.h"
#include "device/host/clock.h"
#include "device/host/contention.h"
#include "device/host/copy.h"
#include "device/host/copy_methods.h"
#include "device/host/describe.h"
#include "device/host/gemm.h"
#include "device/host/handoff.h"
#include "device/host/health.h"
#include "device/host/machine.h"
#include "device/host/pin.h"
#include "device/host/profile.h"
#include "device/host/sensors.h"
#include "device/host/stream.h"
#include "device/host/wait_watch.h"
#include "device/registry.h"

namespace sonde::host {
namespace {

class HostDevice final : public Device {
 public:
  HostDevice()
      : machine_(read_machine(root_, affinity())),
        description_(describe_machine(machine_)),
        power_(root_),
        chase_(machine_, description_),
        profile_(machine_, description_),
        contention_(machine_, description_),
        handoff_(machine_, description_),
        stream_(machine_, description_),
        copy_(machine_, description_),
        gemm_(machine_, description_) {
    // What the processor and the libraries of this process can do is not in the machine's files.
    description_.stream = stream_offer();
    description_.copies = {copy_offer()};
    description_.gemm = gemm_offer();
    description_.conditions.emplace_back("onednn", onednn_version());
    description_.conditions.emplace_back("glibc", gnu_get_libc_version());
    description_.conditions.emplace_back("gemm_fill", kGemmFill);
    // These move the sizes at which memcpy changes its method.
    if (const char* tunables = std::getenv("GLIBC_TUNABLES"); tunables && *tunables) {
      description_.conditions.emplace_back("glibc_tunables", tunables);
    }
  }

  const DeviceDescription& description() const noexcept override { return description_; }

  Telemetry telemetry() override {
    Telemetry now;
    // The engines read the clock of the core they measured; this is for where they cannot.
    now.clock = stated_clock(root_, machine_.cpus.front());
    now.power = power_.since_last(monotonic_ns());
    now.temperature = processor_temperature(root_);
    now.throttle_events = throttle_events(root_, machine_.cpus);
    now.waited = waited_for_cores();
    return now;
  }

  Seconds now() override { return unix_now(); }
  Engine<ChaseWork>* chase() noexcept override { return &chase_; }
  Engine<ProfileWork>* profile() noexcept override { return &profile_; }
  Engine<ContentionWork>* contention() noexcept override { return &contention_; }
  Engine<HandoffWork>* handoff() noexcept override { return &handoff_; }
  Engine<StreamWork>* stream() noexcept override { return &stream_; }
  Engine<CopyWork>* copy() noexcept override { return &copy_; }
  Engine<GemmWork>* gemm() noexcept override { return &gemm_; }

 private:
  static std::vector<int> affinity() {
    try {
      return thread_affinity();
    } catch (const PointFailure& failure) {
      throw UsageError(std::string("host: ") + failure.what());
    }
  }

  FileRoot root_;
  Machine machine_;
  DeviceDescription description_;
  PowerMeter power_;
  ChaseEngine chase_;
  ProfileEngine profile_;
  ContentionEngine contention_;
  HandoffEngine handoff_;
  StreamEngine stream_;
  CopyEngine copy_;
  GemmEngine gemm_;
};

std::unique_ptr<Device> open_host(const std::string& selector) {
  if (!selector.empty()) {
    throw UsageError("host:" + selector + ": there is one host, named \"host\"");
  }
  return std::make_unique<HostDevice>();
}

std::vector<Listing> list_host() {
  try {
    return {{"host", HostDevice().description().product, true, ""}};
  } catch (const UsageError& error) {
    return {{"host", "", false, error.what()}};
  }
}

std::vector<HealthCheck> host_health() {
  return machine_health(read_machine(FileRoot(), thread_affinity()));
}

[[maybe_unused]] const bool kRegistered =
    register_backend({"host", open_host, list_host, host_health});

}  // namespace
}  // namespace sonde::host
