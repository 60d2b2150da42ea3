#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/samples.h"

namespace sonde {

/// One shape C[m,n] = A[m,k] x B[k,n] at its median time.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  double flop = 0;       ///< 2 m n k, of the row
  double intensity = 0;  ///< 2 m n k / (2 (m k + k n + m n)), FLOP/B: each operand once
  std::string label;
  Estimate time;  ///< seconds
  std::optional<double> clock_mhz, power_w;

  double rate() const;         ///< flop over the median time, FLOP/s
  std::string name() const;    ///< "512x4096x4096"
  std::string weight() const;  ///< "4096x4096", N x K
};

/// Rates against one pair of roofs: attainable = min(peak, intensity x bandwidth).
struct GemmRoofline {
  std::string name;      ///< "measured" ("modelled"), "datasheet", "datasheet at the sampled clock"
  std::string suffix;    ///< of its findings: "", ".datasheet", ".sampled_clock"
  double peak = 0;       ///< FLOP/s
  double bandwidth = 0;  ///< B/s
  /// One a shape: rate over attainable. nullopt: the clock of that shape is unknown.
  std::vector<std::optional<double>> fractions;
  Estimate mean, median, time_weighted;
  Estimate best;  ///< of one shape, with the interval of its own time
  Estimate below_ridge, above_ridge, below_236;  ///< medians
  std::size_t above_roof = 0;                    ///< shapes beyond attainable
  double ridge() const { return peak / bandwidth; }
};

/// The ridge of the published study (FLOP/B), for comparison with its subset.
inline constexpr double kStudyRidge = 236;

struct GemmAnalysis {
  std::string dtype, kernel;      ///< most shapes were measured with these
  std::vector<GemmShape> shapes;  ///< with a usable sample
  std::size_t planned = 0;        ///< points of that kind of which rows speak
  Estimate peak;                  ///< best median rate of the dtype, any kernel
  std::string peak_shape;
  std::optional<Estimate> read_bandwidth;  ///< best measured read of memory
  std::optional<double> datasheet_peak, datasheet_bandwidth;
  std::optional<double> reference_clock_mhz;  ///< at which the datasheet peak is meant
  std::vector<GemmRoofline> rooflines;        ///< measured first, where it is known
  std::vector<std::string> notes;             ///< why a roof is missing

  const GemmRoofline* roofline(const std::string& suffix) const;
  /// What pictures stand on: measured, else datasheet; nullptr: neither.
  const GemmRoofline* main_roofline() const;
};

/// `read_bandwidth`: of the stream probe.
GemmAnalysis analyse_gemm(const GroupedRows& rows, const Manifest& manifest,
                          const std::optional<Estimate>& read_bandwidth);

}  // namespace sonde
