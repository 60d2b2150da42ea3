#include "report/inputs.h"

#include <map>
#include <nlohmann/json.hpp>

#include "core/files.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

/// "0badcafe/1234" of each probe that was read, "refused" of one that could not be.
std::map<std::string, std::string> contents_of(const StoredRun& run) {
  std::map<std::string, std::string> contents;
  for (const ProbeRows& probe : run.probes) {
    if (probe.table) {
      contents[probe.schema->probe] =
          probe.table->crc32 + "/" + std::to_string(probe.table->content_bytes);
    } else if (probe.refused()) {
      contents[probe.schema->probe] = "refused";
    }
  }
  return contents;
}

}  // namespace

std::string inputs_json(const std::vector<const StoredRun*>& runs) {
  Json json;
  json["schema"] = "inputs.1";
  json["runs"] = Json::array();
  for (const StoredRun* run : runs) {
    json["runs"].push_back({{"run", run->name}, {"contents", contents_of(*run)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<std::vector<std::string>> changed_since(const std::filesystem::path& dir,
                                                      const StoredRun& run) {
  std::map<std::string, std::string> then;
  try {
    const Json json = Json::parse(read_file(dir / "inputs.json"));
    const Json& runs = json.at("runs");
    if (json.at("schema") != "inputs.1" || runs.size() != 1) return std::nullopt;
    then = runs.at(0).at("contents").get<std::map<std::string, std::string>>();
  } catch (const std::exception&) {
    return std::nullopt;  // not there, cut or edited: nothing is known
  }
  std::map<std::string, std::string> now = contents_of(run);
  std::vector<std::string> changed;
  for (const ProbeRows& probe : run.probes) {
    const std::string& name = probe.schema->probe;
    if (then[name] != now[name]) changed.push_back(name);
  }
  return changed;
}

}  // namespace sonde
