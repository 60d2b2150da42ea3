#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/rng.h"
#include "core/stored_run.h"

namespace sonde::test {

/// How the samples of a point scatter about its time; each has the given standard deviation.
enum class Noise {
  normal,    ///< Gaussian
  heavy,     ///< Student's t with 3 degrees of freedom
  skewed,    ///< a floor and an exponential tail
  outliers,  ///< Gaussian, and 3 samples of 100 are 30 % late
  drift,     ///< half of the variance is an autoregressive walk (0.7) that all points share
  mixed,     ///< Gaussian, each point with its own deviation, a third to three times of the given
};

struct PairPlan {
  int points = 100;
  int samples = 8;
  Noise noise = Noise::normal;
  double deviation = 0.01;
  int planted = 0;        ///< of the points; evenly spread
  double slowdown = 1.0;  ///< of the planted ones in run B
  std::uint64_t seed = 1;
};

inline bool is_planted(const PairPlan& plan, int point) {
  // Point i is planted when the line of slope planted/points steps there.
  const auto line = [&](int i) {
    return static_cast<std::int64_t>(i) * plan.planted / plan.points;
  };
  return line(point + 1) > line(point);
}

inline double normal(Rng& rng) { return static_cast<double>(rng.gaussian_q16()) / 65536; }

/// A sample's relative error in standard deviations.
inline double draw(Noise noise, Rng& rng) {
  switch (noise) {
    case Noise::heavy: {
      double squares = 0;
      const double z = normal(rng);
      for (int i = 0; i < 3; ++i) squares += std::pow(normal(rng), 2);
      return z / std::sqrt(squares / 3) / std::numbers::sqrt3;
    }
    case Noise::skewed:
      return -std::log(1 - rng.uniform()) - 1;
    default:
      return normal(rng);
  }
}

/// One side of the pair as a stored run of copies: point i is a copy of i + 1 bytes.
inline StoredRun simulated_side(const PairPlan& plan, bool second) {
  StoredRun run;
  run.name = second ? "b" : "a";
  run.manifest.device.name = "host";
  run.manifest.device.time_source = TimeSource::host_clock;
  run.manifest.seed = plan.seed;
  ProbeRows copies{&copy_schema(), "copy.csv", Table(copy_schema()), {}};
  Rng rng(key_of({plan.seed, second ? 2u : 1u}));
  double walk = normal(rng);
  std::int64_t order = 0;
  for (int repetition = 0; repetition < plan.samples; ++repetition) {
    walk = 0.7 * walk + std::sqrt(1 - 0.49) * normal(rng);
    for (int i = 0; i < plan.points; ++i) {
      double error = draw(plan.noise, rng);
      if (plan.noise == Noise::drift) error = (error + walk) / std::numbers::sqrt2;
      Rng own(key_of({plan.seed, 3, static_cast<std::uint64_t>(i)}));
      const double wide = plan.noise == Noise::mixed ? std::pow(3, 2 * own.uniform() - 1) : 1;
      double time = 1e-6 * (1 + i % 50) * (1 + plan.deviation * wide * error);
      if (plan.noise == Noise::outliers && rng.uniform() < 0.03) time *= 1.3;
      if (second && is_planted(plan, i)) time *= plan.slowdown;
      Row row;
      row.device = "host";
      row.time_source = TimeSource::host_clock;
      row.point = i;
      row.repetition = repetition;
      row.order = order++;
      row.values.resize(copy_schema().size());
      row.values[0] = std::string("d2d");
      row.values[1] = std::string("auto");
      row.values[2] = std::int64_t{i + 1};
      row.values[copy_schema().index("elapsed_s")] = time;
      copies.table->rows.add(row);
    }
  }
  run.probes.push_back(std::move(copies));
  return run;
}

}  // namespace sonde::test
