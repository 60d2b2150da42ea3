// Rate over attainable against M, and for each weight and M.
#include <algorithm>
#include <map>
#include <set>

#include "report/gemm_figures.h"
#include "report/show.h"

namespace sonde {
namespace {

/// Fewest shapes at one M from which a tenth and nine tenths are told apart.
constexpr std::size_t kFewestForQuantiles = 10;

std::string attainable_sentence(const GemmRoofline& line) {
  return " Attainable by the " + line.name + " roofs: the lower of " +
         show_quantity(line.peak, "FLOP/s") + " and intensity times " +
         show_quantity(line.bandwidth, "B/s") + ".";
}

Figure against_m(const FigureInput& input, const GemmAnalysis& gemm, const GemmRoofline& line) {
  Figure figure;
  figure.id = "gemm_fraction";
  figure.title = "GEMM rate over attainable against M, " + gemm.dtype;
  figure.x = {"M (rows of A)", true, TickStyle::plain, false};
  figure.y = {"rate over attainable (%)", false, TickStyle::plain, true};
  Series all{"a shape", SeriesStyle::points, false, {}};
  all.bars = false;  // shapes of one M lie on one line
  std::map<std::int64_t, std::vector<double>> by_m;
  for (std::size_t i = 0; i < gemm.shapes.size(); ++i) {
    if (!line.fractions[i]) continue;
    const double percent = 100 * *line.fractions[i];
    const GemmShape& shape = gemm.shapes[i];
    all.points.push_back(shape_point(shape, static_cast<double>(shape.m), percent));
    by_m[shape.m].push_back(percent);
  }
  figure.series.push_back(std::move(all));
  const auto add = [&](const char* name, SeriesStyle style, double p, std::size_t fewest) {
    Series series{name, style, false, {}};
    for (const auto& [m, values] : by_m) {
      if (values.size() < fewest) continue;
      series.points.push_back({static_cast<double>(m), *quantile(values, p), {}, {}, ""});
    }
    if (series.points.size() > 1) figure.series.push_back(std::move(series));
  };
  add("median", SeriesStyle::line_points, 0.5, 3);
  add("a tenth lies below", SeriesStyle::line, 0.1, kFewestForQuantiles);
  add("a tenth lies above", SeriesStyle::line, 0.9, kFewestForQuantiles);
  if (figure.series.size() == 1) figure.series.front().name.clear();
  figure.caption = shapes_sentence(gemm) + attainable_sentence(line);
  const auto add_finding = [&](const std::string& name, const char* what) {
    const Finding* found = find_finding(input.findings, name + line.suffix);
    if (found == nullptr || !found->value) return;
    figure.caption += " " + std::string(what) + " " + show_number(100 * *found->value, 3) + " %";
    if (found->low && found->high) {
      figure.caption += " (" + show_number(100 * *found->low, 3) + " to " +
                        show_number(100 * *found->high, 3) + " %)";
    }
    figure.caption += ".";
  };
  add_finding("gemm.fraction.median", "Median");
  add_finding("gemm.fraction.mean", "Mean");
  add_finding("gemm.fraction.time_weighted", "Weighted by time");
  figure.caption += " " + closing_sentence(input.analysis, "gemm");
  return figure;
}

std::optional<Figure> by_weight(const FigureInput& input, const GemmAnalysis& gemm,
                                const GemmRoofline& line) {
  using Weight = std::pair<std::int64_t, std::int64_t>;  // n, k
  const auto less = [](const Weight& a, const Weight& b) {
    const auto size = [](const Weight& w) {
      return static_cast<double>(w.first) * static_cast<double>(w.second);
    };
    return size(a) != size(b) ? size(a) < size(b) : a < b;
  };
  std::set<Weight, decltype(less)> weights(less);
  std::set<std::int64_t> ms;
  for (const GemmShape& shape : gemm.shapes) {
    weights.insert({shape.n, shape.k});
    ms.insert(shape.m);
  }
  if (weights.size() < 2 || ms.size() < 2) return std::nullopt;
  Figure figure;
  figure.id = "gemm_weights";
  figure.title = "GEMM rate over attainable by weight and M, " + gemm.dtype;
  figure.x.label = "M (rows of A)";
  figure.y.label = "weight N x K, smallest at the top";
  HeatMap map;
  map.scale = "rate over attainable (%)";
  map.at_least = Interval{0, 100};
  for (const Weight& weight : weights) {
    map.rows.push_back(std::to_string(weight.first) + "x" + std::to_string(weight.second));
  }
  for (const std::int64_t m : ms) map.columns.push_back(std::to_string(m));
  map.cells.resize(map.rows.size() * map.columns.size());
  for (std::size_t i = 0; i < gemm.shapes.size(); ++i) {
    if (!line.fractions[i]) continue;
    const GemmShape& shape = gemm.shapes[i];
    const auto row = std::distance(weights.begin(), weights.find({shape.n, shape.k}));
    const auto column = std::distance(ms.begin(), ms.find(shape.m));
    map.cells[static_cast<std::size_t>(row) * map.columns.size() +
              static_cast<std::size_t>(column)] = 100 * *line.fractions[i];
  }
  figure.height = heat_map_height(map);
  figure.caption = std::to_string(map.rows.size()) + " weights by " +
                   std::to_string(map.columns.size()) + " values of M." + attainable_sentence(line);
  if (const std::string more = map.sentence(); !more.empty()) figure.caption += " " + more;
  figure.caption += " " + closing_sentence(input.analysis, "gemm");
  figure.heat = std::move(map);
  return figure;
}

std::vector<Figure> build(const FigureInput& input) {
  if (!input.analysis.gemm) return {};
  const GemmAnalysis& gemm = *input.analysis.gemm;
  const GemmRoofline* line = gemm.main_roofline();
  if (line == nullptr) return {};
  std::vector<Figure> figures = {against_m(input, gemm, *line)};
  if (auto map = by_weight(input, gemm, *line)) figures.push_back(std::move(*map));
  return figures;
}

[[maybe_unused]] const bool registered = register_figure({75, "gemm", build});

}  // namespace
}  // namespace sonde
