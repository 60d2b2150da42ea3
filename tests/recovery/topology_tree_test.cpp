// From rows to matrices, to one tree, to topology.json.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/recovery/topology_truth.h"
#include "topology/core_tree.h"

namespace sonde {
namespace {

using truth::gaussian;

/// A stored run in memory.
class MadeRows {
 public:
  MadeRows() {
    run_.name = "run";
    run_.manifest.seed = 7;
    run_.manifest.device.name = "sim:chip";
    run_.manifest.device.time_source = TimeSource::modelled;
    for (const Schema* schema : all_schemas()) run_.probes.push_back({schema, "", {}, {}});
  }

  void profile(const std::string& core, std::int64_t index, std::int64_t bytes, double ns,
               std::int64_t repetition = 0) {
    add("profile", repetition, {core, index, bytes, ns, 1e-3});
  }
  void interfere(const std::string& victim, const std::string& aggressors, const std::string& work,
                 double ns, std::int64_t repetition = 0) {
    add("interfere", repetition,
        {victim, std::string("load"), aggressors, work, std::int64_t{16384}, std::int64_t{256},
         ns * 256e-9, ns});
  }
  void handoff(const std::string& from, const std::string& to, double ns) {
    add("handoff", 0,
        {from, to, std::string("read"), std::int64_t{0}, std::int64_t{1000}, ns * 2e-6, ns,
         std::string("one_way")});
  }

  Row& last(const std::string& probe) { return stored_[probe].back(); }
  std::vector<Row>& stored(const std::string& probe) { return stored_[probe]; }
  /// With the rows as they are now.
  ProbeRows& rows(const std::string& probe) {
    ProbeRows& found = *std::find_if(run_.probes.begin(), run_.probes.end(),
                                     [&](const ProbeRows& p) { return p.schema->probe == probe; });
    if (const auto& rows = stored_[probe]; !rows.empty()) {
      found.file = probe + ".csv";
      found.table.emplace(*found.schema);
      for (const Row& row : rows) found.table->rows.add(row);
    }
    return found;
  }
  StoredRun& run() {
    for (const Schema* schema : all_schemas()) rows(schema->probe);
    return run_;
  }

 private:
  void add(const std::string& probe, std::int64_t repetition, std::vector<Cell> values) {
    Row row;
    row.device = "sim:chip";
    row.time_source = TimeSource::modelled;
    row.repetition = repetition;
    row.values = std::move(values);
    const auto schema = std::find_if(all_schemas().begin(), all_schemas().end(),
                                     [&](const Schema* one) { return one->probe == probe; });
    row.values.resize((*schema)->size());
    stored_[probe].push_back(std::move(row));
  }

  StoredRun run_;
  std::map<std::string, std::vector<Row>> stored_;  // by probe
};

void add_profile(MadeRows& rows, const std::string& kind, const Partition& dies, double ns,
                 std::uint64_t seed) {
  const ProfileTable table = truth::profile(dies.size(), 256, {{dies, ns}}, {}, seed);
  for (std::size_t c = 0; c < table.latency_ns.cols(); ++c) {
    for (std::size_t a = 0; a < table.latency_ns.rows(); ++a) {
      rows.profile(kind + std::to_string(c), static_cast<std::int64_t>(a), table.addresses[a],
                   table.latency_ns(a, c));
    }
  }
}

void add_pairs(MadeRows& rows, const std::string& kind, const std::vector<truth::Sharing>& shared,
               std::size_t cores, const std::string& work, std::uint64_t seed) {
  const CoreMatrix matrix = truth::pairs(cores, shared, 0.02, 0.02, seed);
  for (std::size_t i = 0; i < cores; ++i) {
    const std::string victim = kind + std::to_string(i);
    rows.interfere(victim, "none", "none", 134);
    for (std::size_t j = 0; j < cores; ++j) {
      if (i == j) continue;
      rows.interfere(victim, kind + std::to_string(j), work, 134 * std::exp(*matrix.at(i, j)));
    }
  }
}

std::set<std::string> sets_of(const TreeLevel& level) {
  std::set<std::string> sets;
  for (const auto& group : level.groups) sets.insert(format_core_set(group));
  return sets;
}

void expect_contiguous(const CoreTree& tree) {
  for (const TreeLevel& level : tree.levels) {
    std::map<CoreName, int> group;
    for (std::size_t g = 0; g < level.groups.size(); ++g) {
      for (const CoreName& core : level.groups[g]) group[core] = static_cast<int>(g);
    }
    std::set<int> left;
    int last = -1;
    for (const CoreName& core : tree.order) {
      const auto found = group.find(core);
      const int here = found == group.end() ? -1 : found->second;
      if (here == last) continue;
      if (last >= 0) left.insert(last);
      EXPECT_FALSE(left.contains(here)) << level.name << ": " << core.str();
      last = here;
    }
  }
}

/// Dies of alternate subsystems, groups of two subsystems, subsystems of three cores.
struct SmallChip {
  Partition dies, groups, subsystems;
  explicit SmallChip(int count) {
    for (int core = 0; core < count; ++core) {
      const int subsystem = core / 3;
      dies.push_back(subsystem % 2);
      groups.push_back(subsystem / 4 * 2 + subsystem % 2);
      subsystems.push_back(subsystem);
    }
  }
};

TEST(TopologyTree, JoinsProfileAndInterference) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  add_pairs(rows, "vector", {{chip.groups, 0.12}, {chip.subsystems, 0.4}}, 24, "load", 1);
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 3U) << tree.reason;
  EXPECT_EQ(tree.levels[0].name, "level_1");
  EXPECT_EQ(sets_of(tree.levels[0]),
            (std::set<std::string>{"vector0-2+vector6-8+vector12-14+vector18-20",
                                   "vector3-5+vector9-11+vector15-17+vector21-23"}));
  EXPECT_EQ(sets_of(tree.levels[1]),
            (std::set<std::string>{"vector0-2+vector6-8", "vector3-5+vector9-11",
                                   "vector12-14+vector18-20", "vector15-17+vector21-23"}));
  EXPECT_EQ(tree.levels[2].groups.size(), 8U);
  EXPECT_EQ(tree.levels[0].basis, "profile.csv");
  EXPECT_EQ(tree.levels[2].basis, "interfere.csv load");
  for (const TreeLevel& level : tree.levels) {
    ASSERT_TRUE(level.stability);
    EXPECT_GT(*level.stability, 0.95);
    EXPECT_LE(*level.stability, 1);
  }
  EXPECT_FALSE(tree.none_found || tree.cannot_tell);
  EXPECT_EQ(tree.order.size(), 24U);
  expect_contiguous(tree);
}

TEST(TopologyTree, OnePartitionFromTwoSourcesIsOneLevel) {
  const SmallChip chip(24);
  MadeRows rows;
  add_pairs(rows, "vector", {{chip.subsystems, 0.4}}, 24, "load", 1);
  add_pairs(rows, "vector", {{chip.subsystems, 0.3}}, 24, "store", 2);
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_NE(tree.levels[0].basis.find("interfere.csv load"), std::string::npos);
  EXPECT_NE(tree.levels[0].basis.find("interfere.csv store"), std::string::npos);
}

/// A grouping that cuts across a better supported one is not reported, and the reason says so.
TEST(TopologyTree, DisagreementIsSaid) {
  const Partition halves = truth::blocks(24, 12);
  Partition across;
  for (int i = 0; i < 24; ++i) across.push_back(i % 4);
  MadeRows rows;
  add_profile(rows, "vector", halves, 16, 1);
  add_pairs(rows, "vector", {{across, 0.3}}, 24, "load", 1);
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_NE(tree.reason.find("disagree"), std::string::npos) << tree.reason;
}

TEST(TopologyTree, NothingPlantedIsNoneFound) {
  MadeRows rows;
  add_profile(rows, "vector", Partition(24, 0), 0, 1);
  add_pairs(rows, "vector", {}, 24, "load", 1);
  add_pairs(rows, "vector", {}, 24, "register", 2);
  const CoreTree tree = infer_core_tree(rows.run());
  EXPECT_TRUE(tree.none_found);
  EXPECT_FALSE(tree.cannot_tell);
  EXPECT_TRUE(tree.levels.empty());
  EXPECT_NE(tree.reason.find("no groups among 24 cores"), std::string::npos) << tree.reason;
  EXPECT_EQ(tree.order.size(), 24U);
}

TEST(TopologyTree, TooFewCoresCannotTell) {
  MadeRows rows;
  add_profile(rows, "cpu", Partition{0, 1}, 16, 1);
  add_pairs(rows, "cpu", {}, 2, "load", 1);
  rows.handoff("cpu0", "cpu1", 90);
  rows.handoff("cpu1", "cpu0", 91);
  const CoreTree tree = infer_core_tree(rows.run());
  EXPECT_TRUE(tree.cannot_tell);
  EXPECT_FALSE(tree.none_found);
  EXPECT_NE(tree.reason.find("2 cores"), std::string::npos) << tree.reason;
  EXPECT_EQ(tree.order.size(), 2U);

  MadeRows empty;
  EXPECT_TRUE(infer_core_tree(empty.run()).cannot_tell);
  EXPECT_FALSE(infer_core_tree(empty.run()).reason.empty());
}

/// A killed run: half of the rows, the last cores without any.
TEST(TopologyTree, HalfOfTheRowsAreEnough) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  std::vector<Row>& stored = rows.stored("profile");
  stored.resize(stored.size() / 2 + 20);
  for (std::size_t i = 0; i < 30; ++i) stored.push_back(stored[i]);  // addresses that repeat
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_EQ(sets_of(tree.levels[0]),
            (std::set<std::string>{"vector0-2+vector6-8", "vector3-5+vector9-11"}));
  // The thirteenth core has 20 of 256 addresses.
  EXPECT_NE(tree.reason.find("left out: vector12"), std::string::npos) << tree.reason;
  EXPECT_EQ(tree.order.size(), 13U);
}

TEST(TopologyTree, CoresWithOneValueAreLeftOutByName) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  const std::size_t latency = profile_schema().index("latency_ns");
  for (Row& row : rows.stored("profile")) {
    const std::string core = std::get<std::string>(row.values[0]);
    if (core == "vector3" || core == "vector4") row.values[latency] = 150.0;
  }
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_EQ(sets_of(tree.levels[0]),
            (std::set<std::string>{"vector0-2+vector6-8+vector12-14+vector18-20",
                                   "vector5+vector9-11+vector15-17+vector21-23"}));
  EXPECT_NE(tree.reason.find("left out: vector3 and vector4"), std::string::npos) << tree.reason;
  for (Row& row : rows.stored("profile")) row.values[latency] = 150.0;
  EXPECT_TRUE(infer_core_tree(rows.run()).cannot_tell);
}

TEST(TopologyTree, OneCoreCannotTell) {
  MadeRows rows;
  add_profile(rows, "cpu", Partition{0}, 16, 1);
  const CoreTree tree = infer_core_tree(rows.run());
  EXPECT_TRUE(tree.cannot_tell);
  EXPECT_TRUE(tree.levels.empty());
  EXPECT_EQ(tree.order.size(), 1U);
}

/// Each core has a quarter of the addresses for itself: what they share is compared.
TEST(TopologyTree, DifferingAddressesAreComparedWhereTheyAgree) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  std::vector<Row>& stored = rows.stored("profile");
  std::erase_if(stored, [&](const Row& row) {
    const auto index = std::get<std::int64_t>(row.values[1]);
    const auto core = parse_core_name(std::get<std::string>(row.values[0]));
    return index % 24 == core.number || (index % 7 == 0 && core.number % 2 == 0);
  });
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_EQ(tree.levels[0].groups.size(), 2U);
  EXPECT_EQ(tree.levels[0].groups[0].size(), 12U);
}

/// Pairs that the control leaves open are counted, and so are those that were not measured.
TEST(TopologyTree, OpenPairsAreCounted) {
  MadeRows rows;
  for (int i = 0; i < 12; ++i) {
    const std::string victim = "vector" + std::to_string(i);
    rows.interfere(victim, "none", "none", 100);
    for (int j = 0; j < 12; ++j) {
      if (i == j || i + j == 1) continue;  // 0 and 1 never met
      const std::string other = "vector" + std::to_string(j);
      // A control of -1, -0.5, 0, 0.5 and 1 %: its robust deviation is 0.74 %, 0.52 % of two.
      rows.interfere(victim, other, "register", 100 + 0.5 * ((i * 3 + j) % 5 - 2));
      rows.interfere(victim, other, "load", i + j == 20 && i * j == 99 ? 101.5 : 100);
    }
  }
  const CoreTree tree = infer_core_tree(rows.run());
  EXPECT_NE(tree.reason.find("1 of 65 pairs are undecided"), std::string::npos) << tree.reason;
  EXPECT_NE(tree.reason.find("1 pairs were not measured"), std::string::npos) << tree.reason;
}

/// Stores beside stores and loads beside loads are different questions.
TEST(TopologyTree, WorksOfTheVictimAreJudgedApart) {
  const SmallChip chip(24);
  MadeRows rows;
  add_pairs(rows, "vector", {{chip.subsystems, 0.4}}, 24, "load", 1);
  add_pairs(rows, "vector", {{chip.groups, 0.4}}, 24, "store", 2);
  const std::size_t victim_work = interfere_schema().index("victim_work");
  bool stores = false;
  for (Row& row : rows.stored("interfere")) {
    // The rows of the second call, its alone rows among them, are of victims that store.
    stores = stores || std::get<std::string>(row.values[3]) == "store";
    if (std::get<std::string>(row.values[3]) == "store")
      row.values[victim_work] = std::string("store");
  }
  for (int i = 0; i < 24; ++i) {
    rows.interfere("vector" + std::to_string(i), "none", "none", 134);
    rows.last("interfere").values[victim_work] = std::string("store");
  }
  ASSERT_TRUE(stores);
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 2U) << tree.reason;
  EXPECT_EQ(tree.levels[0].basis, "interfere.csv store_on_store");
  EXPECT_EQ(tree.levels[0].groups.size(), 4U);
  EXPECT_EQ(tree.levels[1].basis, "interfere.csv load");
  EXPECT_EQ(tree.levels[1].groups.size(), 8U);
}

TEST(TopologyTree, RowsOfAnotherClockOrStatusDoNotCount) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  for (Row& row : rows.stored("profile")) row.time_source = TimeSource::host_clock;
  EXPECT_TRUE(infer_core_tree(rows.run()).cannot_tell);
  for (Row& row : rows.stored("profile")) {
    row.time_source = TimeSource::modelled;
    row.status = Status::throttled;
  }
  EXPECT_TRUE(infer_core_tree(rows.run()).cannot_tell);
}

TEST(TopologyTree, ARefusedFileIsNamedAndTheRestIsUsed) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  rows.rows("interfere").file = "interfere.csv";
  rows.rows("interfere").problems = {"interfere.csv:3: latency_ns: 'x' is not a number"};
  const CoreTree tree = infer_core_tree(rows.run());
  EXPECT_EQ(tree.levels.size(), 1U);
  EXPECT_NE(tree.reason.find("interfere.csv is refused"), std::string::npos) << tree.reason;
}

TEST(TopologyTree, HandoffShowsClusters) {
  MadeRows rows;
  Rng rng(3);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      if (i == j) continue;
      const double ns = i / 4 == j / 4 ? 50 : 80;
      rows.handoff("cpu" + std::to_string(i), "cpu" + std::to_string(j),
                   ns * (1 + 0.02 * gaussian(rng)));
    }
  }
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_EQ(sets_of(tree.levels[0]),
            (std::set<std::string>{"cpu0-3", "cpu4-7", "cpu8-11", "cpu12-15"}));
  EXPECT_EQ(tree.levels[0].basis, "handoff.csv read");
}

/// One aggressor is beyond notice, half of all cores are not: the regression tells whose they are.
TEST(TopologyTree, SubsetsShowWhatPairsCannot) {
  const Partition groups = truth::blocks(32, 8);
  MadeRows rows;
  Rng rng(11);
  for (std::size_t v = 0; v < 32; ++v) {
    const std::string victim = "sm" + std::to_string(v);
    for (int r = 0; r < 8; ++r) rows.interfere(victim, "none", "none", 200, r);
    for (int s = 0; s < 120; ++s) {
      std::vector<CoreName> others = truth::names(32);
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(v));
      shuffle(others, rng);
      others.resize(16);
      double slow = 1;
      for (const CoreName& core : others) {
        if (groups[static_cast<std::size_t>(core.number)] == groups[v]) slow += 0.01;
      }
      rows.interfere(victim, format_core_set(others), "load",
                     200 * slow * (1 + 0.01 * gaussian(rng)));
    }
  }
  const CoreTree tree = infer_core_tree(rows.run());
  ASSERT_EQ(tree.levels.size(), 1U) << tree.reason;
  EXPECT_EQ(sets_of(tree.levels[0]),
            (std::set<std::string>{"sm0-7", "sm8-15", "sm16-23", "sm24-31"}));
  const auto matrix = slow_down(rows.rows("interfere"), TimeSource::modelled, {"load", "load"});
  ASSERT_TRUE(matrix);
  double inside = 0, outside = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t j = 0; j < 32; ++j) {
      if (i == j) continue;
      ASSERT_TRUE(matrix->at(i, j));
      const CoreName &a = matrix->cores[i], &b = matrix->cores[j];
      (a.number / 8 == b.number / 8 ? inside : outside) += *matrix->at(i, j) - 1;
    }
  }
  EXPECT_NEAR(inside / (32 * 7), 0.01, 0.0005);
  EXPECT_NEAR(outside / (32 * 24), 0, 0.0005);
}

TEST(TopologyMatrices, ProfileDistanceIsTheMeanAbsoluteDifferenceOfCentredProfiles) {
  MadeRows rows;
  const double a[] = {100, 110, 120, 130}, b[] = {210, 200, 220, 230};
  for (int i = 0; i < 4; ++i) {
    for (int r = 0; r < 3; ++r) {  // the median of the repetitions
      rows.profile("cpu0", i, std::int64_t{64} * i, a[i] + (r == 2 ? 50 : 0), r);
      rows.profile("cpu1", i, std::int64_t{64} * i, b[i], r);
    }
  }
  const auto matrix = profile_distance(rows.rows("profile"), TimeSource::modelled);
  ASSERT_TRUE(matrix);
  ASSERT_EQ(matrix->cores.size(), 2U);
  // Centred: -15 -5 5 15 and -5 -15 5 15.
  EXPECT_NEAR(*matrix->at(0, 1), 5, 1e-9);
  EXPECT_NEAR(*matrix->at(1, 0), 5, 1e-9);
  EXPECT_NEAR(*matrix->at(0, 0), 0, 1e-9);
  EXPECT_FALSE(profile_distance(rows.rows("handoff"), TimeSource::modelled));
}

TEST(TopologyMatrices, SlowDownIsTheRatioOfMedians) {
  MadeRows rows;
  for (double ns : {100.0, 90.0, 110.0}) rows.interfere("cpu0", "none", "none", ns);
  for (double ns : {150.0, 900.0, 140.0}) rows.interfere("cpu0", "cpu1", "load", ns);
  rows.interfere("cpu0", "cpu1", "store", 300);
  rows.interfere("cpu1", "cpu0", "load", 150);  // never measured alone
  const auto matrix = slow_down(rows.rows("interfere"), TimeSource::modelled, {"load", "load"});
  ASSERT_TRUE(matrix);
  EXPECT_DOUBLE_EQ(matrix->at(0, 1).value_or(0), 1.5);
  EXPECT_FALSE(matrix->at(1, 0));
  EXPECT_FALSE(matrix->at(0, 0));
  EXPECT_FALSE(slow_down(rows.rows("interfere"), TimeSource::modelled, {"load", "register"}));
}

TEST(TopologyMatrices, HandoffKeepsTheDirection) {
  MadeRows rows;
  for (double ns : {60.0, 70.0, 65.0}) rows.handoff("cpu0", "cpu1", ns);
  rows.handoff("cpu1", "cpu0", 80);
  const auto matrix = handoff_latency(rows.rows("handoff"), TimeSource::modelled, "read");
  ASSERT_TRUE(matrix);
  EXPECT_DOUBLE_EQ(matrix->at(0, 1).value_or(0), 65);
  EXPECT_DOUBLE_EQ(matrix->at(1, 0).value_or(0), 80);
}

TEST(TopologyJson, HoldsTheTree) {
  const SmallChip chip(24);
  MadeRows rows;
  add_profile(rows, "vector", chip.dies, 16, 1);
  const CoreTree tree = infer_core_tree(rows.run());
  const nlohmann::json json = nlohmann::json::parse(topology_json(rows.run(), tree));
  EXPECT_EQ(json.at("device"), "sim:chip");
  EXPECT_EQ(json.at("none_found"), false);
  EXPECT_EQ(json.at("reason"), tree.reason);
  ASSERT_EQ(json.at("levels").size(), tree.levels.size());
  for (std::size_t i = 0; i < tree.levels.size(); ++i) {
    const nlohmann::json& level = json.at("levels").at(i);
    EXPECT_EQ(level.at("name"), tree.levels[i].name);
    EXPECT_EQ(level.at("basis"), tree.levels[i].basis);
    EXPECT_DOUBLE_EQ(level.at("stability").get<double>(), *tree.levels[i].stability);
    ASSERT_EQ(level.at("groups").size(), tree.levels[i].groups.size());
    for (std::size_t g = 0; g < tree.levels[i].groups.size(); ++g) {
      std::vector<std::string> names;
      for (const CoreName& core : tree.levels[i].groups[g]) names.push_back(core.str());
      EXPECT_EQ(level.at("groups").at(g).get<std::vector<std::string>>(), names);
    }
  }
  MadeRows empty;
  const nlohmann::json none =
      nlohmann::json::parse(topology_json(empty.run(), infer_core_tree(empty.run())));
  EXPECT_TRUE(none.at("levels").empty());
  EXPECT_EQ(none.at("none_found"), false);
}

}  // namespace
}  // namespace sonde
