#include "tests/support/facts.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "core/files.h"
#include "core/parse.h"

namespace sonde::test {
namespace {

constexpr double kTolerance = 1e-9;
constexpr const char* kBetween = " | ";
constexpr std::size_t kMostLines = 12;

/// A text that is a number would be compared as one; line ends would end a fact.
std::string plain(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  return text;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts;
  const std::string between = kBetween;
  std::size_t begin = 0;
  for (std::size_t at = line.find(between); at != std::string::npos;
       at = line.find(between, begin)) {
    parts.push_back(line.substr(begin, at - begin));
    begin = at + between.size();
  }
  parts.push_back(line.substr(begin));
  return parts;
}

std::string first_difference(const std::string& was, const std::string& is) {
  const auto a = split(was), b = split(is);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!same_value(a[i], b[i])) {
      return fmt::format("value {} was {}, is {}", i + 1, a[i], b[i]);
    }
  }
  return a.size() == b.size() ? "" : fmt::format("had {} values, has {}", a.size(), b.size());
}

}  // namespace

bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto x = parse_number(a), y = parse_number(b);
  return x && y && std::abs(*x - *y) <= kTolerance * std::max(std::abs(*x), std::abs(*y));
}

std::string Value::text() const {
  if (const auto* number = std::get_if<double>(&value_)) return fmt::format("{:.11g}", *number);
  return plain(std::get<std::string>(value_));
}

void Facts::add(const std::string& name, const std::vector<Value>& values) {
  const int time = ++times_[name];
  std::string line;
  for (const Value& value : values) line += (line.empty() ? "" : kBetween) + value.text();
  facts_.emplace_back(plain(time == 1 ? name : fmt::format("{} #{}", name, time)), line);
}

void Facts::estimate(const std::string& name, const Estimate& value) {
  const auto& interval = value.interval;
  add(name, {value.value, interval ? std::optional(interval->low) : std::nullopt,
             interval ? std::optional(interval->high) : std::nullopt, value.n});
}

void Facts::digest(const std::string& name, std::span<const double> values) {
  constexpr double kGolden = 0.6180339887498949;
  double magnitude = 0, weighted = 0, place = 0;
  int unknown = 0;
  for (const double value : values) {
    place += kGolden;
    if (place >= 1) place -= 1;
    if (!std::isfinite(value)) {
      ++unknown;
      weighted += place;
      continue;
    }
    magnitude += std::abs(value);
    weighted += (0.5 + place) * value;
  }
  add(name, {values.size(), unknown, magnitude, weighted});
}

std::vector<std::string> Facts::compare(const std::filesystem::path& stored, bool& renewed) const {
  renewed = std::getenv("SONDE_RENEW_EXPECTED") != nullptr;
  if (renewed) {
    std::string text;
    for (const auto& [name, line] : facts_) text += name + "\t" + line + "\n";
    write_file_atomically(stored, text);
    return {};
  }
  std::map<std::string, std::string> was;
  std::istringstream lines(read_file(stored));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    was[line.substr(0, tab)] = line.substr(tab + 1);
  }
  std::vector<std::string> problems;
  for (const auto& [name, line] : facts_) {
    const auto found = was.find(name);
    if (found == was.end()) {
      problems.push_back("new: " + name + ": " + line);
      continue;
    }
    const std::string difference = first_difference(found->second, line);
    if (!difference.empty()) problems.push_back("changed: " + name + ": " + difference);
    was.erase(found);
  }
  for (const auto& [name, line] : was) problems.push_back("gone: " + name + ": " + line);
  if (problems.size() > kMostLines) {
    const std::size_t more = problems.size() - kMostLines;
    problems.resize(kMostLines);
    problems.push_back(fmt::format("and {} more", more));
  }
  return problems;
}

}  // namespace sonde::test
