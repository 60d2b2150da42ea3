#include "device/registry.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/error.h"
#include "core/parse.h"

namespace sonde {
namespace {

std::vector<Backend>& backends() {
  static std::vector<Backend> all;
  return all;
}

/// Names of all devices that can be used here.
std::vector<std::string> usable_devices() {
  std::vector<std::string> names;
  for (const Listing& listing : list_devices()) {
    if (listing.usable) names.push_back(listing.name);
  }
  return names;
}

}  // namespace

bool register_backend(Backend backend) {
  for (const Backend& other : backends()) {
    if (other.name == backend.name) {
      std::fprintf(stderr, "sonde: two backends are named '%s'\n", backend.name.c_str());
      std::exit(70);
    }
  }
  backends().push_back(std::move(backend));
  return true;
}

std::unique_ptr<Device> open_device(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string prefix = name.substr(0, colon);
  for (const Backend& backend : backends()) {
    if (backend.name != prefix) continue;
    try {
      return backend.open(colon == std::string::npos ? "" : name.substr(colon + 1));
    } catch (const UsageError& error) {
      const std::vector<std::string> valid = usable_devices();
      const bool any = std::any_of(valid.begin(), valid.end(), [&](const std::string& other) {
        return other.starts_with(prefix);
      });
      if (any) throw;
      // A backend without a device here cannot say what there is instead.
      throw UsageError(error.what() + ("; there is " + join_names(valid)));
    }
  }
  const std::vector<std::string> valid = usable_devices();
  throw UsageError("--device: no device '" + name + "': there is " + join_names(valid) +
                   did_you_mean(name, valid));
}

std::vector<Listing> list_devices() {
  std::vector<Listing> all;
  for (const Backend& backend : backends()) {
    try {
      for (Listing& listing : backend.list()) all.push_back(std::move(listing));
    } catch (const Error& error) {  // one backend that cannot list must not hide the others
      all.push_back({backend.name, "", false, error.what()});
    }
  }
  return all;
}

std::vector<HealthCheck> check_backends() {
  std::vector<HealthCheck> all;
  for (const Backend& backend : backends()) {
    if (!backend.health) continue;
    try {
      for (HealthCheck& check : backend.health()) all.push_back(std::move(check));
    } catch (const std::exception& error) {
      all.push_back({backend.name, HealthCheck::State::missing, error.what(), ""});
    }
  }
  return all;
}

}  // namespace sonde
