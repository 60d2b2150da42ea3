#include "harness/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/command_line.h"
#include "core/parse.h"
#include "core/terminal.h"
#include "core/version.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;
using Health = HealthCheck::State;

std::optional<std::string> find_program(const FileRoot& root, const std::string& path,
                                        const std::string& name) {
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t colon = std::min(path.find(':', at), path.size());
    const std::string full = path.substr(at, colon - at) + "/" + name;
    if (full.front() == '/' && ::access(root.resolve(full).c_str(), X_OK) == 0) return full;
    at = colon + 1;
  }
  return std::nullopt;
}

HealthCheck check_program(const FileRoot& root, const std::string& path, const std::string& name,
                          Health without, const std::string& loss, const std::string& fix) {
  if (const auto found = find_program(root, path, name)) return {name, Health::ok, *found, ""};
  return {name, without, "not found: " + loss, fix};
}

HealthCheck check_build() {
  const std::string preset = build_preset();
  if (preset == "measure") return {"build", Health::ok, "preset measure", ""};
  return {"build", Health::warn, "preset " + preset + ": its numbers of a real device do not count",
          "cmake --preset measure && cmake --build --preset measure"};
}

HealthCheck check_data() {
  try {
    return {"data files", Health::ok, data_directory().string(), ""};
  } catch (const Error& error) {
    return {"data files", Health::missing, error.what(), "install sonde anew, or set SONDE_DATA"};
  }
}

/// Devices that can be opened, by backend: there are many simulated chips.
std::vector<HealthCheck> check_devices() {
  std::vector<HealthCheck> all;
  for (const Listing& listing : list_devices()) {
    const std::string backend = listing.name.substr(0, listing.name.find(':'));
    if (listing.usable && !all.empty() && all.back().name == "device " + backend) {
      all.back().found = listing.product + " and others: `sonde devices`";
      continue;
    }
    all.push_back({"device " + backend, listing.usable ? Health::ok : Health::warn,
                   listing.usable ? listing.product : listing.reason,
                   listing.usable ? "" : "not needed for other devices"});
  }
  return all;
}

std::string state_name(Health state) {
  return state == Health::ok ? "ok" : state == Health::warn ? "warn" : "missing";
}

void print(const std::vector<HealthCheck>& checks, bool quiet) {
  const bool colours = shows_colour(STDOUT_FILENO);
  std::size_t width = 0;
  for (const HealthCheck& check : checks) width = std::max(width, check.name.size());
  for (const HealthCheck& check : checks) {
    if (quiet && check.state == Health::ok) continue;
    const std::string state = state_name(check.state);
    const Colour colour = check.state == Health::ok     ? Colour::green
                          : check.state == Health::warn ? Colour::yellow
                                                        : Colour::red;
    std::cout << paint(state, colour, colours) << std::string(9 - state.size(), ' ') << check.name
              << std::string(width + 2 - check.name.size(), ' ') << check.found << '\n';
    if (!check.fix.empty()) {
      std::cout << std::string(width + 11, ' ') << "fix: " << check.fix << '\n';
    }
  }
}

void print_json(const std::vector<HealthCheck>& checks) {
  Json json = Json::array();
  for (const HealthCheck& check : checks) {
    json.push_back({{"name", check.name},
                    {"state", state_name(check.state)},
                    {"found", check.found},
                    {"fix", check.fix.empty() ? Json(nullptr) : Json(check.fix)}});
  }
  std::cout << json.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace

std::vector<HealthCheck> check_tools(const FileRoot& root, const std::string& path) {
  return {check_program(root, path, "gnuplot", Health::missing, "a report has no pictures",
                        "apt-get install gnuplot-nox"),
          check_program(root, path, "lstopo", Health::warn, "topology.xml cannot be looked at",
                        "apt-get install hwloc-nox")};
}

std::vector<HealthCheck> check_gpu(const FileRoot& root, const std::string& path) {
  const auto driver = root.text("/proc/driver/nvidia/version");
  std::vector<HealthCheck> all;
  if (driver) {
    all.push_back({"GPU driver", Health::ok, driver->substr(0, driver->find('\n')), ""});
  } else {
    all.push_back({"GPU driver", Health::warn, "no NVIDIA driver is loaded: no GPU is measured",
                   "needed for a GPU only: install its driver"});
  }
  const std::string places = path + ":/usr/local/cuda/bin";
  all.push_back(check_program(root, places, "nvcc", Health::warn, "the GPU backend is not built",
                              "needed for a GPU only: install the CUDA toolkit"));
  return all;
}

ExitCode run_doctor(const std::vector<std::string>& arguments) {
  CommandLine line(
      "sonde doctor",
      "What is installed, what is missing and what makes numbers worse here, each with "
      "the fix.");
  line.footer("Exit: 0 all that is needed is there, 1 something needed is missing.");
  bool json = false, quiet = false;
  line.flag("--json", json, "as JSON");
  line.flag("--quiet", quiet, "only what is not ok");
  if (!line.parse(arguments)) return ExitCode::ok;
  const FileRoot root;
  const char* variable = std::getenv("PATH");
  const std::string path = variable == nullptr ? "" : variable;
  std::vector<HealthCheck> checks = {check_build(), check_data()};
  for (auto part :
       {check_tools(root, path), check_gpu(root, path), check_devices(), check_backends()}) {
    for (HealthCheck& check : part) checks.push_back(std::move(check));
  }
  if (json) {
    print_json(checks);
  } else {
    print(checks, quiet);
  }
  const bool whole = std::none_of(checks.begin(), checks.end(), [](const HealthCheck& check) {
    return check.state == Health::missing;
  });
  return whole ? ExitCode::ok : ExitCode::point_failed;
}

}  // namespace sonde
