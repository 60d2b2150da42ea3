#include <cmath>

#include "topology/evidence.h"

namespace sonde {
namespace {

/// Passes of the two-way fit; with a full matrix the second already changes nothing.
constexpr int kPasses = 20;

/// Takes the mean of each row and each column out (least squares over the cells that are there).
Eigen::MatrixXd beyond_row_and_column(Eigen::MatrixXd cells) {
  const Eigen::Index n = cells.rows();
  const auto take_out = [&](auto line) {
    double sum = 0, count = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (std::isnan(line(i))) continue;
      sum += line(i);
      ++count;
    }
    if (count > 0) line.array() -= sum / count;
  };
  for (int pass = 0; pass < kPasses; ++pass) {
    for (Eigen::Index i = 0; i < n; ++i) take_out(cells.row(i));
    for (Eigen::Index i = 0; i < n; ++i) take_out(cells.col(i));
  }
  return cells;
}

class PairEvidence : public Evidence {
 public:
  PairEvidence(const CoreMatrix& matrix, double least_noise)
      : cores_(matrix.cores), least_noise_(least_noise) {
    const auto n = static_cast<Eigen::Index>(cores_.size());
    Eigen::MatrixXd cells(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const auto& cell = matrix.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
        cells(i, j) = i != j && cell ? *cell : std::nan("");
      }
    }
    cells_ = beyond_row_and_column(std::move(cells));
  }

  const std::vector<CoreName>& cores() const override { return cores_; }

  Look look(const Partition&) const override {
    const Eigen::Index n = cells_.rows();
    const Eigen::MatrixXd nothing = Eigen::MatrixXd::Constant(n, n, std::nan(""));
    Look result{.all = nothing, .half_a = nothing, .half_b = nothing};
    // Which direction goes into which half: by a coin of its own, so that no half prefers victims.
    Rng coin(key_of({static_cast<std::uint64_t>(n), 0x68616c66}));
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < i; ++j) {
        const bool swap = coin.below(2) == 1;
        const double there = swap ? cells_(i, j) : cells_(j, i);
        const double back = swap ? cells_(j, i) : cells_(i, j);
        result.half_a(i, j) = result.half_a(j, i) = there;
        result.half_b(i, j) = result.half_b(j, i) = back;
        const bool both = !std::isnan(there) && !std::isnan(back);
        const double mean = both ? (there + back) / 2 : std::isnan(there) ? back : there;
        result.all(i, j) = result.all(j, i) = mean;
      }
    }
    result.least_noise = least_noise_;
    const Eigen::MatrixXd a = result.half_a, b = result.half_b;
    result.resample = [a, b](Rng& rng) {
      Eigen::MatrixXd drawn = a;
      for (Eigen::Index i = 0; i < a.rows(); ++i) {
        for (Eigen::Index j = 0; j < i; ++j) {
          double sum = 0, count = 0;
          for (int draw = 0; draw < 2; ++draw) {
            const double value = rng.below(2) == 0 ? a(i, j) : b(i, j);
            if (std::isnan(value)) continue;
            sum += value;
            ++count;
          }
          drawn(i, j) = drawn(j, i) = count > 0 ? sum / count : std::nan("");
        }
      }
      return Similarity(drawn);
    };
    return result;
  }

 private:
  std::vector<CoreName> cores_;
  double least_noise_;
  Eigen::MatrixXd cells_;
};

}  // namespace

std::unique_ptr<Evidence> pair_evidence(const CoreMatrix& matrix, double least_noise) {
  return std::make_unique<PairEvidence>(matrix, least_noise);
}

}  // namespace sonde
