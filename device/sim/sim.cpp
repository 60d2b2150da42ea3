#include "device/sim/sim.h"

#include <cmath>
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
#include "device/sim/random_chip.h"
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
  if (chip.parts.loads) {
    d.memory.push_back({"data cache", chip.data_cache.bytes, chip.data_cache.line_bytes});
    d.chase_line_bytes = chip.data_cache.line_bytes;
    d.chase_footprint_bytes = chip.chase_footprint_bytes;
    d.cold_launches = true;
    d.profile_bytes = chip.profile_bytes;
  }
  d.memory.push_back({"L2", chip.l2_bytes(), chip.memory.line_bytes});
  d.memory.push_back({"HBM", chip.memory.hbm_bytes, std::nullopt});
  d.memory_bytes = chip.memory.hbm_bytes;
  if (chip.parts.two_copies) d.copies = {{"d2d", {"auto", "sdma", "tensor_move"}}};
  if (chip.parts.one_copy) d.copies = {{"d2d", {"auto"}}};
  if (chip.parts.transfers) {
    d.contention_bytes = chip.chase_footprint_bytes;
    d.aggressor_works = {"register", "load", "store"};
    d.stream.kinds = {"read", "write", "copy"};
    d.stream.stores = {"ordinary"};
    d.stream.request_bytes = {kRequestBytes, 512, 128};
    d.stream.requests = kRequests;
  }
  if (chip.cubes() > 0) d.gemm = {gemm_dtypes(chip), gemm_kernels(chip)};
  d.reference_clock_hz = static_cast<double>(chip.clock_hz);
  d.roofs = {{"memory_bytes_per_s", static_cast<double>(chip.memory.hbm_bytes_per_s),
              "chip file " + chip.file + ": HBM rate"}};
  for (const std::string& dtype : known_dtypes()) {
    const auto flop = chip.structure.flop_per_cycle.find(dtype);
    if (chip.cubes() == 0 || flop == chip.structure.flop_per_cycle.end()) continue;
    d.roofs.push_back(
        {dtype + "_flop_per_s",
         static_cast<double>(chip.cubes() * flop->second) * static_cast<double>(chip.clock_hz),
         "chip file " + chip.file + ": " + std::to_string(chip.cubes()) + " " +
             chip.multiplying_kind() + " cores x " + std::to_string(flop->second) +
             " FLOP/cycle x core clock"});
  }
  for (const Parameter& p : chip.parameters) {
    d.parameters.push_back(
        {p.section + "." + p.key, p.value, p.unit, p.source, p.confidence, p.file});
  }
  d.conditions = {{"chip file", chip.file + ", check " + chip.check},
                  {"clock", format_number(static_cast<double>(chip.clock_hz) / 1e6) +
                                " MHz; lower under the power cap"},
                  {"noise", noise_text(machine.selector)},
                  {"fault", to_string(machine.selector.fault)}};
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
    if (machine_.selector.episodes) now.throttle_events = machine_.throttle_events;
    const Chip& chip = machine_.chip;
    const double step =
        1e-6 * static_cast<double>(clock_ppm(chip, machine_.selector, machine_.now_ns));
    now.clock = Hertz(static_cast<double>(chip.clock_hz) * step);
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

  Seconds now() override {
    return Seconds(static_cast<double>(shown_ns(machine_.selector.fault, machine_.now_ns)) / 1e9);
  }

  void resume_at(Seconds time) override {
    machine_.now_ns = modelled_ns(machine_.selector.fault, std::llround(time.value() * 1e9));
    machine_.load.reset();
  }

  bool shapes_streams() const noexcept override { return true; }

  Engine<ChaseWork>* chase() noexcept override {
    return machine_.chip.parts.loads ? &chase_ : nullptr;
  }
  Engine<ProfileWork>* profile() noexcept override {
    return machine_.chip.parts.loads ? &profile_ : nullptr;
  }
  Engine<ContentionWork>* contention() noexcept override {
    return machine_.chip.parts.transfers ? &contention_ : nullptr;
  }
  Engine<StreamWork>* stream() noexcept override {
    return machine_.chip.parts.transfers ? &stream_ : nullptr;
  }
  Engine<CopyWork>* copy() noexcept override {
    const Chip::Parts& parts = machine_.chip.parts;
    return parts.one_copy || parts.two_copies ? &copy_ : nullptr;
  }
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

Chip read_chip(const Selector& selector) {
  if (selector.chip == kRandomChip) return random_chip(selector.seed, selector.structure);
  return load_chip(selector.chip);
}

std::unique_ptr<Device> open_simulated(const std::string& text) {
  Selector selector = parse_selector(text);
  Chip chip = read_chip(selector);
  return make_simulated(std::move(chip), std::move(selector), text);
}

Listing list_chip(const std::string& name) {
  Listing listing{"sim:" + name, "", true, ""};
  try {
    listing.product = read_chip(parse_selector(name)).product + " (simulated)";
  } catch (const std::exception& error) {
    listing.usable = false;
    listing.reason = error.what();
  }
  return listing;
}

std::vector<Listing> list_simulated() {
  std::vector<Listing> listings;
  for (const std::string& name : chip_names()) listings.push_back(list_chip(name));
  listings.push_back(list_chip(kRandomChip + std::string("?seed=1")));
  return listings;
}

[[maybe_unused]] const bool registered = register_backend({"sim", open_simulated, list_simulated});

}  // namespace

std::unique_ptr<Device> make_simulated(Chip chip, Selector selector, const std::string& text) {
  return std::make_unique<SimulatedDevice>(std::move(chip), std::move(selector), text);
}

}  // namespace sonde::sim
