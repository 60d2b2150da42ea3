// The reader of manifest.json, which holds the description of the device.
#include "core/manifest.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  Manifest manifest;
  const auto read = [&](std::string_view text) {
    return fuzz::reads("m.json: ", [&] { manifest = parse_manifest(text, "m.json"); });
  };
  if (!read(fuzz::text_of(data, size))) return 0;
  const DeviceDescription& device = manifest.device;
  for (const CoreName& core : device.cores) {
    fuzz::require(core.number >= 0 && core.number < 1'000'000'000, "a core's number");
  }
  fuzz::require(device.memory_from_bytes().value_or(0) >= 0, "a size below zero");
  const std::string written = manifest_text(manifest);
  fuzz::require(read(written), "a manifest that was written is refused");
  fuzz::require(manifest_text(manifest) == written, "a manifest is read back as another");
  return 0;
}
