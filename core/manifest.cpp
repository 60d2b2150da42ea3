#include "core/manifest.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;
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

DeviceDescription device_from(const Json& json) {
  DeviceDescription device;
  device.name = json.at("name");
  device.product = json.at("product");
  const std::string source = json.at("time_source");
  const auto known = time_source_from(source);
  if (!known) throw UsageError("device.time_source: '" + source + "' is not a time source");
  device.time_source = *known;
  device.places_blocks = json.at("places_blocks");
  for (const auto& [kind, numbers] : json.at("cores").items()) {
    for (int number : numbers) device.cores.push_back({kind, number});
  }
  for (const Json& entry : json.at("memory")) {
    MemoryLevel level;
    level.name = entry.at("name");
    if (entry.contains("capacity_bytes")) level.capacity_bytes = entry["capacity_bytes"];
    if (entry.contains("line_bytes")) level.line_bytes = entry["line_bytes"];
    if (entry.contains("instances")) level.instances = entry["instances"];
    device.memory.push_back(std::move(level));
  }
  if (json.contains("memory_bytes")) device.memory_bytes = json["memory_bytes"];
  if (json.contains("memory_walk_bytes")) device.memory_walk_bytes = json["memory_walk_bytes"];
  device.chase_line_bytes = json.at("chase_line_bytes");
  device.chase_footprint_bytes = json.at("chase_footprint_bytes");
  device.cold_launches = json.at("cold_launches");
  // Runs stored before a field existed lack it: what it offers is then not known.
  const Json none = Json::object();
  const auto names = [](const Json& from, const char* field) {
    return from.value(field, std::vector<std::string>());
  };
  device.profile_bytes = json.value("profile_bytes", std::int64_t{0});
  device.contention_bytes = json.value("contention_bytes", std::int64_t{0});
  device.aggressor_works = names(json, "aggressor_works");
  device.victim_works = names(json, "victim_works");
  device.handoff_kinds = names(json, "handoff_kinds");
  const Json stream = json.value("stream", none);
  device.stream = {names(stream, "kinds"), names(stream, "stores"),
                   stream.value("request_bytes", std::vector<std::int64_t>()),
                   stream.value("requests", std::int64_t{1})};
  const Json gemm = json.value("gemm", none);
  device.gemm = {names(gemm, "dtypes"), names(gemm, "kernels")};
  for (const Json& entry : json.at("copies")) {
    device.copies.push_back({entry.at("direction"), entry.at("methods")});
  }
  if (json.contains("reference_clock_hz")) {
    device.reference_clock_hz = json.at("reference_clock_hz").get<double>();
  }
  for (const Json& entry : json.at("roofs")) {
    device.roofs.push_back({entry.at("name"), entry.at("value"), entry.at("source")});
  }
  for (const auto& [name, value] : json.at("conditions").items()) {
    device.conditions.emplace_back(name, value);
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

Manifest read_manifest(const std::filesystem::path& path) {
  const std::string content = read_file(path);
  try {
    const Json json = Json::parse(content);
    const std::string schema = json.at("schema");
    if (schema != kSchema) throw UsageError("schema: '" + schema + "', expected " + kSchema);
    Manifest manifest;
    manifest.version = json.at("version");
    manifest.revision = json.at("revision");
    manifest.build_preset = json.at("build_preset");
    manifest.seed = json.at("seed");
    manifest.started_utc = json.at("started_utc");
    manifest.device = device_from(json.at("device"));
    if (json.contains("idle_power_w")) manifest.idle_power_w = json["idle_power_w"];
    if (json.contains("idle_temperature_c")) {
      manifest.idle_temperature_c = json["idle_temperature_c"];
    }
    for (const Json& entry : json.at("steps")) {
      Step step;
      step.probe = entry.at("probe");
      for (const auto& [name, value] : entry.at("options").items()) step.options[name] = value;
      step.state = entry.at("state");
      step.adaptive = entry.at("adaptive");
      step.reason = entry.at("reason");
      if (entry.contains("rows")) step.rows = entry.at("rows").get<std::int64_t>();
      manifest.steps.push_back(std::move(step));
    }
    return manifest;
  } catch (const UsageError& error) {
    throw UsageError(path.string() + ": " + error.what());
  } catch (const Json::exception& error) {
    throw UsageError(path.string() + ": not a manifest: " + error.what());
  }
}

std::optional<Manifest> find_manifest(const std::filesystem::path& run) {
  const std::filesystem::path path = run / "manifest.json";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return read_manifest(path);
}

void write_manifest(const std::filesystem::path& run, const Manifest& manifest) {
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
  write_file_atomically(run / "manifest.json", dump(json));
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
