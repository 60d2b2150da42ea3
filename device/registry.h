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

/// A family of devices behind one prefix of `--device`.
struct Backend {
  std::string name;  ///< "host", "sim", "cuda"
  /// Opens what follows the colon ("950pr_9579", "950pr_9579?fault=corrupt", or empty).
  /// Throws UsageError naming what exists.
  std::function<std::unique_ptr<Device>(const std::string& selector)> open;
  std::function<std::vector<Listing>()> list;
};

/// Adds a backend; called before main from the one registration line of each backend. A name used
/// twice ends the program with a message: nothing could catch an exception there.
bool register_backend(Backend backend);

/// `--device` text to a device. Throws UsageError naming the valid choices.
std::unique_ptr<Device> open_device(const std::string& name);

/// Every device usable here, and each backend without one.
std::vector<Listing> list_devices();

}  // namespace sonde
