#include "report/gemm_judge.h"

#include <algorithm>

#include "core/decide.h"
#include "report/show.h"

namespace sonde {
namespace {

void add_register_notes(GemmAnalysis& gemm) {
  const auto find = [&](const char* dtype, const char* kernel) -> const RegisterPeak* {
    for (const RegisterPeak& peak : gemm.registers) {
      if (peak.dtype == dtype && peak.kernel == kernel) return &peak;
    }
    return nullptr;
  };
  const RegisterPeak* fp32 = find("fp32", "register");
  if (fp32 == nullptr) return;
  for (const char* kernel : {"register", "register_vector"}) {
    const RegisterPeak* bf16 = find("bf16", kernel);
    if (bf16 == nullptr || *bf16->rate.value >= *fp32->rate.value) continue;
    gemm.notes.push_back(
        "BF16 by " + bf16->instructions + " runs slower than FP32 by " + fp32->instructions + ": " +
        show_quantity(*bf16->rate.value, "FLOP/s") + " against " +
        show_quantity(*fp32->rate.value, "FLOP/s") + " in registers alone" +
        (bf16->kernel == "register" ? "." : "; only the matrix units make BF16 quicker here."));
  }
}

/// Whether the machine changed while the shapes were measured one after the other.
void add_drift_note(GemmAnalysis& gemm) {
  constexpr double kWorthSaying = 0.05;
  const auto by_time = [](const Estimate& a, const Estimate& b) { return *a.value < *b.value; };
  if (gemm.anchors.size() < 2) return;
  const auto [fast, slow] = std::minmax_element(gemm.anchors.begin(), gemm.anchors.end(), by_time);
  const bool apart = fast->interval && slow->interval && fast->interval->high < slow->interval->low;
  if (!apart || *slow->value < (1 + kWorthSaying) * *fast->value) return;
  gemm.notes.push_back("The anchor shape, measured " + std::to_string(gemm.anchors.size()) +
                       " times in between, took from " + show_quantity(*fast->value * 1e9, "ns") +
                       " to " + show_quantity(*slow->value * 1e9, "ns") +
                       ": the machine changed during the sweep, and shapes measured at different "
                       "times differ by as much.");
}

Estimate width_of(const std::vector<GemmShape>& shapes) {
  std::vector<double> widths;
  for (const GemmShape& shape : shapes) {
    if (shape.time.interval) widths.push_back(shape.time.interval->width() / *shape.time.value);
  }
  Estimate result{median(widths), std::nullopt, static_cast<std::int64_t>(widths.size())};
  return result;
}

/// What one end of an interval leaves out.
constexpr double kAlone = (1 - kConfidence) / 2;

/// By the roof at the sampled clock, else the datasheet's, else the measured one.
void judge_impossible(GemmAnalysis& gemm, bool modelled) {
  const GemmRoofline* line = nullptr;
  for (const char* suffix : {".sampled_clock", ".datasheet", ""}) {
    if (line == nullptr) line = gemm.roofline(suffix);
  }
  if (line == nullptr) return;
  const bool measured = line->suffix.empty();
  const bool at_clock = line->suffix == ".sampled_clock";
  const auto high = [&](const Estimate& estimate, double value) {
    return measured && estimate.interval ? estimate.interval->high : value;
  };
  const double peak = high(gemm.peak, line->peak);
  const double bandwidth = high(gemm.read_bandwidth.value_or(Estimate{}), line->bandwidth);
  // Operands that were not rotated may lie in a cache, where no memory binds them.
  const bool in_memory = modelled || gemm.state == "rotated";
  // Of many shapes at the roof some lie above it by chance: all of them together do in one of
  // forty.
  const double reach =
      normal_above(kAlone / static_cast<double>(gemm.shapes.size())) / normal_above(kAlone);
  gemm.impossible.emplace();
  gemm.impossible_by = line->name + " roofs";
  for (std::size_t i = 0; i < gemm.shapes.size(); ++i) {
    const GemmShape& shape = gemm.shapes[i];
    if (!shape.time.interval || (at_clock && !shape.highest_clock_mhz)) continue;
    double most = peak;
    if (at_clock) most *= *shape.highest_clock_mhz / *gemm.reference_clock_mhz;
    if (in_memory) most = std::min(most, shape.intensity * bandwidth);
    // The best shape is itself the measured peak.
    const double longest =
        *shape.time.value + reach * (shape.time.interval->high - *shape.time.value);
    if (shape.flop / longest > most * (1 + 1e-9)) gemm.impossible->push_back(i);
  }
}

}  // namespace

void judge_gemm(GemmAnalysis& gemm, bool modelled) {
  add_register_notes(gemm);
  add_drift_note(gemm);
  gemm.interval_width = width_of(gemm.shapes);
  judge_impossible(gemm, modelled);
}

}  // namespace sonde
