#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::sim {

/// One value of a chip file with where it comes from, kept as data.
struct Parameter {
  std::string section;
  std::string key;
  std::string value;  ///< as text
  std::string unit;
  std::string source;
  std::string confidence;  ///< published, derived or guess
};

/// Reads a chip file strictly. Every value is an inline table
/// `{ value = ..., unit = "...", source = "...", confidence = "..." }` in a section; the caller
/// asks for each by name, unit and range, then calls finish(), which refuses what nobody asked
/// for. Every error is a UsageError in one line: `file:line: [section] key: problem, expected ...`.
class ChipReader {
 public:
  ChipReader(std::string_view text, std::string file);
  ~ChipReader();
  ChipReader(const ChipReader&) = delete;
  ChipReader& operator=(const ChipReader&) = delete;

  double number(const std::string& section, const std::string& key, const std::string& unit,
                double low, double high);
  /// A whole number.
  std::int64_t integer(const std::string& section, const std::string& key, const std::string& unit,
                       std::int64_t low, std::int64_t high);
  /// A text, unit "name"; one of `valid` unless that is empty.
  std::string word(const std::string& section, const std::string& key,
                   const std::vector<std::string>& valid);
  /// A list of lists of whole numbers.
  std::vector<std::vector<std::int64_t>> lists(const std::string& section, const std::string& key,
                                               const std::string& unit, std::int64_t low,
                                               std::int64_t high);

  /// Refuses sections and keys that were not asked for.
  void finish() const;

  /// Refuses a value that was read but does not fit the others.
  [[noreturn]] void refuse(const std::string& section, const std::string& key,
                           const std::string& problem) const;

  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  struct Document;
  struct Entry;
  [[noreturn]] void fail(std::uint32_t line, const std::string& what) const;
  Entry take(const std::string& section, const std::string& key, const std::string& unit);

  std::string file_;
  std::unique_ptr<Document> document_;
  std::map<std::string, std::vector<std::string>> asked_;  ///< keys by section
  std::vector<Parameter> parameters_;
};

}  // namespace sonde::sim
