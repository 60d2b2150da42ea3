// NVIDIA cards as devices.
#include <memory>
#include <optional>
#include <tuple>

#include "core/error.h"
#include "core/parse.h"
#include "device/common/unix_time.h"
#include "device/cuda/blas_lt.h"
#include "device/cuda/chase.h"
#include "device/cuda/contention.h"
#include "device/cuda/copy.h"
#include "device/cuda/describe.h"
#include "device/cuda/errors.h"
#include "device/cuda/gemm.h"
#include "device/cuda/profile.h"
#include "device/cuda/stream.h"
#include "device/cuda/telemetry.h"
#include "device/registry.h"

namespace sonde::cuda {
namespace {

/// Number of cards, or why there is none.
struct Cards {
  int count = 0;
  std::string reason;
};

Cards count_cards() {
  Cards cards;
  const cudaError_t code = cudaGetDeviceCount(&cards.count);
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    cards.count = 0;
    int driver = 0;
    const bool none = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    cards.reason = none ? "no NVIDIA driver" : cudaGetErrorString(code);
  } else if (cards.count == 0) {
    cards.reason = cudaGetErrorString(cudaErrorNoDevice);
  }
  return cards;
}

Card read_card(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "reading the card");
  Card card;
  card.ordinal = ordinal;
  card.product = properties.name;
  card.major = properties.major;
  card.minor = properties.minor;
  card.sms = properties.multiProcessorCount;
  card.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  card.l2_bytes = properties.l2CacheSize;
  card.shared_bytes_an_sm = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  card.most_shared_bytes_a_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  char bus_id[32] = "";
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal), "reading the card's address");
  card.bus_id = bus_id;
  check(cudaDriverGetVersion(&card.driver_version), "reading the driver's version");
  check(cudaRuntimeGetVersion(&card.runtime_version), "reading the runtime's version");
  if (const BlasLt* lt = blas_lt()) card.blas_version = lt->version();
  return card;
}

/// All that lives in the context of this process on the card.
struct Engines {
  Engines(const Card& card, const DeviceDescription& description, Monitor& monitor)
      : context(card.ordinal, card.sms, static_cast<int>(card.most_shared_bytes_a_block)),
        chase(context, description),
        profile(context, description),
        contention(context, description),
        stream(context, description),
        copy(context, description),
        gemm(context, description, monitor) {}
  Context context;
  ChaseEngine chase;
  ProfileEngine profile;
  ContentionEngine contention;
  StreamEngine stream;
  CopyEngine copy;
  GemmEngine gemm;
};

/// In the place of an engine that could not be made: each point says why.
template <class Work>
class Refusal final : public Engine<Work> {
 public:
  std::string reason;
  void prepare(const Work&) override { throw PointFailure(reason); }
  Sample run(const Trial&) override { throw PointFailure(reason); }
  Check verify() override { return {false, reason}; }
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal)
      : card_(read_card(ordinal)),
        monitor_(card_.bus_id),
        description_(describe_card(card_, monitor_.facts())) {}

  const DeviceDescription& description() const noexcept override { return description_; }
  Telemetry telemetry() override { return monitor_.telemetry(); }
  Seconds now() override { return unix_now(); }
  Engine<ChaseWork>* chase() noexcept override { return engine<ChaseWork>(&Engines::chase); }
  Engine<ProfileWork>* profile() noexcept override {
    return engine<ProfileWork>(&Engines::profile);
  }
  Engine<ContentionWork>* contention() noexcept override {
    return engine<ContentionWork>(&Engines::contention);
  }
  Engine<StreamWork>* stream() noexcept override { return engine<StreamWork>(&Engines::stream); }
  Engine<CopyWork>* copy() noexcept override { return engine<CopyWork>(&Engines::copy); }
  Engine<GemmWork>* gemm() noexcept override {
    if (!card_.blas_version) return nullptr;
    return engine<GemmWork>(&Engines::gemm);
  }

 private:
  /// Made when first asked for: a list of devices needs no context on the card. After an error that
  /// took the context with it, all is made anew; where the driver refuses a second context to this
  /// process, each further point says so, and the same command goes on in a new one.
  template <class Work, class Kind>
  Engine<Work>* engine(Kind Engines::*which) noexcept {
    try {
      if (context_is_lost()) {
        engines_.reset();
        static_cast<void>(cudaDeviceReset());  // of this process's context, not of the card
        forget_lost_context();
      }
      if (!engines_) engines_ = std::make_unique<Engines>(card_, description_, monitor_);
      return &((*engines_).*which);
    } catch (const std::exception& error) {
      auto& refusal = std::get<Refusal<Work>>(refusals_);
      refusal.reason = error.what();
      return &refusal;
    }
  }

  Card card_;
  Monitor monitor_;
  DeviceDescription description_;
  std::unique_ptr<Engines> engines_;
  std::tuple<Refusal<ChaseWork>, Refusal<ProfileWork>, Refusal<ContentionWork>, Refusal<StreamWork>,
             Refusal<CopyWork>, Refusal<GemmWork>>
      refusals_;
};

std::unique_ptr<Device> open_cuda(const std::string& selector) {
  const Cards cards = count_cards();
  if (cards.count == 0) throw UsageError("--device: cuda:" + selector + ": " + cards.reason);
  const auto ordinal = parse_integer(selector);
  if (!ordinal || *ordinal < 0 || *ordinal >= cards.count) {
    throw UsageError("--device: cuda:" + selector + ": there is cuda:0" +
                     (cards.count > 1 ? " to cuda:" + std::to_string(cards.count - 1) : ""));
  }
  try {
    return std::make_unique<CudaDevice>(static_cast<int>(*ordinal));
  } catch (const PointFailure& failure) {
    throw UsageError("--device: cuda:" + selector + ": " + failure.what());
  }
}

std::vector<Listing> list_cuda() {
  const Cards cards = count_cards();
  if (cards.count == 0) return {{"cuda", "", false, "built, no device: " + cards.reason}};
  std::vector<Listing> all;
  for (int i = 0; i < cards.count; ++i) {
    const std::string name = "cuda:" + std::to_string(i);
    try {
      all.push_back({name, read_card(i).product, true, ""});
    } catch (const std::exception& error) {
      all.push_back({name, "", false, error.what()});
    }
  }
  return all;
}

[[maybe_unused]] const bool kRegistered = register_backend({"cuda", open_cuda, list_cuda});

}  // namespace
}  // namespace sonde::cuda
