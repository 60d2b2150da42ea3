#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/model_runs.h"

namespace sonde {

/// One shape of the quick GEMM sweep of a device, at its median time.
struct SweptShape {
  std::tuple<std::int64_t, std::int64_t, std::int64_t> size;  ///< m, n, k
  double flop = 0;
  double intensity = 0;  ///< FLOP/B
  double seconds = 0;
  std::optional<double> clock_mhz, power_w;
  double rate() const { return flop / seconds; }
};

/// Throws NoValue when the device has no such rows.
std::vector<SweptShape> swept_shapes(const ModelRuns& runs, const std::string& device);

/// Flop over time of all shapes together.
double aggregate_rate(const std::vector<SweptShape>& shapes);

/// `statistic` (mean, median, time_weighted) of the rate of one device over that of another, shape
/// by shape; time-weighted: of the time of all shapes that both have.
double speed_ratio(const std::vector<SweptShape>& of, const std::vector<SweptShape>& over,
                   const std::string& statistic);

/// `statistic` of achieved over attainable at the datasheet's roofs, over the shapes whose
/// intensity is below the ridge. `roof`: reference_clock, or sampled_clock where the peak falls
/// with the clock of the shape against the fastest clock seen.
double below_ridge_fraction(const ModelRuns& runs, const std::string& device,
                            const std::string& statistic, const std::string& roof);

/// Median power (W) or clock (MHz) of the shapes that the matrix units bind: intensity at or
/// above the datasheet's ridge.
ModelValue busy_power(const ModelRuns& runs, const std::string& device);
ModelValue busy_clock(const ModelRuns& runs, const std::string& device);

/// A roof that the device says of itself. Throws NoValue.
double roof_of(const ModelRuns& runs, const std::string& device, const std::string& command,
               const std::string& name);

}  // namespace sonde
