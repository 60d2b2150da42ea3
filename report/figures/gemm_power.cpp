// Clock and power of each GEMM shape against its intensity, where telemetry has them.
#include <algorithm>

#include "report/gemm_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

struct Quantity {
  const char* id;
  const char* title;
  const char* label;
  const char* unit;
  std::optional<double> GemmShape::*value;
};

constexpr Quantity kQuantities[] = {
    {"gemm_clock", "Clock while a GEMM shape runs", "clock (MHz)", "MHz", &GemmShape::clock_mhz},
    {"gemm_power", "Power while a GEMM shape runs", "power (W)", "W", &GemmShape::power_w}};

std::vector<Figure> build(const FigureInput& input) {
  std::vector<Figure> figures;
  if (!input.analysis.gemm) return figures;
  const GemmAnalysis& gemm = *input.analysis.gemm;
  const GemmRoofline* line = gemm.main_roofline();
  for (const Quantity& quantity : kQuantities) {
    Series below{"below the ridge", SeriesStyle::points, false, {}};
    Series above{"above the ridge", SeriesStyle::points, false, {}};
    std::vector<double> values;
    for (const GemmShape& shape : gemm.shapes) {
      const std::optional<double>& value = shape.*quantity.value;
      if (!value) continue;
      values.push_back(*value);
      (line != nullptr && shape.intensity < line->ridge() ? below : above)
          .points.push_back({shape.intensity, *value, {}, {}, shape_point(shape, 0, 0).label});
    }
    if (values.empty()) continue;
    Figure figure;
    figure.id = quantity.id;
    figure.title = std::string(quantity.title) + ", " + gemm.dtype;
    figure.x = {"intensity (FLOP/B, each operand moved once)", true, TickStyle::plain, false};
    figure.y = {quantity.label, false, TickStyle::plain, false};
    figure.series = {below, above};
    if (line == nullptr) figure.series.erase(figure.series.begin());
    if (line == nullptr) figure.series.front().name.clear();
    figure.caption = shapes_sentence(gemm) + " Median over them " +
                     show_quantity(*median(values), quantity.unit) + ", from " +
                     show_quantity(std::ranges::min(values), quantity.unit) + " to " +
                     show_quantity(std::ranges::max(values), quantity.unit) + ".";
    if (quantity.value == &GemmShape::clock_mhz && gemm.reference_clock_mhz) {
      figure.marks.push_back({Mark::Kind::horizontal, *gemm.reference_clock_mhz, std::nullopt,
                              std::nullopt, std::nullopt, "reference clock"});
    }
    if (values.size() < gemm.shapes.size()) {
      figure.caption += " " + std::to_string(gemm.shapes.size() - values.size()) +
                        " shapes without a reading are left out.";
    }
    figure.caption += " " + closing_sentence(input.analysis, "gemm");
    figures.push_back(std::move(figure));
  }
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({80, "gemm", build});

}  // namespace
}  // namespace sonde
