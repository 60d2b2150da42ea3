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
  std::optional<double> highest_clock_mhz;  ///< of any sample
  std::int64_t cores = 0;                   ///< that ran, by the placement; 0: unknown

  double rate() const;         ///< flop over the median time, FLOP/s
  std::string name() const;    ///< "512x4096x4096"
  std::string weight() const;  ///< "4096x4096", N x K
  /// The parts of a label like "Llama-3.1-8B qkv tp1"; empty where it is none.
  std::string model() const;
  std::string layer() const;
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
  Estimate near_ridge;                           ///< median of those within kNearRidge of it
  std::size_t above_roof = 0;                    ///< shapes beyond attainable
  double ridge() const { return peak / bandwidth; }
};

/// The ridge of the published study (FLOP/B), for comparison with its subset.
inline constexpr double kStudyRidge = 236;
/// Intensities from the ridge over this to the ridge times this are near it: both roofs bind there.
inline constexpr double kNearRidge = 1.25;

/// The best rate of a loop that stays in registers.
struct RegisterPeak {
  std::string dtype, kernel;
  std::string instructions;  ///< as the note of its row begins, "AMX"
  Estimate rate;             ///< FLOP/s
};

/// Median fraction of the shapes that share an M, a layer or a model.
struct GemmGroup {
  std::string by;    ///< "m", "layer", "model"
  std::string name;  ///< "512", "qkv", "Llama-3.1-8B"
  Estimate median;   ///< n counts shapes
};

/// A property of shapes that goes with lower fractions than theirs otherwise would be.
struct GemmPattern {
  std::string name;      ///< alignment, tile_quantisation, wave_quantisation, skinny, launch_bound
  std::string sentence;  ///< what it is and how large
  double effect = 0;     ///< on the fraction of a shape that has it, relative: -0.12
  double p = 1;          ///< adjusted for all patterns that were tested (Holm)
  std::vector<double> loss;  ///< one a shape: its own loss, relative; 0: it has not the property

  std::string words() const;  ///< "wave quantisation"
};

/// One of the slowest shapes against attainable.
struct GemmWorst {
  std::size_t shape = 0;
  double fraction = 0;
  std::string reason;  ///< the found patterns it has, the largest first, or that it has none
};

struct GemmAnalysis {
  std::string dtype, kernel;      ///< most shapes were measured with these
  std::string state;              ///< rotated or warm operands; empty: the rows do not say
  std::vector<GemmShape> shapes;  ///< with a usable sample
  std::size_t planned = 0;        ///< points of that kind of which rows speak
  Estimate peak;                  ///< best median rate of the dtype, any kernel
  std::string peak_shape;
  std::optional<Estimate> read_bandwidth;  ///< best measured read of memory
  std::optional<double> datasheet_peak, datasheet_bandwidth;
  std::optional<double> reference_clock_mhz;  ///< at which the datasheet peak is meant
  std::vector<GemmRoofline> rooflines;        ///< measured first, where it is known
  std::vector<std::string> notes;             ///< why a roof is missing, and what it is worth
  std::vector<RegisterPeak> registers;
  std::vector<Estimate> anchors;  ///< times of the anchor shape, in the order of the sweep
  Estimate interval_width;        ///< median over the shapes of the 95 % interval over the time
  /// Shapes that no roof allows: faster than attainable by more than the intervals of both, at the
  /// clock sampled where it is known. nullopt: no roof to judge by.
  std::optional<std::vector<std::size_t>> impossible;
  std::string impossible_by;  ///< the roofs they were judged by
  std::vector<GemmGroup> groups;
  std::vector<GemmPattern> patterns;  ///< that were found, the strongest first
  std::vector<GemmWorst> worst;       ///< at most ten, the lowest fraction first

  const GemmRoofline* roofline(const std::string& suffix) const;
  /// What pictures stand on: measured, else datasheet; nullptr: neither.
  const GemmRoofline* main_roofline() const;
};

/// `read_bandwidth`: of the stream probe.
GemmAnalysis analyse_gemm(const GroupedRows& rows, const Manifest& manifest,
                          const std::optional<Estimate>& read_bandwidth);

}  // namespace sonde
