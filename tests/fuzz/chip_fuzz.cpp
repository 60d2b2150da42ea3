// The reader of chip files: a chip that is taken can be described and measured.
#include <cmath>
#include <map>

#include "core/files.h"
#include "core/units.h"
#include "device/sim/sim.h"
#include "tests/fuzz/fuzz.h"

namespace sonde {
namespace {

/// Files that an input may name as its base: the shipped ones, and one that names the input.
std::optional<std::string> shipped(const std::string& name) {
  static std::map<std::string, std::optional<std::string>> known;
  if (name == "input") return "base = \"input\"\n";
  const auto [at, fresh] = known.try_emplace(name);
  if (fresh) at->second = sim::chip_file_text(name);
  return at->second;
}

template <class Work>
void measure(Device& device, Engine<Work>* engine, const Work& work) {
  if (engine == nullptr) return;
  try {
    engine->prepare(work);
    const Sample sample = engine->run({});
    fuzz::require(sample.elapsed.value() > 0 && std::isfinite(sample.elapsed.value()),
                  "a time that is none");
    fuzz::require(engine->verify().ok, "a result that is wrong");
    fuzz::require(device.now().value() > 0, "time stands still");
  } catch (const Skip&) {  // says why, and is no fault
  }
}

/// One small measurement of each kind.
void measure_all(Device& device) {
  const DeviceDescription& d = device.description();
  fuzz::require(!d.cores.empty(), "a chip without cores");
  for (const CoreName& core : d.cores) {
    fuzz::require(parse_core_name(core.str()) == core, "a core whose name is not read back");
  }
  for (const Roof& roof : d.roofs) fuzz::require(roof.value > 0, "a roof that is none");
  ChaseWork chase;
  chase.cores = {d.cores.front()};
  chase.footprint_bytes = 16 * kKiB;
  chase.loads = 256;
  measure(device, device.chase(), chase);
  CopyWork copy;
  copy.bytes = 512 * kKiB;
  measure(device, device.copy(), copy);
  GemmWork gemm;
  gemm.m = gemm.n = gemm.k = 64;
  measure(device, device.gemm(), gemm);
  StreamWork stream;
  stream.cores = {d.cores.front(), d.cores.back()};
  stream.bytes = 64 * kKiB;
  stream.request_bytes = 2048;
  measure(device, device.stream(), stream);
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  std::optional<sim::Chip> chip;
  // A fault of a base is laid at its door: every file that may be named is one of the shipped.
  if (!fuzz::reads(
          "", [&] { chip = sim::parse_chip(fuzz::text_of(data, size), "input.toml", shipped); })) {
    return 0;
  }
  fuzz::require(!chip->parameters.empty(), "a chip without values");
  const auto device = sim::make_simulated(*chip, sim::parse_selector("input"), "input");
  measure_all(*device);
  return 0;
}
