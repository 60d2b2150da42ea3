#pragma once

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "core/core_name.h"
#include "tests/support/programs.h"

namespace sonde::test {

/// A folder of this program.
inline const TemporaryDirectory& folder() {
  static const TemporaryDirectory directory;
  return directory;
}

/// Texts in which the folder is called DIR.
inline std::string without_folder(std::string text) {
  const std::string name = folder().path().string();
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), "DIR");
  return text;
}

/// What a call gives, or what it refuses with.
inline std::string said(const std::function<std::string()>& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return "refused: " + without_folder(error.what());
  }
}

template <class T>
std::string listed(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += fmt::format("{} ", value);
  return text + "]";
}

inline std::string named(const std::vector<CoreName>& cores) {
  std::string text = "[";
  for (const CoreName& core : cores) text += core.str() + " ";
  return text + "]";
}

}  // namespace sonde::test
