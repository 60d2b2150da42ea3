#include "device/cuda/profile.h"

#include <cmath>

#include "core/error.h"
#include "core/parse.h"
#include "device/common/sampled_lines.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

/// Eight dependent loads five times at each line; the least of five is free of what disturbs one.
constexpr int kPasses = 5;

}  // namespace

void ProfileEngine::prepare(const ProfileWork& work) {
  prepared_ = false;
  sm_of(work.core, context_.sms());
  const std::int64_t line = description_.chase_line_bytes;
  const std::int64_t most = description_.memory_bytes.value_or(kGiB);
  if (work.bytes > most) {
    throw Skip("a chain of " + format_size(Bytes(work.bytes)) +
               " does not fit: a measurement may use " + format_count(most) + " B");
  }
  const bool same = filled_ && filled_->bytes == work.bytes &&
                    filled_->addresses == work.addresses && filled_->seed == work.seed;
  if (!same) {
    filled_.reset();
    offsets_ = sampled_offsets(work.bytes, line, work.addresses, work.seed);
    const auto count = static_cast<std::int64_t>(offsets_.size());
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(std::int64_t));
    lines_.reserve(work.bytes);
    offset_memory_.reserve(bytes);
    cycles_.reserve(count * static_cast<std::int64_t>(sizeof(float)));
    result_.reserve(sizeof(ProfileResult));
    // Every line holds its own address: eight loads of one line then depend on one another.
    const auto lines = static_cast<std::size_t>(work.bytes / line);
    std::vector<std::uint32_t> itself(lines);
    for (std::size_t i = 0; i < lines; ++i) itself[i] = static_cast<std::uint32_t>(i);
    const DeviceBuffer next(static_cast<std::int64_t>(lines * sizeof(std::uint32_t)));
    check(
        cudaMemcpy(next.as(), itself.data(), lines * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
        "sending the lines' addresses");
    check(cudaMemcpy(offset_memory_.as(), offsets_.data(), static_cast<std::size_t>(bytes),
                     cudaMemcpyHostToDevice),
          "sending the sampled addresses");
    const Ring ring{lines_.as(), nullptr, static_cast<std::int64_t>(lines), line};
    check(launch_ring(context_.stream(), ring, next.as<std::uint32_t>(), 1), "filling the lines");
    context_.synchronize("filling the lines");
    filled_ = work;
  }
  work_ = work;
  prepared_ = true;
}

Sample ProfileEngine::run(const Trial&) {
  if (!prepared_) throw PointFailure("run() without a prepare() that succeeded");
  int grid = 0;
  const Seats seats = context_.seat({work_.core}, Seated::profile, &grid);
  launched_ = seats.launch;
  const auto count = static_cast<std::int64_t>(offsets_.size());
  Sample sample;
  sample.elapsed = context_.time([&] {
    check(launch_profile(context_.stream(), grid, seats, lines_.as(),
                         offset_memory_.as<std::int64_t>(), count, kPasses, cycles_.as<float>(),
                         result_.as<ProfileResult>()),
          "starting a profile");
  });
  const ProfileResult& result = *result_.as<ProfileResult>();
  if (result.launch != launched_ || result.cycles == 0 || result.ns == 0) {
    throw PointFailure("the profile of " + work_.core.str() + " did not run");
  }
  const double ns_a_cycle = static_cast<double>(result.ns) / static_cast<double>(result.cycles);
  sample.clock = Hertz(1e9 / ns_a_cycle);
  sample.placement = {core_of(result.sm)};
  sample.note = "ld.cg, least of " + std::to_string(kPasses) + " means of 8 dependent loads";
  sample.series.reserve(offsets_.size());
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    // To a hundredth of a nanosecond: a mean of eight whole cycles steps by 0.06.
    const double ns = std::round(static_cast<double>(cycles_.as<float>()[i]) * ns_a_cycle * 100);
    sample.series.push_back({offsets_[i], Seconds(ns * 1e-11)});
  }
  return sample;
}

Check ProfileEngine::verify() {
  if (!prepared_) return {false, "no address was measured"};
  const ProfileResult& result = *result_.as<ProfileResult>();
  if (core_of(result.sm) != work_.core) {
    return {false, "the profile was placed on " + work_.core.str() + " but ran on " +
                       core_of(result.sm).str()};
  }
  if (result.wrong != 0) {
    return {false, std::to_string(result.wrong) + " lines did not hold their own address"};
  }
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    if (!(cycles_.as<float>()[i] > 0)) {
      return {false, "the load at offset " + format_count(offsets_[i]) + " took no time"};
    }
  }
  return {};
}

}  // namespace sonde::cuda
