#include "harness/runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <unordered_set>

#include "core/parse.h"
#include "core/rng.h"
#include "core/signals.h"
#include "core/statistics.h"
#include "core/terminal.h"
#include "harness/progress.h"

namespace sonde {
namespace {

/// A point that has taken this long (device time, preparing and checking included) is not sampled
/// beyond its next look: a handful of slow points must not take longer than all others together.
constexpr double kMostPointSeconds = 2;

/// Stamps further apart, or the wrong way round, are those of a clock that was set in between: they
/// say nothing of how long a sample took.
constexpr double kLongestSample = 3600;

/// What every reason of a point that a budget left out holds.
const std::string kBudget = "the budget of ";

/// Mean of two readings, one if only one is known.
template <class T>
std::optional<double> around(const std::optional<T>& before, const std::optional<T>& after) {
  if (before && after) return (before->value() + after->value()) / 2;
  if (before) return before->value();
  if (after) return after->value();
  return std::nullopt;
}

/// Tells points with the same axes.
std::string axes_text(const Point& point) {
  std::string text;
  for (const Cell& cell : point.axes) text += format_cell(cell) + '\x1f';
  return text;
}

}  // namespace

std::size_t incomplete_tail(const Probe& probe, const std::vector<Row>& stored) {
  const std::int64_t whole = probe.rows_per_sample();
  if (whole == 1) return 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> count;
  for (const Row& row : stored) ++count[{row.point, row.repetition}];
  const auto complete = [&](const Row& row) {
    const bool good = row.status == Status::ok || row.status == Status::throttled;
    return !good || count.at({row.point, row.repetition}) == whole;
  };
  std::size_t tail = 0;
  while (tail < stored.size() && !complete(stored[stored.size() - 1 - tail]) &&
         stored[stored.size() - 1 - tail].point == stored.back().point &&
         stored[stored.size() - 1 - tail].repetition == stored.back().repetition) {
    ++tail;
  }
  for (std::size_t i = 0; i + tail < stored.size(); ++i) {
    if (complete(stored[i])) continue;
    throw UsageError("stored rows of point " + std::to_string(stored[i].point) + ", repetition " +
                     std::to_string(stored[i].repetition) + ": " +
                     std::to_string(count.at({stored[i].point, stored[i].repetition})) + " of " +
                     std::to_string(whole) + " rows; measure into a new directory");
  }
  return tail;
}

std::vector<Point> without_repeats(std::vector<Point> points) {
  std::unordered_set<std::string> seen;
  std::erase_if(points, [&](const Point& point) { return !seen.insert(axes_text(point)).second; });
  return points;
}

Runner::Runner(Probe& probe, Device& device, const Selection& selection, std::vector<Point> points,
               const CommonOptions& options, const std::vector<Row>& stored, Emit emit)
    : probe_(probe),
      device_(device),
      selection_(selection),
      points_(std::move(points)),
      options_(options),
      emit_(std::move(emit)),
      states_(points_.size()) {
  std::optional<double> last_end;
  for (const Row& row : stored) {
    stored_.try_emplace({row.point, row.repetition}, &row);  // the first row of a series
    order_ = std::max(order_, row.order + 1);
    if (const auto end = row.number(probe.schema(), "end_s")) last_end = end;
  }
  match_stored(0);
  // A plan grows only when all of it is done.
  const bool grown = !stored_.empty() &&
                     stored_.rbegin()->first.first >= static_cast<std::int64_t>(points_.size());
  for (std::size_t p = 0; grown && p < points_.size(); ++p) {
    if (!stored_.contains({static_cast<std::int64_t>(p), 0})) refuse_unplanned();
  }
  if (last_end) device_.resume_at(Seconds(*last_end));
  // A budget counts the device's own time where that is modelled, so that the rows do not depend
  // on how fast this machine simulates; else the time of this process.
  if (device.description().time_source == TimeSource::modelled) {
    spent_s_ = [this] { return device_.now().value(); };
  } else {
    const auto start = std::chrono::steady_clock::now();
    spent_s_ = [start] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
  }
}

void Runner::match_stored(std::size_t from) const {
  const auto agrees = [](const Cell& planned, const Cell& stored_cell) {
    return planned.index() == 0 || planned == stored_cell;  // empty: filled by the row
  };
  for (auto at = stored_.lower_bound({static_cast<std::int64_t>(from), 0});
       at != stored_.end() && at->first.first < static_cast<std::int64_t>(points_.size()); ++at) {
    const std::vector<Cell>& axes = points_[static_cast<std::size_t>(at->first.first)].axes;
    if (std::equal(axes.begin(), axes.end(), at->second->values.begin(), agrees)) continue;
    throw UsageError("stored row of point " + std::to_string(at->first.first) +
                     ": its axes are not those of the plan now (another set of cores, another " +
                     "version?); measure into a new directory");
  }
}

void Runner::refuse_unplanned() const {
  throw UsageError("stored row of point " + std::to_string(stored_.rbegin()->first.first) +
                   ": the plan has only " + std::to_string(points_.size()) + " points");
}

bool Runner::grow() {
  if (out_of_budget_) return false;
  const auto size = static_cast<std::int64_t>(points_.size());
  // What an earlier run added followed from the rows it had then: samples that a resume took anew
  // (a failed point tried again) came after them and must not change it.
  std::optional<std::int64_t> before;
  for (auto at = stored_.lower_bound({size, 0}); at != stored_.end(); ++at) {
    before = std::min(before.value_or(at->second->order), at->second->order);
  }
  std::vector<PointSamples> samples(points_.size());
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const State& state = states_[p];
    for (std::size_t i = 0; i < state.samples.size(); ++i) {
      if (!before || state.orders[i] < *before) samples[p].elapsed_s.push_back(state.samples[i]);
    }
  }
  std::vector<Point> more = probe_.extend(selection_, points_, samples);
  std::unordered_set<std::string> seen;
  std::int64_t batch = 0;
  for (const Point& point : points_) {
    seen.insert(axes_text(point));
    batch = std::max(batch, point.batch + 1);
  }
  for (Point& point : more) {
    if (!seen.insert(axes_text(point)).second) continue;
    point.batch += batch;  // of those added now, a lower one still comes first
    points_.push_back(std::move(point));
  }
  states_.resize(points_.size());
  match_stored(static_cast<std::size_t>(size));
  if (before && static_cast<std::int64_t>(points_.size()) == size) refuse_unplanned();
  return static_cast<std::int64_t>(points_.size()) > size;
}

std::string Runner::beyond_budget(std::size_t point) const {
  if (!options_.budget_s) return "";
  const std::string budget = kBudget + format_number(*options_.budget_s) + " s";
  const double left = *options_.budget_s - spent_s_();
  if (left <= 0) return budget + " was used up";
  // What a sample takes is known from its point, else from the plan's estimate, scaled by how far
  // the estimates were off so far (a modelled device's first sample has nothing to scale by). A
  // point is only begun when as many fit as give an interval, beside what is owed to those begun.
  const State& state = states_[point];
  const bool modelled = device_.description().time_source == TimeSource::modelled;
  double needs = 0;
  if (state.rows > 0) {
    needs = state.spent_s / static_cast<double>(state.rows);
  } else if (estimated_s_ > 0 || !modelled) {
    const double scale = estimated_s_ > 0 ? measured_s_ / estimated_s_ : 1;
    needs = points_[point].estimate_s * scale * static_cast<double>(fewest()) + owed_s_;
  }
  return needs > left ? "it does not fit into what is left of " + budget : "";
}

std::int64_t Runner::fewest() const {
  return std::min(kFewestSamples, options_.repetitions.value_or(kFewestSamples));
}

double Runner::share() const {
  const auto each = options_.repetitions.value_or(kMostSamples);
  return static_cast<double>(taken_) /
         static_cast<double>(each * static_cast<std::int64_t>(states_.size()));
}

Row Runner::blank(std::size_t point, std::int64_t repetition) const {
  Row row;
  row.device = device_.description().name;
  row.time_source = device_.description().time_source;
  row.point = static_cast<std::int64_t>(point);
  row.repetition = repetition;
  row.order = order_;
  row.values.assign(probe_.schema().size(), {});
  std::copy(points_[point].axes.begin(), points_[point].axes.end(), row.values.begin());
  return row;
}

std::vector<Row> Runner::measure(std::size_t point, std::int64_t repetition) {
  Row row = blank(point, repetition);
  const auto give_up = [&](Status status, const std::string& reason) {
    const std::optional<double> start = row.start_s;
    row = blank(point, repetition);  // no number of a point that went wrong is kept
    row.start_s = start;
    // The device's time moved on all the same, and a resume must go on from there.
    if (start) set(probe_.schema(), row, "end_s", device_.now().value());
    row.status = status;
    row.reason = reason.empty() ? "unknown" : reason;
  };
  if (!points_[point].skip.empty()) {
    give_up(Status::skipped, points_[point].skip);
    return {row};
  }
  const Schema& schema = probe_.schema();
  const Trial trial{options_.seed, static_cast<std::int64_t>(point), repetition};
  try {
    row.start_s = device_.now().value();
    const Sample sample = probe_.measure(device_, points_[point], trial, row);
    const double end = device_.now().value();
    const Telemetry& before = sample.before;
    const Telemetry& after = sample.after;
    set(schema, row, "elapsed_s", sample.elapsed.value());
    set(schema, row, "placement", format_core_set(sample.placement));
    if (!sample.note.empty()) set(schema, row, "note", sample.note);
    // The core that was measured knows best; else what the device says of itself.
    std::optional<double> hertz = around(before.clock, after.clock);
    if (sample.clock) hertz = sample.clock->value();
    if (hertz) {
      // A clock is known to about 0.1 MHz at best; more digits would only be noise in the file.
      set(schema, row, "clock_mhz", std::round(megahertz(Hertz(*hertz)) * 10) / 10);
    }
    // Power is the mean since the reading before, which was taken just before the timed part.
    if (after.power) set(schema, row, "power_w", after.power->value());
    if (after.temperature) {
      set(schema, row, "temperature_c", cell_of(around(before.temperature, after.temperature)));
    }
    set(schema, row, "end_s", end);
    if (before.waited && after.waited) {
      set(schema, row, "waited_s", (*after.waited - *before.waited).value());
    }
    const auto held = [](const Telemetry& t) { return t.throttle_events.value_or(0); };
    if (held(after) > held(before)) {
      row.status = Status::throttled;
      row.reason = "held back " + format_count(held(after) - held(before)) +
                   " times during the sample (a CPU quota or a thermal limit)";
    }
    return probe_.rows(sample, row);
  } catch (const Skip& skip) {
    give_up(Status::skipped, skip.what());
  } catch (const PointFailure& failure) {
    give_up(Status::failed, failure.what());
  } catch (const Error&) {
    throw;  // usage and output errors end the run
  } catch (const std::bad_alloc&) {
    give_up(Status::skipped, "out of memory");
  } catch (const std::exception& error) {
    give_up(Status::failed, error.what());
  }
  return {row};
}

void Runner::take(std::size_t point, const Row& row, bool stored) {
  State& state = states_[point];
  ++state.rows;
  const std::optional<double> end = row.number(probe_.schema(), "end_s");
  if (end && row.start_s) {
    double took = *end - *row.start_s;
    if (took < 0 || took > kLongestSample) {
      took = row.number(probe_.schema(), "elapsed_s").value_or(0);
    }
    state.spent_s += took;
    measured_s_ += took;
    estimated_s_ += points_[point].estimate_s;
  }
  owed_s_ -= state.owed_s;
  const bool ends = row.status == Status::skipped || row.status == Status::failed;
  state.owed_s = ends || state.rows >= fewest() ? 0
                                                : state.spent_s / static_cast<double>(state.rows) *
                                                      static_cast<double>(fewest() - state.rows);
  owed_s_ += state.owed_s;
  state.last = row.status;
  const bool real = device_.description().time_source != TimeSource::modelled;
  if (row.status == Status::failed && stored && real) {
    ++state.forgiven;  // what disturbed it may be gone; a modelled fault is not
    return;
  }
  const auto done = [&](const std::string& why) {
    state.done = true;
    if (!stored) {
      options_.tell(probe_.schema().probe, points_[point].label + ": ends after " +
                                               std::to_string(state.rows) + " samples: " + why);
    }
  };
  if (row.status == Status::skipped || row.status == Status::failed) {
    done(std::string(to_string(row.status)) + ": " + row.reason);
    return;
  }
  if (row.status == Status::ok) {
    state.samples.push_back(*row.number(probe_.schema(), "elapsed_s"));
    state.orders.push_back(row.order);
  }
  if (options_.repetitions) {
    if (state.rows - state.forgiven >= *options_.repetitions) done("as many as asked for");
  } else {
    // The cap counts rows, not good samples: throttled ones cannot keep a point going for ever.
    const Stop stop = decide_stop(state.samples, options_.confidence_width);
    if (stop == Stop::converged) {
      done("its interval is narrow enough");
    } else if (state.rows >= kMostSamples || stop != Stop::more) {
      done("the most that a point may take");
    } else if (state.spent_s >= kMostPointSeconds && is_look(state.rows)) {
      done("its time is spent");
    }
  }
}

bool Runner::run_batch(std::int64_t batch, Outcome& outcome, Progress& progress) {
  std::vector<std::size_t> members;
  for (std::size_t p = 0; p < points_.size(); ++p) {
    if (points_[p].batch == batch) members.push_back(p);
  }
  for (std::int64_t round = 0;; ++round) {
    std::erase_if(members, [&](std::size_t p) { return states_[p].done; });
    if (members.empty()) return true;
    std::vector<std::size_t> order = members;
    if (options_.order == "random") {
      Rng rng(key_of(
          {options_.seed, static_cast<std::uint64_t>(batch), static_cast<std::uint64_t>(round)}));
      shuffle(order, rng);
    }
    for (std::size_t p : order) {
      if (const auto stored = stored_.find({static_cast<std::int64_t>(p), round});
          stored != stored_.end()) {
        take(p, *stored->second, true);
        out_of_budget_ |= points_[p].skip.empty() && stored->second->status == Status::skipped &&
                          stored->second->reason.find(kBudget) != std::string::npos;
      } else {
        if (caught_signal() != 0) return false;
        std::vector<Row> rows;
        if (const std::string reason = beyond_budget(p);
            !reason.empty() && points_[p].skip.empty()) {
          rows = {blank(p, round)};
          rows[0].status = Status::skipped;
          rows[0].reason = reason;
          out_of_budget_ = true;
        } else {
          progress.update(done_, static_cast<std::int64_t>(points_.size()), share(),
                          points_[p].label);
          rows = measure(p, round);
        }
        for (const Row& row : rows) emit_(row);
        constexpr std::int64_t kMostNamed = 5;
        if (rows[0].status == Status::failed && ++failures_ <= kMostNamed) {
          print_error(probe_.schema().probe + ": " + points_[p].label +
                      " failed: " + rows[0].reason);
        }
        ++order_;
        outcome.measured += static_cast<std::int64_t>(rows.size());
        take(p, rows[0], false);
      }
      ++taken_;
      if (states_[p].done) {
        ++done_;
        taken_ +=
            options_.repetitions.value_or(kMostSamples) - states_[p].rows;  // not needed any more
      }
    }
  }
}

Outcome Runner::run() {
  Progress progress(probe_.schema().probe, !options_.no_progress);
  Outcome outcome;
  std::set<std::int64_t> finished;
  do {
    std::set<std::int64_t> batches;
    for (const Point& point : points_) batches.insert(point.batch);
    for (std::int64_t batch : batches) {
      if (finished.contains(batch)) continue;
      outcome.interrupted = !run_batch(batch, outcome, progress);
      if (outcome.interrupted) break;
      finished.insert(batch);
    }
  } while (!outcome.interrupted && grow());
  for (const State& state : states_) {
    if (state.rows == 0) continue;
    if (state.last == Status::failed)
      ++outcome.failed;
    else if (state.last == Status::skipped && state.samples.empty())
      ++outcome.skipped;
    else
      ++outcome.ok;
  }
  progress.finish(std::to_string(outcome.ok) + " points measured, " +
                  std::to_string(outcome.skipped) + " skipped, " + std::to_string(outcome.failed) +
                  " failed, " + format_count(outcome.measured) + " new rows");
  return outcome;
}

}  // namespace sonde
