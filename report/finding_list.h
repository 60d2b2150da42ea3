#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/findings.h"

namespace sonde {

/// Collects the findings of one run.
class FindingList {
 public:
  explicit FindingList(const RunAnalysis& analysis) : analysis_(analysis) {}

  /// Nothing is added where the value is unknown.
  void estimate(const std::string& name, const Estimate& value, const std::string& unit,
                const std::string& basis);
  void position(const std::string& name, std::optional<double> value, std::optional<double> low,
                std::optional<double> high, const std::string& unit, const std::string& basis);
  /// Name of the file that a probe's rows come from.
  std::string file(const std::string& probe) const;
  std::vector<Finding> take() { return std::move(found_); }

 private:
  Finding make(const std::string& name, const std::string& unit, const std::string& basis) const;

  const RunAnalysis& analysis_;
  std::vector<Finding> found_;
};

/// Every digit; whole numbers without an exponent, so that 400000 bytes read as such.
std::string exact(double value);

void topology_findings(const RunAnalysis& analysis, FindingList& out);
void pair_findings(const RunAnalysis& analysis, FindingList& out);  ///< interfere and handoff
void stream_findings(const StreamAnalysis& stream, FindingList& out);
void copy_findings(const RunAnalysis& analysis, FindingList& out);
void gemm_findings(const GemmAnalysis& gemm, FindingList& out);

}  // namespace sonde
