#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace sonde {

/// One usable device, or a backend that is built but has none here.
struct Listing {
  std::string name;  ///< what `--device` takes ("sim:950pr_9579"); the backend where unusable
  std::string product;
  bool usable = true;
  std::string reason;  ///< why it is not usable
};

/// Something that measuring needs or that makes its numbers worse.
struct HealthCheck {
  enum class State { ok, warn, missing };  ///< missing: something cannot be done without it
  std::string name;
  State state = State::ok;
  std::string found;
  std::string fix;  ///< empty when ok
};

/// A family of devices behind one prefix of `--device`.
struct Backend {
  std::string name;  ///< "host", "sim", "cuda"
  /// Opens what follows the colon ("950pr_9579", "950pr_9579?fault=corrupt", or empty).
  /// Throws UsageError naming what exists.
  std::function<std::unique_ptr<Device>(const std::string& selector)> open;
  std::function<std::vector<Listing>()> list;
  /// State of what its devices run on; none: nothing to look at.
  std::function<std::vector<HealthCheck>()> health = {};
};

/// Adds a backend; called before main from the one registration line of each backend. A name used
/// twice ends the program with a message: nothing could catch an exception there.
bool register_backend(Backend backend);

/// `--device` text to a device. Throws UsageError naming the valid choices.
std::unique_ptr<Device> open_device(const std::string& name);

/// Every device usable here, and each backend without one.
std::vector<Listing> list_devices();

/// What every backend says of the machine, for `sonde doctor`.
std::vector<HealthCheck> check_backends();

}  // namespace sonde
