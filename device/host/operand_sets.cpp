#include "device/host/operand_sets.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "device/host/team.h"

namespace sonde::host {
namespace {

constexpr std::int64_t kMostSets = 32768;
/// Blocks never share a line, and start where a kernel finds them aligned.
constexpr std::int64_t kBlockAlignment = 64;

}  // namespace

Rotation::Rotation(std::int64_t count)
    : count_(count),
      step_(std::max<std::int64_t>(
          1, static_cast<std::int64_t>(static_cast<double>(count) * 0.6180339887))) {
  while (std::gcd(step_, count_) != 1) ++step_;
  if (step_ >= count_) step_ -= count_;  // of one place: none
}

std::int64_t sets_beyond_caches(const Machine& machine, double set_bytes) {
  if (machine.caches.empty()) {
    throw Skip("rotated operands: the machine does not state the size of its last cache");
  }
  const double wanted = static_cast<double>(kRotateBeyond * machine.caches.back().capacity_bytes);
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(wanted / set_bytes), 1.0, static_cast<double>(kMostSets)));
}

bool OperandSets::make(const Machine& machine, const std::string& content, std::int64_t bytes,
                       std::int64_t sets) {
  const std::int64_t stride = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  const bool same = content == content_ && bytes == bytes_ && filled_ > 0;
  if (buffer_.size() < stride * sets) {
    buffer_ = Buffer();  // the old one goes first: both at once might not fit
    filled_ = 0;
    // A sweep asks for sizes about twice the last cache again and again: some more spares making
    // most of them anew, page by page.
    const std::int64_t more = sets > 1 ? stride * sets / 8 : 0;
    buffer_ = Buffer(stride * sets + more, machine.huge_page_bytes);
  } else if (!same) {
    filled_ = 0;
  }
  content_ = content;
  bytes_ = bytes;
  stride_ = stride;
  sets_ = sets;
  return filled_ == 0;
}

void OperandSets::spread(const Machine& machine) {
  filled_ = std::max<std::int64_t>(1, filled_);
  const std::int64_t left = sets_ - filled_;
  if (left <= 0) return;
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t set = begin; set < end; ++set) {
      std::memcpy(at(set), at(0), static_cast<std::size_t>(bytes_));
    }
  };
  constexpr std::int64_t kWorthThreads = 1 << 20;
  const auto threads = static_cast<std::int64_t>(machine.cpus.size());
  if (left * bytes_ < kWorthThreads) {
    copy(filled_, sets_);
  } else {
    on_each_cpu(machine.cpus, [&](std::size_t index) {
      const auto i = static_cast<std::int64_t>(index);
      copy(filled_ + left * i / threads, filled_ + left * (i + 1) / threads);
    });
  }
  filled_ = sets_;
}

}  // namespace sonde::host
