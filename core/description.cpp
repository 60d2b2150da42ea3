#include "core/description.h"

#include <algorithm>

namespace sonde {

const char* to_string(TimeSource source) {
  switch (source) {
    case TimeSource::host_clock:
      return "host_clock";
    case TimeSource::device_event:
      return "device_event";
    case TimeSource::modelled:
      return "modelled";
  }
  return "";
}

std::optional<TimeSource> time_source_from(const std::string& text) {
  for (TimeSource source :
       {TimeSource::host_clock, TimeSource::device_event, TimeSource::modelled}) {
    if (text == to_string(source)) return source;
  }
  return std::nullopt;
}

const char* describe(TimeSource source) {
  switch (source) {
    case TimeSource::host_clock:
      return "measured, host clock";
    case TimeSource::device_event:
      return "measured, device events";
    case TimeSource::modelled:
      return "modelled, not measured";
  }
  return "";
}

std::vector<std::string> DeviceDescription::kinds() const {
  std::vector<std::string> names;
  for (const CoreName& core : cores) {
    if (std::find(names.begin(), names.end(), core.kind) == names.end()) names.push_back(core.kind);
  }
  return names;
}

std::vector<CoreName> DeviceDescription::cores_of(const std::string& kind) const {
  std::vector<CoreName> found;
  std::copy_if(cores.begin(), cores.end(), std::back_inserter(found),
               [&](const CoreName& core) { return core.kind == kind; });
  return found;
}

std::optional<double> DeviceDescription::roof(const std::string& roof_name) const {
  for (const Roof& roof : roofs) {
    if (roof.name == roof_name) return roof.value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> DeviceDescription::memory_from_bytes() const {
  if (memory_walk_bytes) return memory_walk_bytes;
  if (memory.size() < 2) return std::nullopt;  // the last level is the memory itself
  const MemoryLevel& cache = memory[memory.size() - 2];
  if (!cache.capacity_bytes) return std::nullopt;
  std::int64_t bytes = 0;  // a manifest may say anything
  if (__builtin_mul_overflow(*cache.capacity_bytes, cache.instances.value_or(1), &bytes) ||
      __builtin_mul_overflow(bytes, 2, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace sonde
