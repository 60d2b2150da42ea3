#include <algorithm>
#include <cmath>

#include "core/statistics.h"
#include "topology/evidence.h"
#include "topology/profile_fit.h"

namespace sonde {
namespace {

/// Blocks of neighbouring addresses that a profile is cut into: enough for a bootstrap.
constexpr Eigen::Index kBlocks = 64;
constexpr Eigen::Index kShortestBlock = 8;

class ProfileEvidence : public Evidence {
 public:
  explicit ProfileEvidence(const ProfileTable& table)
      : cores_(table.cores), fit_(fit_profiles(table.latency_ns)) {}

  const std::vector<CoreName>& cores() const override { return cores_; }

  Look look(const Partition& parent) const override {
    const Eigen::MatrixXd left = differences(parent);
    const Eigen::Index n = left.cols(), lines = left.rows();
    const Eigen::Index blocks = std::min(kBlocks, lines / kShortestBlock);
    // A block is a stretch of the visiting order: what drift is left stays inside it.
    auto parts = std::make_shared<std::vector<Eigen::MatrixXd>>();
    for (Eigen::Index b = 0; b < blocks; ++b) {
      const Eigen::Index first = b * lines / blocks, last = (b + 1) * lines / blocks;
      const auto part = left.middleRows(first, last - first);
      Eigen::MatrixXd products = Eigen::MatrixXd::Zero(n, n);
      products.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose(),
                                                          1 / static_cast<double>(last - first));
      parts->push_back(products.selfadjointView<Eigen::Lower>());
    }
    // Taking the mean of m profiles out leaves -1/m between unrelated ones.
    std::vector<double> size(static_cast<std::size_t>(group_count(parent)), 0);
    for (int group : parent) ++size[static_cast<std::size_t>(group)];
    Eigen::MatrixXd shift = Eigen::MatrixXd::Constant(n, n, std::nan(""));
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        const int group = parent[static_cast<std::size_t>(i)];
        if (group == parent[static_cast<std::size_t>(j)]) {
          shift(i, j) = 1 / size[static_cast<std::size_t>(group)];
        }
      }
    }
    const auto mean_of = [parts, shift](const std::vector<std::size_t>& chosen) {
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(shift.rows(), shift.cols());
      for (std::size_t b : chosen) sum += (*parts)[b];
      return Similarity(sum / static_cast<double>(chosen.size()) + shift);
    };
    std::vector<std::size_t> every, even, odd;
    for (std::size_t b = 0; b < parts->size(); ++b) {
      every.push_back(b);
      (b % 2 == 0 ? even : odd).push_back(b);
    }
    Look result{.all = mean_of(every), .half_a = mean_of(even), .half_b = mean_of(odd)};
    result.least_noise = noise_between(*parts, result.all - shift);
    result.resample = [mean_of, blocks](Rng& rng) {
      std::vector<std::size_t> chosen;
      for (Eigen::Index b = 0; b < blocks; ++b) {
        chosen.push_back(static_cast<std::size_t>(rng.below(static_cast<std::uint64_t>(blocks))));
      }
      return mean_of(chosen);
    };
    return result;
  }

 private:
  /// Standard deviation of one pair in the mean of half of the blocks, from how the blocks differ.
  static double noise_between(const std::vector<Eigen::MatrixXd>& parts,
                              const Eigen::MatrixXd& mean) {
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(mean.rows(), mean.cols());
    for (const Eigen::MatrixXd& part : parts) squares += (part - mean).cwiseAbs2();
    double sum = 0, pairs = 0;
    for (Eigen::Index i = 0; i < mean.rows(); ++i) {
      for (Eigen::Index j = 0; j < i; ++j) {
        if (std::isnan(squares(i, j))) continue;  // of two parents
        sum += squares(i, j);
        ++pairs;
      }
    }
    const auto count = static_cast<double>(parts.size());
    return pairs > 0 ? std::sqrt(sum / pairs / (count - 1) / (count / 2)) : 0;
  }

  /// Of each core from its parent group, at unit size, with the mean of the group taken out.
  Eigen::MatrixXd differences(const Partition& parent) const {
    Eigen::MatrixXd left(fit_.rest.rows(), fit_.rest.cols());
    for (int group = 0; group < group_count(parent); ++group) {
      std::vector<Eigen::Index> members;
      for (std::size_t i = 0; i < parent.size(); ++i) {
        if (parent[i] == group) members.push_back(static_cast<Eigen::Index>(i));
      }
      const Eigen::ArrayXd common = common_part(fit_.rest, fit_.weight, members);
      Eigen::VectorXd mean = Eigen::VectorXd::Zero(left.rows());
      for (Eigen::Index c : members) {
        const Eigen::ArrayXd core = fit_.rest.col(c) - common;
        left.col(c) = at_unit_size(core, fit_.rounding);
        mean += left.col(c) / static_cast<double>(members.size());
      }
      for (Eigen::Index c : members) left.col(c) -= mean;
    }
    return left;
  }

  std::vector<CoreName> cores_;
  ProfileFit fit_;
};

}  // namespace

std::unique_ptr<Evidence> profile_evidence(const ProfileTable& table) {
  return std::make_unique<ProfileEvidence>(table);
}

double profile_spread(const ProfileTable& table) {
  const ProfileFit fit = fit_profiles(table.latency_ns);
  std::vector<double> spreads;
  for (auto core : fit.rest.colwise()) spreads.push_back(spread_of(core));
  return median(spreads).value_or(0);
}

}  // namespace sonde
