#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/grade.h"
#include "report/report.h"

namespace sonde {

/// What parts of the page need beside their run.
struct PageContext {
  std::filesystem::path out;  ///< the folder of the page, where the picture files lie
  std::size_t index = 1;      ///< of the run on the page: its anchors begin with "run-<index>"
};

std::string code_html(const std::string& text);

/// Room for one figure, which the script draws, with its caption and its files.
std::string figure_html(const Figure& figure, const std::filesystem::path& out);

/// The figures that the first screen shows: floor plan and roofline, where they were found.
std::vector<const Figure*> first_figures(const RunReport& report);

/// One device: the first screen, then a section a probe.
std::string run_html(const RunReport& report, const PageContext& context);

/// What was asked and found by one probe, its figures, caveats, findings and files.
std::string probe_html(const RunReport& report, const ProbeRows& probe, const ProbeGrade* grade,
                       const PageContext& context);

/// Findings whose names begin with `prefix`; empty when there are none.
std::string findings_html(const RunReport& report, const std::string& prefix);

/// The findings of several runs side by side, a column a run.
std::string findings_of_runs_html(const std::vector<const RunReport*>& runs);

}  // namespace sonde
