// hwloc reads what is written, and what hwloc says of a machine comes out of rows of that machine.
#include <gtest/gtest.h>
#include <hwloc.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/rng.h"
#include "topology/cluster.h"
#include "topology/core_tree.h"

namespace sonde {
namespace {

CoreName cpu(std::size_t number) { return {"cpu", static_cast<int>(number)}; }

StoredRun run_of(std::size_t cores) {
  StoredRun run;
  run.name = "run";
  run.manifest.seed = 5;
  run.manifest.device.name = "host";
  run.manifest.device.product = "A \"machine\" <of> tests & more";
  for (std::size_t i = 0; i < cores; ++i) run.manifest.device.cores.push_back(cpu(i));
  for (const Schema* schema : all_schemas()) run.probes.push_back({schema, "", {}, {}});
  return run;
}

/// What a command prints; empty when it fails.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, n);
  return ::pclose(pipe) == 0 ? text : "";
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

TEST(TopologyXml, LstopoDrawsTheTree) {
  StoredRun run = run_of(40);
  CoreTree tree;
  // Two halves, the second without its last two cores; four groups in the first, one of one core.
  TreeLevel halves{"level_1", {{}, {}}, 1.0, "test"},
      groups{"level_2", {{}, {}, {}, {}}, 0.9, "test"};
  for (std::size_t i = 0; i < 20; ++i) halves.groups[0].push_back(cpu(2 * i));
  for (std::size_t i = 0; i < 18; ++i) halves.groups[1].push_back(cpu(2 * i + 1));
  for (std::size_t i = 0; i < 12; ++i) groups.groups[i / 4].push_back(cpu(2 * i));
  groups.groups[3] = {cpu(38)};
  tree.levels = {halves, groups};
  tree.order = run.manifest.device.cores;
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "sonde_topology_xml_test.xml";
  std::ofstream(path) << topology_xml(run, tree);
  const std::string drawn =
      output_of("lstopo-no-graphics --input " + path.string() + " --of console --no-io 2>&1");
  const std::string again =
      output_of("lstopo-no-graphics --input " + path.string() + " --of xml - 2>&1");
  std::filesystem::remove(path);
  EXPECT_EQ(count_of(drawn, "PU L#"), 40u) << drawn;
  EXPECT_EQ(count_of(drawn, "(level_1)"), 2u) << drawn;
  EXPECT_EQ(count_of(drawn, "(level_2)"), 4u) << drawn;
  EXPECT_EQ(count_of(drawn, "rror"), 0u) << drawn;
  // Numbers are positions in the manifest, names are told.
  EXPECT_EQ(count_of(again, "name=\"Name\" value=\"cpu"), 40u);
  EXPECT_NE(again.find("cpu39"), std::string::npos);
}

TEST(TopologyXml, WhatAnAttributeCannotHoldIsAQuestionMark) {
  StoredRun run = run_of(4);
  run.manifest.device.product = "a\x01\x1f \x7f\xc3\xa9~<&>\"";
  CoreTree tree;
  tree.order = run.manifest.device.cores;
  EXPECT_NE(topology_xml(run, tree).find("\"a?? ???~&lt;&amp;&gt;&quot;\""), std::string::npos)
      << topology_xml(run, tree);
}

/// A machine that hwloc makes up, and what each of its levels groups.
class Synthetic {
 public:
  explicit Synthetic(const char* description) {
    hwloc_topology_init(&topology_);
    hwloc_topology_set_synthetic(topology_, description);
    hwloc_topology_load(topology_);
  }
  ~Synthetic() { hwloc_topology_destroy(topology_); }
  Synthetic(const Synthetic&) = delete;
  Synthetic& operator=(const Synthetic&) = delete;

  std::size_t pus() const {
    return static_cast<std::size_t>(hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_PU));
  }
  Partition groups(hwloc_obj_type_t type) const {
    Partition partition(pus(), -1);
    const int count = hwloc_get_nbobjs_by_type(topology_, type);
    for (int g = 0; g < count; ++g) {
      const hwloc_obj* const object =
          hwloc_get_obj_by_type(topology_, type, static_cast<unsigned>(g));
      for (std::size_t pu = 0; pu < partition.size(); ++pu) {
        if (hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(pu))) partition[pu] = g;
      }
    }
    return partition;
  }

 private:
  hwloc_topology_t topology_ = nullptr;
};

void add_handoffs(StoredRun& run, const std::vector<Partition>& levels, double noise,
                  std::uint64_t seed) {
  ProbeRows& rows = *std::find_if(run.probes.begin(), run.probes.end(),
                                  [](const ProbeRows& p) { return p.schema->probe == "handoff"; });
  rows.table.emplace(*rows.schema);
  rows.file = "handoff.csv";
  Rng rng(key_of({seed, 0x68776c6f}));
  const std::size_t n = levels.front().size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      double ns = 260;
      for (const Partition& level : levels) {
        if (level[i] == level[j]) ns *= 0.5;
      }
      for (std::int64_t repetition = 0; repetition < 3; ++repetition) {
        const double one = ns * (1 + noise * static_cast<double>(rng.gaussian_q16()) / 65536);
        Row row;
        row.device = "host";
        row.time_source = run.manifest.device.time_source;
        row.repetition = repetition;
        row.values = {
            cpu(i).str(), cpu(j).str(), std::string("read"),   std::int64_t{0}, std::int64_t{1000},
            one * 2e-6,   one,          std::string("one_way")};
        row.values.resize(rows.schema->size());
        rows.table->rows.add(row);
      }
    }
  }
}

Partition partition_of(const TreeLevel& level, std::size_t cores) {
  Partition partition(cores, -1);
  for (std::size_t g = 0; g < level.groups.size(); ++g) {
    for (const CoreName& core : level.groups[g]) {
      partition[static_cast<std::size_t>(core.number)] = static_cast<int>(g);
    }
  }
  return partition;
}

/// Best agreement of any inferred level with what hwloc knows.
double best_agreement(const CoreTree& tree, const Partition& known) {
  double best = 0;
  for (const TreeLevel& level : tree.levels) {
    best = std::max(
        best, adjusted_rand(partition_of(level, known.size()), known, one_group(known.size())));
  }
  return best;
}

TEST(TopologyHwloc, PackagesCachesAndSiblingsAgree) {
  struct Machine {
    const char* description;
    std::vector<hwloc_obj_type_t> types;
  };
  const std::vector<Machine> machines = {
      {"pack:2 l3:2 core:4 pu:2", {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE}},
      {"pack:2 core:8 pu:2", {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE}},
      {"l3:6 core:4 pu:1", {HWLOC_OBJ_L3CACHE}},
  };
  for (const Machine& machine : machines) {
    const Synthetic known(machine.description);
    std::vector<Partition> levels;
    for (hwloc_obj_type_t type : machine.types) levels.push_back(known.groups(type));
    StoredRun run = run_of(known.pus());
    add_handoffs(run, levels, 0.05, 1);
    const CoreTree tree = infer_core_tree(run);
    EXPECT_EQ(tree.levels.size(), levels.size()) << machine.description << ": " << tree.reason;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      EXPECT_EQ(best_agreement(tree, levels[l]), 1)
          << machine.description << ": " << hwloc_obj_type_string(machine.types[l]);
    }
    // Rows of a machine without levels agree with none of them.
    StoredRun flat = run_of(known.pus());
    add_handoffs(flat, {Partition(known.pus(), 0)}, 0.05, 1);
    EXPECT_TRUE(infer_core_tree(flat).none_found) << machine.description;
  }
}

}  // namespace
}  // namespace sonde
