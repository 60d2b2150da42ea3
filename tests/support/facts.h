#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/statistics.h"

namespace sonde::test {

/// One value of a fact: a text, or a number to a relative 1e-9. Unknown is the text "-".
class Value {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Value(T number) : value_(static_cast<double>(number)) {}
  Value(const char* text) : value_(std::string(text)) {}
  Value(const std::string& text) : value_(text) {}
  template <class T>
  Value(const std::optional<T>& value) : Value(value ? Value(*value) : Value("-")) {}
  std::string text() const;

 private:
  std::variant<double, std::string> value_;
};

/// Named facts of an analysis, and the file that says what they were when last looked at.
class Facts {
 public:
  void add(const std::string& name, const std::vector<Value>& values);
  void estimate(const std::string& name, const Estimate& value);
  /// Many numbers as few: how many, how many unknown, the sum of their magnitudes, and a sum
  /// weighted by place. All of one value: the value.
  void digest(const std::string& name, std::span<const double> values);

  /// What differs from `stored`, one line a fact; empty: nothing. With SONDE_RENEW_EXPECTED set the
  /// file is written instead, and `renewed` is true.
  std::vector<std::string> compare(const std::filesystem::path& stored, bool& renewed) const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
  std::map<std::string, int> times_;
};

/// Two values as they are stored: equal texts, or numbers within a relative 1e-9.
bool same_value(const std::string& a, const std::string& b);

}  // namespace sonde::test
