#include "report/gemm_patterns.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/parse.h"
#include "core/rng.h"
#include "report/show.h"

namespace sonde {
namespace {

using Vector = Eigen::VectorXd;

constexpr int kPermutations = 999;
constexpr double kSignificance = 0.05;
constexpr double kLeastEffect = 0.02;
/// Fewest shapes with a property and without it, and fewest in all.
constexpr std::int64_t kFewestEach = 8;
constexpr Eigen::Index kFewestShapes = 40;
/// Widths that kernels are made for: 128 elements are a line of memory at 1 or 2 bytes.
constexpr std::int64_t kAlignment = 128;
constexpr std::int64_t kSkinny = 32;
/// Fewer cores have no waves worth the name.
constexpr std::int64_t kFewestCores = 4;
/// Tiles that matrix libraries use; which ones a device uses is not known, so each is tried.
constexpr std::int64_t kTiles[][2] = {{128, 128}, {128, 256}, {256, 128}, {256, 256}};

double rounded_up(std::int64_t value, std::int64_t unit) {
  const std::int64_t units = (value + unit - 1) / unit;
  return static_cast<double>(units);
}

/// Share of the last tiles' area that C fills.
double tile_fill(const GemmShape& shape, const std::int64_t (&tile)[2]) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) /
         (rounded_up(shape.m, tile[0]) * static_cast<double>(tile[0]) *
          rounded_up(shape.n, tile[1]) * static_cast<double>(tile[1]));
}

/// Share of the cores that work, on average over the waves.
double wave_fill(const GemmShape& shape, const std::int64_t (&tile)[2], std::int64_t most) {
  const double tiles = rounded_up(shape.m, tile[0]) * rounded_up(shape.n, tile[1]);
  const auto cores = static_cast<double>(most);
  return tiles / (std::ceil(tiles / cores) * cores);
}

/// The shapes that some properties are looked for in, and what explains their fractions without.
class Design {
 public:
  /// `strata`: shapes of one stratum are shuffled among themselves, and each has its own level.
  Design(const std::vector<GemmShape>& shapes, const GemmRoofline& line,
         std::vector<std::size_t> members, bool by_m)
      : members_(std::move(members)), y_(count()), ideal_(count()) {
    for (Eigen::Index i = 0; i < count(); ++i) {
      const std::size_t at = members_[static_cast<std::size_t>(i)];
      at_.push_back(&shapes[at]);
      y_(i) = std::log(*line.fractions[at]);
      ideal_(i) = *shapes[at].time.value * *line.fractions[at];
      strata_[by_m ? shapes[at].m : 0].push_back(i);
    }
    for (const auto& [m, same] : strata_) {
      Vector one = Vector::Zero(count());
      for (Eigen::Index i : same) one(i) = 1;
      columns_.push_back(std::move(one));
    }
  }

  /// Explains by a curve of the logarithm of a property.
  void control(const std::function<double(Eigen::Index)>& value_of, int degree) {
    Vector logarithm(count());
    for (Eigen::Index i = 0; i < count(); ++i) logarithm(i) = std::log(value_of(i));
    logarithm.array() -= logarithm.mean();
    Vector power = logarithm;
    for (int d = 1; d <= degree; ++d, power = power.cwiseProduct(logarithm).eval()) {
      columns_.push_back(power);
    }
  }
  void solve() {
    controls_.resize(count(), static_cast<Eigen::Index>(columns_.size()));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      controls_.col(static_cast<Eigen::Index>(c)) = columns_[c];
    }
    solver_.compute(controls_);
    left_ = residual(y_);
  }

  Eigen::Index count() const { return static_cast<Eigen::Index>(members_.size()); }
  const std::vector<std::size_t>& members() const { return members_; }
  const GemmShape& shape(Eigen::Index i) const { return *at_[static_cast<std::size_t>(i)]; }
  double ideal_s(Eigen::Index i) const { return ideal_(i); }
  const Vector& left() const { return left_; }  ///< of the fractions' logarithms
  Vector residual(const Vector& column) const { return column - controls_ * solver_.solve(column); }

  /// What is left of the fractions, dealt anew within each stratum.
  Vector shuffled(Rng& rng) const {
    Vector result = left_;
    for (const auto& [m, same] : strata_) {
      std::vector<Eigen::Index> from = same;
      shuffle(from, rng);
      for (std::size_t j = 0; j < from.size(); ++j) result(same[j]) = left_(from[j]);
    }
    return result;
  }

 private:
  std::vector<std::size_t> members_;  ///< indices of the shapes
  std::vector<const GemmShape*> at_;
  Vector y_, ideal_, left_;
  std::map<std::int64_t, std::vector<Eigen::Index>> strata_;
  std::vector<Vector> columns_;
  Eigen::MatrixXd controls_;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver_;
};

/// A property as a column: below 0 where a shape has it, in the size of its effect on the logarithm
/// of the fraction, else 0.
struct Hypothesis {
  std::string name;
  std::string what;
  Vector x;
  double slope = 0;      ///< above 0: it costs
  double closeness = 0;  ///< correlation with what is left of the fractions
  double p = 1;
};

void propose(std::vector<Hypothesis>& all, const Design& design, const std::string& name,
             const std::string& what, const std::function<double(Eigen::Index)>& value_of) {
  Hypothesis one;
  one.name = name;
  one.what = what;
  one.x.resize(design.count());
  std::int64_t with = 0;
  for (Eigen::Index i = 0; i < design.count(); ++i) {
    one.x(i) = value_of(i);
    with += one.x(i) < 0;
  }
  if (with >= kFewestEach) all.push_back(std::move(one));
}

/// How often shuffled remainders of the fractions go with a property as closely as the true ones.
void test(const Design& design, std::uint64_t seed, std::vector<Hypothesis>& all) {
  std::vector<Vector> x;
  std::vector<int> as_close(all.size(), 0);
  for (Hypothesis& one : all) {
    x.push_back(design.residual(one.x));
    // What the controls tell already cannot be told from them.
    constexpr double kLeastLeft = 1e-3;
    const double square = x.back().squaredNorm();
    if (!(square > kLeastLeft * (one.x.array() - one.x.mean()).matrix().squaredNorm())) continue;
    one.slope = x.back().dot(design.left()) / square;
    one.closeness = one.slope * std::sqrt(square) / design.left().norm();
  }
  Rng rng(key_of({seed, static_cast<std::uint64_t>(design.count()), all.size()}));
  for (int i = 0; i < kPermutations; ++i) {
    const Vector drawn = design.shuffled(rng);
    for (std::size_t h = 0; h < all.size(); ++h) {
      const double square = x[h].squaredNorm();
      as_close[h] += std::abs(x[h].dot(drawn)) >= std::abs(all[h].slope) * square;
    }
  }
  for (std::size_t h = 0; h < all.size(); ++h) {
    all[h].p = (1.0 + as_close[h]) / (1.0 + kPermutations);
  }
}

/// Fixed part of a product's time: the intercept of the line through the shortest quarter of the
/// shapes, by the medians of slopes and remainders (Theil 1950, Sen 1968).
double fixed_cost_s(const Design& design) {
  std::vector<Eigen::Index> order;
  for (Eigen::Index i = 0; i < design.count(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index a, Eigen::Index b) { return design.ideal_s(a) < design.ideal_s(b); });
  order.resize(std::max<std::size_t>(2, order.size() / 4));
  const auto time = [&](Eigen::Index i) { return *design.shape(i).time.value; };
  std::vector<double> slopes, left;
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = a + 1; b < order.size(); ++b) {
      const double run = design.ideal_s(order[b]) - design.ideal_s(order[a]);
      if (run > 0) slopes.push_back((time(order[b]) - time(order[a])) / run);
    }
  }
  const double slope = median(slopes).value_or(1);
  for (Eigen::Index i : order) left.push_back(time(i) - slope * design.ideal_s(i));
  return *median(left);
}

/// A found pattern in words, with what it costs each shape.
GemmPattern pattern_of(const Hypothesis& one, const Design& design, std::size_t shapes) {
  GemmPattern pattern;
  pattern.name = one.name;
  pattern.p = one.p;
  pattern.loss.assign(shapes, 0);
  std::vector<double> losses;
  for (Eigen::Index i = 0; i < design.count(); ++i) {
    const double loss = 1 - std::exp(one.slope * one.x(i));
    if (loss < kLeastEffect) continue;
    pattern.loss[design.members()[static_cast<std::size_t>(i)]] = loss;
    losses.push_back(loss);
  }
  pattern.effect = -median(losses).value_or(0);
  pattern.sentence = one.what + ": " + format_count(static_cast<std::int64_t>(losses.size())) +
                     " shapes are " + show_number(-100 * pattern.effect, 2) +
                     " % slower for it in the median (p " + show_number(one.p, 1) +
                     " after adjusting for all that was tested).";
  return pattern;
}

std::vector<std::size_t> usable(const std::vector<GemmShape>& shapes, const GemmRoofline& line,
                                bool below_ridge) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!line.fractions[i] || !(*line.fractions[i] > 0)) continue;
    if (!below_ridge || shapes[i].intensity < line.ridge()) members.push_back(i);
  }
  return members;
}

}  // namespace

std::vector<GemmPattern> find_gemm_patterns(const std::vector<GemmShape>& shapes,
                                            const GemmRoofline& line, std::uint64_t seed) {
  // Widths and tiles: among shapes of one M, at the same N, K, ideal time and intensity.
  Design same_m(shapes, line, usable(shapes, line, false), true);
  // Few rows or columns: among shapes that the memory binds, at the same ideal time and K.
  Design memory_bound(shapes, line, usable(shapes, line, true), false);
  // A fixed cost: among all, at the same intensity.
  Design all_times(shapes, line, usable(shapes, line, false), false);
  if (same_m.count() < kFewestShapes) return {};
  std::vector<Hypothesis> widths, skinny, fixed;
  propose(widths, same_m, "alignment", "N or K is no multiple of 128", [&](Eigen::Index i) {
    const GemmShape& shape = same_m.shape(i);
    return shape.n % kAlignment != 0 || shape.k % kAlignment != 0 ? -1.0 : 0.0;
  });
  std::int64_t cores = 0;  // that the device uses where a shape has work for all
  for (const GemmShape& shape : shapes) cores = std::max(cores, shape.cores);
  for (const auto& tile : kTiles) {
    const std::string size = std::to_string(tile[0]) + " x " + std::to_string(tile[1]);
    propose(widths, same_m, "tile_quantisation", "The last tiles are not full, taken as " + size,
            [&](Eigen::Index i) { return std::log(tile_fill(same_m.shape(i), tile)); });
    propose(widths, same_m, "wave_quantisation",
            "The last wave of the cores is not full, tiles taken as " + size, [&](Eigen::Index i) {
              return cores < kFewestCores ? 0.0 : std::log(wave_fill(same_m.shape(i), tile, cores));
            });
  }
  propose(skinny, memory_bound, "skinny", "At most 32 rows or columns", [&](Eigen::Index i) {
    const GemmShape& shape = memory_bound.shape(i);
    return std::min(shape.m, shape.n) <= kSkinny ? -1.0 : 0.0;
  });
  const double cost_s = fixed_cost_s(all_times);
  if (cost_s > 0) {
    propose(fixed, all_times, "launch_bound",
            "A fixed cost of about " + show_quantity(cost_s * 1e9, "ns") + " a product",
            [&](Eigen::Index i) { return -std::log1p(cost_s / all_times.ideal_s(i)); });
  }
  const auto curves = [](Design& design, int width_degree, int time_degree) {
    const auto n = [&](Eigen::Index i) { return static_cast<double>(design.shape(i).n); };
    const auto k = [&](Eigen::Index i) { return static_cast<double>(design.shape(i).k); };
    if (width_degree > 0) design.control(n, width_degree);
    if (width_degree > 0) design.control(k, width_degree);
    design.control([&](Eigen::Index i) { return design.shape(i).intensity; }, 2);
    if (time_degree > 0) {
      design.control([&](Eigen::Index i) { return design.ideal_s(i); }, time_degree);
    }
    design.solve();
  };
  curves(same_m, 3, 3);
  curves(all_times, 0, 0);
  test(same_m, seed, widths);
  test(all_times, seed, fixed);
  if (memory_bound.count() >= kFewestShapes) {
    curves(memory_bound, 0, 3);
    test(memory_bound, seed, skinny);
  } else {
    skinny.clear();
  }

  struct Tested {
    const Design* design;
    Hypothesis* one;
  };
  std::vector<Tested> tested;
  tested.reserve(widths.size() + skinny.size() + fixed.size());
  for (Hypothesis& one : widths) tested.push_back({&same_m, &one});
  for (Hypothesis& one : skinny) tested.push_back({&memory_bound, &one});
  for (Hypothesis& one : fixed) tested.push_back({&all_times, &one});
  std::stable_sort(tested.begin(), tested.end(), [](const Tested& a, const Tested& b) {
    return std::make_pair(a.one->p, -a.one->closeness) <
           std::make_pair(b.one->p, -b.one->closeness);
  });
  // Holm 1979: the smallest p counts as often as there are tests, the next one time less, ...
  std::vector<GemmPattern> found;
  double adjusted = 0;
  for (std::size_t i = 0; i < tested.size(); ++i) {
    Hypothesis& one = *tested[i].one;
    one.p = adjusted =
        std::max(adjusted, std::min(1.0, one.p * static_cast<double>(tested.size() - i)));
    const bool known = std::any_of(found.begin(), found.end(), [&](const GemmPattern& pattern) {
      return pattern.name == one.name;  // a likelier size of tile
    });
    if (known || one.p >= kSignificance || !(one.slope > 0)) continue;
    GemmPattern pattern = pattern_of(one, *tested[i].design, shapes.size());
    if (pattern.effect <= -kLeastEffect) found.push_back(std::move(pattern));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const GemmPattern& a, const GemmPattern& b) { return a.effect < b.effect; });
  return found;
}

}  // namespace sonde
