// The reader of topology.json.
#include <nlohmann/json.hpp>

#include "core/stored_tree.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  StoredTree tree;
  const auto read = [&](std::string_view text) {
    return fuzz::reads("t.json: ", [&] { tree = parse_tree(text, "t.json"); });
  };
  if (!read(fuzz::text_of(data, size))) return 0;
  nlohmann::json json;
  json["reason"] = tree.reason;
  json["levels"] = nlohmann::json::array();
  for (const CoreGroups& level : tree.levels) {
    nlohmann::json groups = nlohmann::json::array();
    for (const std::vector<CoreName>& group : level) {
      groups.push_back(nlohmann::json::array());
      for (const CoreName& core : group) groups.back().push_back(core.str());
    }
    json["levels"].push_back({{"groups", groups}});
  }
  const StoredTree before = tree;
  fuzz::require(read(json.dump()), "a tree that was written is refused");
  fuzz::require(tree.levels == before.levels && tree.reason == before.reason,
                "a tree is read back as another");
  return 0;
}
