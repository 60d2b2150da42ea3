#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/core_tree.h"

namespace sonde {
namespace {

TreeNode node_of(const CoreTree& tree, std::size_t level, const std::set<CoreName>& cores) {
  TreeNode node;
  if (level == tree.levels.size()) {
    node.cores.assign(cores.begin(), cores.end());
    return node;
  }
  std::set<CoreName> left = cores;
  for (const std::vector<CoreName>& group : tree.levels[level].groups) {
    const bool inside = std::all_of(group.begin(), group.end(),
                                    [&](const CoreName& core) { return cores.contains(core); });
    if (!inside) continue;
    TreeNode child = node_of(tree, level + 1, {group.begin(), group.end()});
    child.level = level;
    node.inside.push_back(std::move(child));
    for (const CoreName& core : group) left.erase(core);
  }
  // A finer level may name cores that this one does not.
  TreeNode rest = node_of(tree, level + 1, left);
  node.cores = std::move(rest.cores);
  std::move(rest.inside.begin(), rest.inside.end(), std::back_inserter(node.inside));
  return node;
}

/// For an attribute of XML; what it cannot hold becomes a question mark.
std::string attribute(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out +=
            static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f ? '?' : c;
    }
  }
  return out;
}

/// A set of numbers as hwloc writes it: words of 32 bits, the highest first.
std::string bitmap(const std::vector<std::size_t>& numbers) {
  std::vector<std::uint32_t> words(1, 0);
  for (std::size_t number : numbers) {
    words.resize(std::max(words.size(), number / 32 + 1), 0);
    words[number / 32] |= std::uint32_t{1} << (number % 32);
  }
  std::string text;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    text += fmt::format("{}0x{:08x}", text.empty() ? "" : ",", *word);
  }
  return text;
}

class Writer {
 public:
  Writer(const StoredRun& run, const CoreTree& tree) : run_(run), tree_(tree) {
    for (const CoreName& core : run.manifest.device.cores) add(core);
    for (const CoreName& core : tree.order) add(core);
  }

  std::string text() {
    const TreeNode root = nested(tree_, cores_);
    const std::string all = bitmap(numbers(root));
    text_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
        "<topology version=\"2.0\">\n";
    text_ += fmt::format(
        "  <object type=\"Machine\" os_index=\"0\" {0} allowed_cpuset=\"{1}\" "
        "allowed_nodeset=\"0x00000001\" gp_index=\"{2}\">\n"
        "    <info name=\"Backend\" value=\"sonde\"/>\n"
        "    <info name=\"Device\" value=\"{3}\"/>\n"
        "    <info name=\"Product\" value=\"{4}\"/>\n",
        sets(all), all, next_++, attribute(run_.manifest.device.name),
        attribute(run_.manifest.device.product));
    // hwloc takes no machine without a memory.
    text_ += fmt::format("    <object type=\"NUMANode\" os_index=\"0\" {} gp_index=\"{}\"/>\n",
                         sets(all), next_++);
    write_inside(root, 4);
    text_ += "  </object>\n</topology>\n";
    return text_;
  }

 private:
  void add(const CoreName& core) {
    if (number_.try_emplace(core, cores_.size()).second) cores_.push_back(core);
  }

  std::vector<std::size_t> numbers(const TreeNode& node) const {
    std::vector<std::size_t> all;
    for (const CoreName& core : node.cores) all.push_back(number_.at(core));
    for (const TreeNode& child : node.inside) {
      const std::vector<std::size_t> more = numbers(child);
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

  static std::string sets(const std::string& cores) {
    return fmt::format(
        "cpuset=\"{0}\" complete_cpuset=\"{0}\" nodeset=\"0x00000001\" "
        "complete_nodeset=\"0x00000001\"",
        cores);
  }

  /// Children in the order of their lowest number, as hwloc keeps them.
  void write_inside(const TreeNode& node, std::size_t indent) {
    std::map<std::size_t, const TreeNode*> groups;
    std::map<std::size_t, const CoreName*> cores;
    for (const TreeNode& child : node.inside) {
      const std::vector<std::size_t> all = numbers(child);
      groups[*std::min_element(all.begin(), all.end())] = &child;
    }
    for (const CoreName& core : node.cores) cores[number_.at(core)] = &core;
    auto group = groups.begin();
    auto core = cores.begin();
    while (group != groups.end() || core != cores.end()) {
      const bool group_first =
          core == cores.end() || (group != groups.end() && group->first < core->first);
      if (group_first) {
        write_group(*group->second, indent);
        ++group;
      } else {
        text_ += fmt::format(
            "{0:{1}}<object type=\"PU\" os_index=\"{2}\" {3} gp_index=\"{4}\">\n"
            "{0:{1}}  <info name=\"Name\" value=\"{5}\"/>\n{0:{1}}</object>\n",
            "", indent, core->first, sets(bitmap({core->first})), next_++,
            attribute(core->second->str()));
        ++core;
      }
    }
  }

  void write_group(const TreeNode& node, std::size_t indent) {
    // Without dont_merge hwloc drops a group that holds the same cores as its parent.
    text_ += fmt::format(
        "{0:{1}}<object type=\"Group\" {2} gp_index=\"{3}\" subtype=\"{4}\" kind=\"0\" "
        "subkind=\"{5}\" dont_merge=\"1\">\n",
        "", indent, sets(bitmap(numbers(node))), next_++, attribute(tree_.levels[node.level].name),
        node.level);
    write_inside(node, indent + 2);
    text_ += fmt::format("{:{}}</object>\n", "", indent);
  }

  const StoredRun& run_;
  const CoreTree& tree_;
  std::vector<CoreName> cores_;
  std::map<CoreName, std::size_t> number_;
  std::string text_;
  std::size_t next_ = 1;  // hwloc's number of an object
};

}  // namespace

TreeNode nested(const CoreTree& tree, const std::vector<CoreName>& cores) {
  std::set<CoreName> all(cores.begin(), cores.end());
  for (const TreeLevel& level : tree.levels) {
    for (const auto& group : level.groups) all.insert(group.begin(), group.end());
  }
  return node_of(tree, 0, all);
}

std::string topology_xml(const StoredRun& run, const CoreTree& tree) {
  return Writer(run, tree).text();
}

}  // namespace sonde
