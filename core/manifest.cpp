#include "core/manifest.h"

#include "core/error.h"
#include "core/files.h"
#include "core/json_fields.h"
#include "core/text.h"

namespace sonde {
namespace {

constexpr const char* kSchema = "manifest.1";

Json to_json(const DeviceDescription& device) {
  Json json;
  json["name"] = device.name;
  json["product"] = device.product;
  json["time_source"] = to_string(device.time_source);
  json["places_blocks"] = device.places_blocks;
  json["cores"] = Json::object();
  for (const std::string& kind : device.kinds()) {
    Json numbers = Json::array();
    for (const CoreName& core : device.cores_of(kind)) numbers.push_back(core.number);
    json["cores"][kind] = std::move(numbers);
  }
  json["memory"] = Json::array();
  for (const MemoryLevel& level : device.memory) {
    Json entry;
    entry["name"] = level.name;
    if (level.capacity_bytes) entry["capacity_bytes"] = *level.capacity_bytes;
    if (level.line_bytes) entry["line_bytes"] = *level.line_bytes;
    if (level.instances) entry["instances"] = *level.instances;
    json["memory"].push_back(std::move(entry));
  }
  if (device.memory_bytes) json["memory_bytes"] = *device.memory_bytes;
  if (device.memory_walk_bytes) json["memory_walk_bytes"] = *device.memory_walk_bytes;
  json["chase_line_bytes"] = device.chase_line_bytes;
  json["chase_footprint_bytes"] = device.chase_footprint_bytes;
  json["cold_launches"] = device.cold_launches;
  json["profile_bytes"] = device.profile_bytes;
  json["contention_bytes"] = device.contention_bytes;
  json["aggressor_works"] = device.aggressor_works;
  if (!device.victim_works.empty()) json["victim_works"] = device.victim_works;
  json["handoff_kinds"] = device.handoff_kinds;
  json["stream"] = {{"kinds", device.stream.kinds},
                    {"stores", device.stream.stores},
                    {"request_bytes", device.stream.request_bytes},
                    {"requests", device.stream.requests}};
  json["gemm"] = {{"dtypes", device.gemm.dtypes}, {"kernels", device.gemm.kernels}};
  json["copies"] = Json::array();
  for (const CopyPath& path : device.copies) {
    json["copies"].push_back({{"direction", path.direction}, {"methods", path.methods}});
  }
  if (device.reference_clock_hz) json["reference_clock_hz"] = *device.reference_clock_hz;
  json["roofs"] = Json::array();
  for (const Roof& roof : device.roofs) {
    json["roofs"].push_back({{"name", roof.name}, {"value", roof.value}, {"source", roof.source}});
  }
  json["conditions"] = Json::object();
  for (const auto& [name, value] : device.conditions) json["conditions"][name] = value;
  return json;
}

/// Sizes and counts: what is unknown is left out, never negative.
template <class T>
T amount(const Json& json, const char* field, T otherwise = 0) {
  const T value = json_or<T>(json, field, otherwise);
  if (value < 0) throw UsageError(std::string(field) + ": is negative");
  return value;
}
template <class T>
std::optional<T> known(const Json& json, const char* field) {
  if (!json.contains(field)) return std::nullopt;
  return amount<T>(json, field);
}

CoreName core_from(const std::string& kind, const Json& number) {
  CoreName core{kind, json_as<int>(number, "cores")};
  constexpr int kMostNumber = 999'999'999;  // of nine digits, as names of cores are read
  if (core.number < 0 || core.number > kMostNumber) {
    throw UsageError("cores: " + number.dump() + " is not a core's number");
  }
  return core;
}

DeviceDescription device_from(const Json& json) {
  DeviceDescription device;
  device.name = json_at<std::string>(json, "name");
  device.product = json_at<std::string>(json, "product");
  const auto source = json_at<std::string>(json, "time_source");
  const auto clock = time_source_from(source);
  if (!clock) {
    throw UsageError("time_source: '" + shown_text(source, 40) + "' is not a time source");
  }
  device.time_source = *clock;
  device.places_blocks = json_at<bool>(json, "places_blocks");
  for (const auto& [kind, numbers] : json_object(json, "cores").items()) {
    if (!numbers.is_array()) throw UsageError("cores: is not a list of numbers for each kind");
    for (const Json& number : numbers) device.cores.push_back(core_from(kind, number));
  }
  for (const Json& entry : json_list(json, "memory")) {
    device.memory.push_back(
        {json_at<std::string>(entry, "name"), known<std::int64_t>(entry, "capacity_bytes"),
         known<std::int64_t>(entry, "line_bytes"), known<std::int64_t>(entry, "instances")});
  }
  device.memory_bytes = known<std::int64_t>(json, "memory_bytes");
  device.memory_walk_bytes = known<std::int64_t>(json, "memory_walk_bytes");
  json_at(json, "chase_line_bytes");
  json_at(json, "chase_footprint_bytes");
  device.chase_line_bytes = amount<std::int64_t>(json, "chase_line_bytes");
  device.chase_footprint_bytes = amount<std::int64_t>(json, "chase_footprint_bytes");
  device.cold_launches = json_at<bool>(json, "cold_launches");
  // Runs stored before a field existed lack it: what it offers is then not known.
  const auto names = [](const Json& from, const char* field) {
    return json_or<std::vector<std::string>>(from, field, {});
  };
  const auto part = [&](const char* field) {
    return json.contains(field) ? json_object(json, field) : Json::object();
  };
  device.profile_bytes = amount<std::int64_t>(json, "profile_bytes");
  device.contention_bytes = amount<std::int64_t>(json, "contention_bytes");
  device.aggressor_works = names(json, "aggressor_works");
  device.victim_works = names(json, "victim_works");
  device.handoff_kinds = names(json, "handoff_kinds");
  const Json stream = part("stream");
  device.stream = {names(stream, "kinds"), names(stream, "stores"),
                   json_or<std::vector<std::int64_t>>(stream, "request_bytes", {}),
                   amount<std::int64_t>(stream, "requests", 1)};
  const Json gemm = part("gemm");
  device.gemm = {names(gemm, "dtypes"), names(gemm, "kernels")};
  for (const Json& entry : json_list(json, "copies")) {
    device.copies.push_back({json_at<std::string>(entry, "direction"),
                             json_at<std::vector<std::string>>(entry, "methods")});
  }
  device.reference_clock_hz = known<double>(json, "reference_clock_hz");
  for (const Json& entry : json_list(json, "roofs")) {
    device.roofs.push_back({json_at<std::string>(entry, "name"), json_at<double>(entry, "value"),
                            json_at<std::string>(entry, "source")});
  }
  for (const auto& [name, value] : json_object(json, "conditions").items()) {
    device.conditions.emplace_back(name, json_as<std::string>(value, "conditions"));
  }
  return device;
}

Json parameters_json(const std::vector<ModelParameter>& parameters) {
  Json list = Json::array();
  for (const ModelParameter& p : parameters) {
    list.push_back({{"name", p.name},
                    {"value", p.value},
                    {"unit", p.unit},
                    {"source", p.source},
                    {"confidence", p.confidence},
                    {"file", p.file}});
  }
  return list;
}

/// Text that came from outside may not be UTF-8: shown with replacement characters, never thrown.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

const Step* Manifest::step(const std::string& probe) const {
  for (const Step& s : steps) {
    if (s.probe == probe) return &s;
  }
  return nullptr;
}

Step* Manifest::step(const std::string& probe) {
  return const_cast<Step*>(static_cast<const Manifest*>(this)->step(probe));
}

Manifest parse_manifest(std::string_view text, const std::string& file) {
  try {
    const Json json = parse_json(text);
    const auto schema = json_at<std::string>(json, "schema");
    if (schema != kSchema) {
      throw UsageError("schema: '" + shown_text(schema, 40) + "', expected " + kSchema);
    }
    Manifest manifest;
    manifest.version = json_at<std::string>(json, "version");
    manifest.revision = json_at<std::string>(json, "revision");
    manifest.build_preset = json_at<std::string>(json, "build_preset");
    manifest.seed = json_at<std::uint64_t>(json, "seed");
    manifest.started_utc = json_at<std::string>(json, "started_utc");
    manifest.device = device_from(json_object(json, "device"));
    manifest.idle_power_w = known<double>(json, "idle_power_w");
    if (json.contains("idle_temperature_c")) {
      manifest.idle_temperature_c = json_at<double>(json, "idle_temperature_c");
    }
    for (const Json& entry : json_list(json, "steps")) {
      Step step;
      step.probe = json_at<std::string>(entry, "probe");
      for (const auto& [name, value] : json_object(entry, "options").items()) {
        step.options[name] = json_as<std::string>(value, "options");
      }
      step.state = json_at<std::string>(entry, "state");
      step.adaptive = json_at<bool>(entry, "adaptive");
      step.reason = json_at<std::string>(entry, "reason");
      step.rows = known<std::int64_t>(entry, "rows");
      manifest.steps.push_back(std::move(step));
    }
    return manifest;
  } catch (const UsageError& error) {
    throw UsageError(file + ": not a manifest: " + error.what());
  }
}

Manifest read_manifest(const std::filesystem::path& path) {
  return parse_manifest(read_file(path), path.string());
}

std::optional<Manifest> find_manifest(const std::filesystem::path& run) {
  const std::filesystem::path path = run / "manifest.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return read_manifest(path);
}

std::string manifest_text(const Manifest& manifest) {
  Json json;
  json["schema"] = kSchema;
  json["version"] = manifest.version;
  json["revision"] = manifest.revision;
  json["build_preset"] = manifest.build_preset;
  json["seed"] = manifest.seed;
  json["started_utc"] = manifest.started_utc;
  json["device"] = to_json(manifest.device);
  if (manifest.idle_power_w) json["idle_power_w"] = *manifest.idle_power_w;
  if (manifest.idle_temperature_c) json["idle_temperature_c"] = *manifest.idle_temperature_c;
  json["steps"] = Json::array();
  for (const Step& step : manifest.steps) {
    Json options = Json::object();
    for (const auto& [name, value] : step.options) options[name] = value;
    json["steps"].push_back({{"probe", step.probe},
                             {"options", std::move(options)},
                             {"state", step.state},
                             {"adaptive", step.adaptive},
                             {"reason", step.reason}});
    if (step.rows) json["steps"].back()["rows"] = *step.rows;
  }
  return dump(json);
}

void write_manifest(const std::filesystem::path& run, const Manifest& manifest) {
  write_file_atomically(run / "manifest.json", manifest_text(manifest));
}

std::string device_list_json(const std::vector<DeviceEntry>& entries) {
  Json list = Json::array();
  for (const DeviceEntry& entry : entries) {
    Json json = {{"name", entry.name}, {"usable", entry.device.has_value()}};
    if (entry.device) {
      json["product"] = entry.device->product;
      json["device"] = to_json(*entry.device);
      if (!entry.device->parameters.empty()) {
        json["parameters"] = parameters_json(entry.device->parameters);
      }
    } else {
      json["reason"] = entry.reason;
    }
    list.push_back(std::move(json));
  }
  return dump(list);
}

}  // namespace sonde
