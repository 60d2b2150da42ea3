#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/parse.h"
#include "device/device.h"
#include "device/registry.h"
#include "device/sim/chase.h"
#include "device/sim/contention.h"
#include "device/sim/copy.h"
#include "device/sim/gemm.h"
#include "device/sim/machine.h"
#include "device/sim/profile.h"
#include "device/sim/stream.h"
#include "device/sim/stream_model.h"

namespace sonde::sim {

namespace {

DeviceDescription describe_chip(const Machine& machine, const std::string& selector) {
  const Chip& chip = machine.chip;
  DeviceDescription d;
  d.name = "sim:" + selector;
  d.product = chip.product + " (simulated)";
  d.time_source = TimeSource::modelled;
  d.places_blocks = true;
  for (const CoreSite& site : machine.topology.cores()) d.cores.push_back(site.name());
  d.memory = {{"data cache", chip.data_cache.bytes, chip.data_cache.line_bytes},
              {"L2", chip.l2_bytes(), chip.memory.line_bytes},
              {"HBM", chip.memory.hbm_bytes, std::nullopt}};
  d.memory_bytes = chip.memory.hbm_bytes;
  d.chase_line_bytes = chip.data_cache.line_bytes;
  d.chase_footprint_bytes = chip.chase_footprint_bytes;
  d.cold_launches = true;
  d.copies = {{"d2d", {"auto", "sdma", "tensor_move"}}};
  d.profile_bytes = chip.profile_bytes;
  d.contention_bytes = chip.chase_footprint_bytes;
  d.aggressor_works = {"register", "load", "store"};
  d.stream.kinds = {"read", "write", "copy"};
  d.stream.stores = {"ordinary"};
  d.stream.request_bytes = {kRequestBytes, 512, 128};
  d.stream.requests = kRequests;
  const std::int64_t cubes = chip.cubes();
  if (cubes > 0) d.gemm = {{"bf16"}, gemm_kernels(chip)};
  d.reference_clock_hz = static_cast<double>(chip.clock_hz);
  d.roofs = {{"memory_bytes_per_s", static_cast<double>(chip.memory.hbm_bytes_per_s),
              "chip file " + chip.file + ": HBM rate"},
             {"bf16_flop_per_s",
              static_cast<double>(cubes * chip.structure.cube_flop_per_cycle * chip.clock_hz),
              "chip file " + chip.file + ": " + std::to_string(cubes) + " Cube cores x " +
                  std::to_string(chip.structure.cube_flop_per_cycle) + " FLOP/cycle x core clock"}};
  d.conditions = {{"chip file", chip.file + ", check " + chip.check},
                  {"clock", format_number(static_cast<double>(chip.clock_hz) / 1e6) +
                                " MHz; lower under the power cap"},
                  {"noise", machine.selector.noise ? "on" : "off"},
                  {"fault", machine.selector.corrupt ? "corrupt" : "none"}};
  return d;
}

class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(Chip chip, Selector selector, const std::string& text)
      : machine_(std::move(chip), std::move(selector)),
        description_(describe_chip(machine_, text)) {}

  const DeviceDescription& description() const noexcept override { return description_; }

  Telemetry telemetry() override {
    Telemetry now;
    const Chip& chip = machine_.chip;
    now.clock = Hertz(static_cast<double>(chip.clock_hz));
    if (machine_.now_ns == 0) {
      now.power = Watts(static_cast<double>(chip.power.idle_mw) / 1e3);
      now.temperature = Celsius(chip.power.idle_temperature_c);
    } else if (machine_.load) {
      // The mean since the reading before, and that of a run repeated until the chip is warm.
      const LoadState load = *std::exchange(machine_.load, std::nullopt);
      const double over_idle = static_cast<double>(load.power_mw - chip.power.idle_mw) / 1e3;
      now.clock = Hertz(static_cast<double>(load.clock_khz) * 1e3);
      now.power = Watts(static_cast<double>(load.power_mw) / 1e3);
      now.temperature =
          Celsius(chip.power.idle_temperature_c + chip.power.kelvin_per_watt * over_idle);
    }
    // Else unknown: how the chip cools between runs, and what other loads draw, is not modelled.
    return now;
  }

  Seconds now() override { return Seconds(static_cast<double>(machine_.now_ns) / 1e9); }

  void resume_at(Seconds time) override {
    machine_.now_ns = static_cast<std::int64_t>(time.value() * 1e9 + 0.5);
    machine_.load.reset();
  }

  Engine<ChaseWork>* chase() noexcept override { return &chase_; }
  Engine<ProfileWork>* profile() noexcept override { return &profile_; }
  Engine<ContentionWork>* contention() noexcept override { return &contention_; }
  Engine<StreamWork>* stream() noexcept override { return &stream_; }
  Engine<CopyWork>* copy() noexcept override { return &copy_; }
  Engine<GemmWork>* gemm() noexcept override {
    return machine_.chip.cubes() > 0 ? &gemm_ : nullptr;
  }

 private:
  Machine machine_;
  DeviceDescription description_;
  ChaseEngine chase_{machine_};
  ProfileEngine profile_{machine_};
  ContentionEngine contention_{machine_};
  StreamEngine stream_{machine_};
  CopyEngine copy_{machine_};
  GemmEngine gemm_{machine_};
};

std::unique_ptr<Device> open_simulated(const std::string& text) {
  Selector selector = parse_selector(text);
  Chip chip = load_chip(selector.chip);
  return std::make_unique<SimulatedDevice>(std::move(chip), std::move(selector), text);
}

std::vector<Listing> list_simulated() {
  std::vector<Listing> listings;
  for (const std::string& name : chip_names()) {
    Listing listing{"sim:" + name, "", true, ""};
    try {
      listing.product = load_chip(name).product + " (simulated)";
    } catch (const std::exception& error) {
      listing.usable = false;
      listing.reason = error.what();
    }
    listings.push_back(std::move(listing));
  }
  return listings;
}

[[maybe_unused]] const bool registered = register_backend({"sim", open_simulated, list_simulated});

}  // namespace

}  // namespace sonde::sim
