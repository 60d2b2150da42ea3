// All that a report finds in the runs kept in data/, held to what it was when last looked at: no
// change of the analysis goes unnoticed. Whether it is true, other tests ask. CONTRIBUTING.md says
// when the expectations are renewed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "report/figure.h"
#include "report/findings.h"
#include "report/grade.h"
#include "report/overlay.h"
#include "report/report.h"
#include "report/sentences.h"
#include "tests/recovery/stored_facts.h"
#include "tests/support/sanitized.h"

namespace sonde::test {

void expect_stored(const Facts& facts, const std::string& file) {
  bool renewed = false;
  const auto path = std::filesystem::path(SONDE_SOURCE_DIR) / "tests/recovery/expected" / file;
  for (const std::string& problem : facts.compare(path, renewed)) {
    ADD_FAILURE() << file << ": " << problem;
  }
  if (renewed) GTEST_SKIP() << file << " was written anew";
}

void add_tree(Facts& facts, const std::string& name, const CoreTree& tree) {
  facts.add(name, {tree.levels.size(), tree.none_found, tree.cannot_tell, tree.reason});
  for (const TreeLevel& level : tree.levels) {
    std::string groups;
    for (const auto& group : level.groups) groups += format_core_set(group) + " / ";
    facts.add(name + " " + level.name, {level.stability, level.basis, groups});
  }
  std::string order;
  for (const CoreName& core : tree.order) order += core.str() + " ";
  facts.add(name + " order", {order});
}

void add_copy_shape(Facts& facts, const std::string& name, const CopyShape& shape) {
  facts.add(name, {shape.switches.size(), shape.edges.size(), shape.classes.size(),
                   shape.undecided.size(), shape.pieces.size(), shape.cannot_tell,
                   shape.peak ? std::optional(shape.peak->x) : std::nullopt});
  facts.estimate(name + " peak", shape.peak_rate);
  const auto low = [](const auto& i) { return i ? std::optional(i->low) : std::nullopt; };
  const auto high = [](const auto& i) { return i ? std::optional(i->high) : std::nullopt; };
  for (const CopySwitch& s : shape.switches) {
    facts.add(name + " switch", {s.last_old, s.first_new, s.jump_s, low(s.jump_interval),
                                 high(s.jump_interval), s.before_s, s.after_s, s.strength, s.n,
                                 s.dip_depth, s.dip_bytes, s.recovered_bytes});
  }
  for (const CopyEdge& e : shape.edges) {
    facts.add(name + " edge", {e.last_before, e.first_in, e.rise, e.capacity, low(e.start),
                               high(e.start), e.top_bytes, e.recovered_bytes});
  }
  for (const CopyClass& c : shape.classes) {
    facts.add(name + " class", {c.modulus, c.from, c.to, c.factor, low(c.factor_interval),
                                high(c.factor_interval), c.sizes});
  }
  for (const CopyUndecided& u : shape.undecided) {
    facts.add(name + " undecided", {u.last_before, u.first_after, u.jump_s});
  }
  for (const CopyPiece& p : shape.pieces) {
    facts.add(name + " piece", {p.from, p.to, p.fixed_s, p.per_byte_s});
  }
}

namespace {

void add_findings(Facts& facts, const std::vector<Finding>& findings) {
  for (const Finding& f : findings) {
    facts.add("finding " + f.name, {f.value, f.low, f.high, f.unit, to_string(f.source), f.n,
                                    f.basis, f.position ? "position" : "value"});
  }
}

void add_matrix(Facts& facts, const std::string& name, const CoreMatrix& matrix) {
  std::vector<double> cells;
  for (const auto& cell : matrix.cells) cells.push_back(cell.value_or(std::nan("")));
  facts.digest("matrix " + name, cells);
}

void add_details(Facts& facts, const RunAnalysis& analysis) {
  if (analysis.tree) add_tree(facts, "tree", *analysis.tree);
  if (analysis.profile) add_matrix(facts, "profile", *analysis.profile);
  for (const auto& [kind, matrix] : analysis.interfere) add_matrix(facts, kind.label(), matrix);
  for (const auto& [kind, matrix] : analysis.handoff) add_matrix(facts, kind, matrix);
  for (const SlowDowns& s : analysis.slow_downs) {
    facts.add("slow-downs " + s.kind.label(),
              {s.largest, s.victim.str(), s.aggressor.str(), s.pairs, s.control, s.above_control});
  }
  for (const Condition& c : analysis.conditions) {
    facts.estimate("condition " + c.probe + " " + c.metric + " " + c.unit, c.value);
  }
  for (const auto& [probe, counts] : analysis.counts) {
    facts.add("rows " + probe, {counts.ok, counts.throttled, counts.skipped, counts.failed,
                                counts.held_up, counts.other_clock, counts.empty_points.size()});
    for (const auto& [reason, n] : counts.reasons) facts.add("rows " + probe + " " + reason, {n});
  }
  if (!analysis.copy) return;
  for (const CopySeries& s : analysis.copy->series) {
    const std::string name = "copy " + s.direction + " " + s.method + " " + s.alignment + " " +
                             s.state + " " + s.cores + " " + s.tunables;
    add_copy_shape(facts, name, s.shape);
    for (const MovedSwitch& m : s.thresholds.moved) {
      facts.add(name + " moved", {m.threshold, m.bytes, m.off,
                                  m.found ? std::optional(m.found->jump_s) : std::nullopt});
    }
    for (const BreakpointCause& c : s.thresholds.causes) {
      facts.add(name + " cause", {c.last_before, c.first_after, c.is_switch, c.stays, c.moved_by});
    }
  }
}

void add_figure(Facts& facts, const Figure& figure) {
  const std::string name = "figure " + figure.id;
  facts.add(name, {figure.title, figure.x.label, figure.y.label, figure.caption, figure.height,
                   figure.boxes.size(), figure.share_of});
  for (const Series& series : figure.series) {
    std::vector<double> x, y, low, high;
    for (const FigurePoint& p : series.points) {
      x.push_back(p.x);
      y.push_back(p.y);
      low.push_back(p.low.value_or(std::nan("")));
      high.push_back(p.high.value_or(std::nan("")));
    }
    const std::string of = name + " '" + series.name + "' ";
    facts.digest(of + "x", x);
    facts.digest(of + "y", y);
    if (std::all_of(low.begin(), low.end(), [](double end) { return std::isnan(end); })) continue;
    facts.digest(of + "low", low);
    facts.digest(of + "high", high);
  }
  for (const Mark& m : figure.marks) {
    facts.add(name + " mark", {m.text, m.at, m.to, m.span_from, m.span_to});
  }
  if (!figure.heat) return;
  std::vector<double> cells;
  for (const auto& cell : figure.heat->cells) cells.push_back(cell.value_or(std::nan("")));
  facts.digest(name + " heat", cells);
  facts.add(name + " heat",
            {figure.heat->sentence(), figure.heat->scale, figure.heat->groups.size(),
             figure.heat->range().low, figure.heat->range().high});
}

void hold_run(const std::string& path, const std::string& file) {
  const StoredRun run = load_run(std::filesystem::path(SONDE_SOURCE_DIR) / "data" / path, {});
  const RunAnalysis analysis = analyse_run(run);
  const std::vector<Finding> findings = find_findings(analysis);
  Facts facts;
  for (const std::string& warning : run.warnings) facts.add("warning", {warning});
  add_findings(facts, findings);
  for (const ProbeGrade& grade : grade_run(run)) {
    facts.add("grade " + grade.probe, {std::string(1, grade.grade)});
    for (const auto& reason : grade.reasons) facts.add("grade " + grade.probe, {reason});
  }
  for (const ProbeRows& probe : run.probes) {
    if (!probe.table) continue;
    facts.add("sentence " + probe.schema->probe,
              {probe_sentence(probe.schema->probe, analysis, findings)});
  }
  facts.add("sentence topology", {topology_sentence(analysis, findings)});
  add_details(facts, analysis);
  for (const Figure& figure : build_figures({analysis, findings})) add_figure(facts, figure);
  expect_stored(facts, file);
}

TEST(StoredRuns, TheSimulatedAscendIsReadAsBefore) {
  hold_run("modelled/950pr_9579", "950pr_9579.txt");
}

TEST(StoredRuns, TheExampleOfAHostIsReadAsBefore) {
  hold_run("measured/host_example", "host_example.txt");
}

TEST(StoredRuns, TwoRunsTogetherAreDrawnAsBefore) {
  std::vector<std::unique_ptr<RunReport>> reports;
  std::vector<const RunReport*> views;
  for (const char* path : {"modelled/950pr_9579", "measured/host_example"}) {
    auto report = std::make_unique<RunReport>();
    report->run = load_run(std::filesystem::path(SONDE_SOURCE_DIR) / "data" / path, {});
    report->analysis = analyse_run(report->run);
    report->findings = find_findings(report->analysis);
    views.push_back(report.get());
    reports.push_back(std::move(report));
  }
  Facts facts;
  for (const Figure& figure : overlay_figures(views)) add_figure(facts, figure);
  expect_stored(facts, "together.txt");
}

TEST(StoredRuns, TheH200IsReadAsBefore) {
  if (kSanitized) GTEST_SKIP() << "takes long; recovery.H200 reads the same run there";
  hold_run("measured/h200_sxm", "h200_sxm.txt");
}

}  // namespace
}  // namespace sonde::test
