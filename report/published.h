#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis.h"
#include "report/findings.h"

namespace sonde {

/// A published figure of a GEMM sweep beside what a run of the same chip came to.
struct PublishedBeside {
  std::string quantity;   ///< "fraction of attainable", in words
  std::string published;  ///< "86 %", as printed
  std::string source;
  /// Statistic and value of the run, each reading of the figure one: the publication does not say
  /// which it is.
  std::vector<std::pair<std::string, std::string>> found;
};

/// Figures of `published` (study.csv, which `sonde check-model` judges too) that belong to the
/// run's chip: the simulated chip of that file, or a device of that name. Empty without any, or
/// when the file is not there: a report needs rows and manifest alone, this table is an addition.
std::vector<PublishedBeside> published_beside(const RunAnalysis& analysis,
                                              const std::vector<Finding>& findings,
                                              const std::filesystem::path& published);

}  // namespace sonde
