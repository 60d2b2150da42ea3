#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "report/analysis.h"
#include "report/figure.h"
#include "report/findings.h"
#include "report/gnuplot.h"
#include "report/published.h"

namespace sonde {

/// One run as the page shows it.
struct RunReport {
  StoredRun run;
  RunAnalysis analysis;
  std::vector<Finding> findings;
  std::vector<Figure> figures;
  std::vector<PublishedBeside> published;
};

struct ReportRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;  ///< empty: <run>/report, for one run only
  ReadOptions read;
  DrawOptions draw;
  /// Told what is read, found and run, a line each; may be empty.
  std::function<void(const std::string&)> tell = {};
};

struct ReportOutcome {
  std::filesystem::path page;  ///< index.html
  std::filesystem::path findings;
  std::vector<std::filesystem::path> pictures;
  std::vector<std::string> messages;  ///< for standard error, one line each
  ExitCode code = ExitCode::ok;
};

/// Reads the runs, writes findings.csv, pictures and index.html into the output directory and
/// nothing elsewhere. A refused file costs its probe, a missing gnuplot costs the pictures: the
/// outcome says so and the rest is still written. Throws UsageError and OutputError.
ReportOutcome make_report(const ReportRequest& request);

}  // namespace sonde
