#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/samples.h"
#include "core/stored_run.h"

namespace sonde {

/// How far the rows of one probe can be trusted, by the rules of docs/grade.md.
struct ProbeGrade {
  std::string probe;
  char grade = 'A';                  ///< A to D: the worst that any rule gives
  std::vector<std::string> reasons;  ///< of everything below A, "C: ..." and so on, worst first
};

/// One grade for each probe with a file, in the order of a page. Rows and manifest alone decide.
/// `grouped`: by probe, rows of the run that are grouped already.
std::vector<ProbeGrade> grade_run(const StoredRun& run,
                                  const std::map<std::string, GroupedRows>& grouped = {});

/// The worst of them: a run is as good as its worst probe. nullopt: no probe has a file.
std::optional<char> overall_grade(const std::vector<ProbeGrade>& grades);

}  // namespace sonde
