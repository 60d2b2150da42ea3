#include "device/cuda/context.h"

#include <algorithm>

#include "core/error.h"
#include "device/cuda/errors.h"

namespace sonde::cuda {
namespace {

constexpr std::int64_t kArrivalBytes = 256;  // the counter on a line of its own

/// Opens the gate also when queueing failed half-way: the device must not wait in vain.
class OpenAtEnd {
 public:
  OpenAtEnd(volatile unsigned* flag, unsigned epoch) : flag_(flag), epoch_(epoch) {}
  ~OpenAtEnd() { *flag_ = epoch_; }
  OpenAtEnd(const OpenAtEnd&) = delete;
  OpenAtEnd& operator=(const OpenAtEnd&) = delete;

 private:
  volatile unsigned* flag_;
  unsigned epoch_;
};

}  // namespace

int sm_of(const CoreName& core, int sms) {
  if (core.kind != "sm" || core.number < 0 || core.number >= sms) {
    throw Skip("no core " + core.str() + " here; there are sm0 to sm" + std::to_string(sms - 1));
  }
  return core.number;
}

CoreName core_of(int sm) { return {"sm", sm}; }

Context::Context(int ordinal, int sms, int shared_bytes) : sms_(sms), shared_bytes_(shared_bytes) {
  if (sms > kMostSms) {
    throw Skip(std::to_string(sms) + " SMs: this backend can name " + std::to_string(kMostSms));
  }
  check(cudaSetDevice(ordinal), "choosing the card");
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check(cudaEventCreate(&begin_), "making an event");
  check(cudaEventCreate(&end_), "making an event");
  gate_ = PinnedBuffer(std::int64_t{2} * 128);
  std::fill_n(gate_.as<unsigned>(), 64, 0U);
  const std::int64_t bytes = kArrivalBytes + kMostSms * static_cast<std::int64_t>(sizeof(unsigned));
  seat_state_ = DeviceBuffer(bytes);
  check(cudaMemset(seat_state_.as(), 0, static_cast<std::size_t>(bytes)), "clearing the seats");
  check(count_latency_seats(&blocks_an_sm_[Seated::chase], &blocks_an_sm_[Seated::profile],
                            &blocks_an_sm_[Seated::duel]),
        "asking how many blocks an SM holds");
}

Context::~Context() {
  if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
  if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

Seconds Context::elapsed(const char* what) {
  check(cudaEventSynchronize(end_), what);
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading the events");
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

Seconds Context::time(const std::function<void()>& enqueue, const std::function<void()>& before,
                      const std::function<void()>& meanwhile) {
  ++epoch_;
  volatile unsigned* const flag = gate_.as<unsigned>();
  volatile unsigned* const gave_up = flag + 32;
  check(launch_gate(stream_, flag, epoch_, gave_up), "starting the gate");
  {
    const OpenAtEnd open(flag, epoch_);
    if (before) before();
    check(cudaEventRecord(begin_, stream_), "recording an event");
    enqueue();
    check(cudaEventRecord(end_, stream_), "recording an event");
  }
  if (meanwhile) meanwhile();
  const Seconds taken = elapsed("the timed work");
  if (*gave_up == epoch_) throw PointFailure("queueing the timed work took longer than 2 s");
  return taken;
}

Seconds Context::time_ungated(const std::function<void()>& enqueue) {
  check(cudaEventRecord(begin_, stream_), "recording an event");
  enqueue();
  check(cudaEventRecord(end_, stream_), "recording an event");
  return elapsed("the timed work");
}

void Context::synchronize(const char* what) { check(cudaStreamSynchronize(stream_), what); }

Seats Context::seat(const std::vector<CoreName>& cores, Seated kernel, int* blocks) {
  return seat(cores, blocks_an_sm_.at(kernel), blocks);
}

void Context::refuse_impossible(const std::vector<CoreName>& cores) const {
  std::vector<bool> named(static_cast<std::size_t>(sms_));
  for (const CoreName& core : cores) {
    const auto sm = static_cast<std::size_t>(sm_of(core, sms_));
    if (named[sm]) throw Skip(core.str() + " is named twice");
    named[sm] = true;
  }
}

Seats Context::seat(const std::vector<CoreName>& cores, int blocks_an_sm, int* blocks) {
  if (blocks_an_sm < 1) throw Skip("this card cannot hold a block of 1,024 threads on an SM");
  refuse_impossible(cores);
  Seats seats{};
  std::fill(std::begin(seats.role), std::end(seats.role), std::int16_t{-1});
  std::int16_t role = 0;
  for (const CoreName& core : cores) seats.role[core.number] = role++;
  *blocks = blocks_an_sm * sms_;
  arrivals_ += static_cast<unsigned long long>(*blocks);
  seats.arrivals = seat_state_.as<unsigned long long>();
  seats.target = arrivals_;
  seats.taken = reinterpret_cast<unsigned*>(seat_state_.as() + kArrivalBytes);
  seats.launch = next_launch();
  return seats;
}

}  // namespace sonde::cuda
