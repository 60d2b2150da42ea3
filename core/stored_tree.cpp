#include "core/stored_tree.h"

#include "core/error.h"
#include "core/json_fields.h"

namespace sonde {

StoredTree parse_tree(std::string_view text, const std::string& file) {
  try {
    const Json json = parse_json(text);
    StoredTree tree;
    for (const Json& level : json_list(json, "levels")) {
      CoreGroups groups;
      for (const auto& names : json_at<std::vector<std::vector<std::string>>>(level, "groups")) {
        auto& cores = groups.emplace_back();
        for (const std::string& name : names) cores.push_back(parse_core_name(name));
      }
      tree.levels.push_back(std::move(groups));
    }
    tree.reason = json_or<std::string>(json, "reason", "no reason given");
    return tree;
  } catch (const UsageError& error) {
    throw UsageError(file + ": not a tree of cores: " + error.what());
  }
}

}  // namespace sonde
