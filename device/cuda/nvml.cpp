#include "device/cuda/nvml.h"

#include <dlfcn.h>

#include <memory>
#include <vector>

#include "core/parse.h"

namespace sonde::cuda {
namespace {

// Of nvml.h, which is not part of the CUDA toolkit: names, numbers and layouts of NVML's API
// reference (docs.nvidia.com/deploy/nvml-api), stable since driver 510.
constexpr int kSuccess = 0;
constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;
constexpr unsigned kPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT
constexpr std::uint64_t kReasonIdle = 0x1, kReasonSetting = 0x2, kReasonPowerCap = 0x4,
                        kReasonSlowdown = 0x8, kReasonThermal = 0x20, kReasonHwThermal = 0x40,
                        kReasonPowerBrake = 0x80;

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  int value_type;
  int result;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_long;
    unsigned long long as_wide;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

using Card = void*;
using Unsigned = unsigned;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_bus)(const char*, Card*) = nullptr;
  // Any of these may be missing in an old driver: its answer is then unknown.
  int (*driver)(char*, Unsigned) = nullptr;
  int (*clock)(Card, Unsigned, Unsigned*) = nullptr;
  int (*most_clock)(Card, Unsigned, Unsigned*) = nullptr;
  int (*temperature)(Card, Unsigned, Unsigned*) = nullptr;
  int (*fields)(Card, int, FieldValue*) = nullptr;
  int (*reasons)(Card, unsigned long long*) = nullptr;
  int (*limit)(Card, Unsigned*) = nullptr;
  int (*ecc)(Card, Unsigned*, Unsigned*) = nullptr;
  int (*persistence)(Card, Unsigned*) = nullptr;
  int (*mig)(Card, Unsigned*, Unsigned*) = nullptr;
  int (*compute_mode)(Card, Unsigned*) = nullptr;

  ~Library() {
    if (handle != nullptr) dlclose(handle);
  }
  bool load() {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    find(handle, "nvmlSystemGetDriverVersion", driver);
    find(handle, "nvmlDeviceGetClockInfo", clock);
    find(handle, "nvmlDeviceGetMaxClockInfo", most_clock);
    find(handle, "nvmlDeviceGetTemperature", temperature);
    find(handle, "nvmlDeviceGetFieldValues", fields);
    if (!find(handle, "nvmlDeviceGetCurrentClocksEventReasons", reasons)) {
      find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons);
    }
    find(handle, "nvmlDeviceGetEnforcedPowerLimit", limit);
    find(handle, "nvmlDeviceGetEccMode", ecc);
    find(handle, "nvmlDeviceGetPersistenceMode", persistence);
    find(handle, "nvmlDeviceGetMigMode", mig);
    find(handle, "nvmlDeviceGetComputeMode", compute_mode);
    return find(handle, "nvmlInit_v2", init) && find(handle, "nvmlShutdown", shutdown) &&
           find(handle, "nvmlDeviceGetHandleByPciBusId_v2", by_bus);
  }
};

std::string describe_throttle(std::uint64_t reasons) {
  std::vector<std::string> names;
  if (reasons & kReasonPowerCap) names.emplace_back("power cap");
  if (reasons & (kReasonThermal | kReasonHwThermal)) names.emplace_back("thermal");
  if (reasons & kReasonSlowdown) names.emplace_back("hardware slowdown");
  if (reasons & kReasonPowerBrake) names.emplace_back("power brake");
  if (reasons & kReasonSetting) names.emplace_back("clock setting");
  if (reasons & kReasonIdle) names.emplace_back("idle");
  return names.empty() ? "none" : join_names(names);
}

bool is_disturbed(std::uint64_t reasons) {
  return (reasons & (kReasonThermal | kReasonHwThermal | kReasonSlowdown | kReasonPowerBrake)) != 0;
}

Nvml::Nvml(const std::string& bus_id) {
  auto library = std::make_unique<Library>();
  if (!library->load() || library->init() != kSuccess) return;
  if (library->by_bus(bus_id.c_str(), &card_) != kSuccess) {
    library->shutdown();
    card_ = nullptr;
    return;
  }
  library_ = library.release();
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  library_->shutdown();
  delete library_;
}

CardState Nvml::state() const {
  CardState state;
  if (card_ == nullptr) return state;
  const auto clock = [this](unsigned which) -> std::optional<Hertz> {
    unsigned mhz = 0;
    if (library_->clock == nullptr || library_->clock(card_, which, &mhz) != kSuccess) return {};
    return Hertz(mhz * 1e6);
  };
  state.sm_clock = clock(kClockSm);
  state.memory_clock = clock(kClockMemory);
  unsigned value = 0;
  if (library_->temperature != nullptr &&
      library_->temperature(card_, kTemperatureGpu, &value) == kSuccess) {
    state.temperature = Celsius(value);
  }
  FieldValue power{};
  power.field = kPowerInstant;
  if (library_->fields != nullptr && library_->fields(card_, 1, &power) == kSuccess &&
      power.result == kSuccess) {
    state.power = Watts(power.value.as_unsigned * 1e-3);
  }
  unsigned long long reasons = 0;
  if (library_->reasons != nullptr && library_->reasons(card_, &reasons) == kSuccess) {
    state.throttle_reasons = reasons;
  }
  return state;
}

CardFacts Nvml::facts() const {
  CardFacts facts;
  if (card_ == nullptr) return facts;
  char text[96] = "";
  if (library_->driver != nullptr && library_->driver(text, sizeof text) == kSuccess) {
    facts.driver = text;
  }
  const auto number = [this](int (*ask)(Card, Unsigned*)) -> std::optional<unsigned> {
    unsigned value = 0;
    if (ask == nullptr || ask(card_, &value) != kSuccess) return std::nullopt;
    return value;
  };
  const auto first_of_two = [this](int (*ask)(Card, Unsigned*, Unsigned*)) -> std::optional<bool> {
    unsigned now = 0, later = 0;
    if (ask == nullptr || ask(card_, &now, &later) != kSuccess) return std::nullopt;
    return now != 0;
  };
  const auto most = [this](unsigned which) -> std::optional<Hertz> {
    unsigned mhz = 0;
    if (library_->most_clock == nullptr || library_->most_clock(card_, which, &mhz) != kSuccess) {
      return std::nullopt;
    }
    return Hertz(mhz * 1e6);
  };
  facts.most_sm_clock = most(kClockSm);
  facts.most_memory_clock = most(kClockMemory);
  if (const auto milliwatts = number(library_->limit))
    facts.power_limit = Watts(*milliwatts * 1e-3);
  facts.ecc = first_of_two(library_->ecc);
  facts.mig = first_of_two(library_->mig);
  if (const auto on = number(library_->persistence)) facts.persistence = *on != 0;
  if (const auto mode = number(library_->compute_mode)) {
    constexpr const char* kModes[] = {"default", "exclusive thread", "prohibited",
                                      "exclusive process"};
    if (*mode < 4) facts.compute_mode = kModes[*mode];
  }
  return facts;
}

}  // namespace sonde::cuda
