#include "report/gemm_groups.h"

#include <algorithm>
#include <map>

#include "report/show.h"

namespace sonde {
namespace {

constexpr std::size_t kFewestShapes = 3;
constexpr std::size_t kMostWorst = 10;

}  // namespace

std::string GemmPattern::words() const {
  std::string words = name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::vector<GemmGroup> group_gemm(const std::vector<GemmShape>& shapes, const GemmRoofline& line) {
  std::vector<GemmGroup> groups;
  const auto add = [&](const char* by, const auto& name_of) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<double>> values;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = name_of(shapes[i]);
      if (name.empty() || !line.fractions[i]) continue;
      if (values[name].empty()) order.push_back(name);
      values[name].push_back(*line.fractions[i]);
    }
    for (const std::string& name : order) {
      const std::vector<double>& all = values[name];
      if (all.size() < kFewestShapes) continue;
      groups.push_back(
          {by, name, {median(all), median_interval(all), static_cast<std::int64_t>(all.size())}});
    }
  };
  add("m", [](const GemmShape& shape) { return std::to_string(shape.m); });
  std::stable_sort(groups.begin(), groups.end(), [](const GemmGroup& a, const GemmGroup& b) {
    return std::make_pair(a.name.size(), a.name) < std::make_pair(b.name.size(), b.name);
  });
  add("layer", [](const GemmShape& shape) { return shape.layer(); });
  add("model", [](const GemmShape& shape) { return shape.model(); });
  return groups;
}

std::vector<GemmWorst> worst_gemm(const std::vector<GemmShape>& shapes, const GemmRoofline& line,
                                  const std::vector<GemmPattern>& patterns) {
  std::vector<GemmWorst> worst;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (line.fractions[i]) worst.push_back({i, *line.fractions[i], ""});
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](const GemmWorst& a, const GemmWorst& b) { return a.fraction < b.fraction; });
  if (worst.size() > kMostWorst) worst.resize(kMostWorst);
  for (GemmWorst& one : worst) {
    std::vector<const GemmPattern*> has;
    for (const GemmPattern& pattern : patterns) {
      if (pattern.loss[one.shape] > 0) has.push_back(&pattern);
    }
    std::stable_sort(has.begin(), has.end(), [&](const GemmPattern* a, const GemmPattern* b) {
      return a->loss[one.shape] > b->loss[one.shape];
    });
    for (const GemmPattern* pattern : has) {
      one.reason += (one.reason.empty() ? "" : ", ") + pattern->words() + " (" +
                    show_number(100 * pattern->loss[one.shape], 2) + " %)";
    }
    if (has.empty()) one.reason = "no pattern found explains it";
  }
  return worst;
}

}  // namespace sonde
