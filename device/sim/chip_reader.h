#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  std::string file;        ///< that says so: of the chip, or a base of it
};

/// Text of the chip file of that name (without ".toml"), as a base names it; none if there is none.
using ChipTexts = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads a chip file strictly. Every value is an inline table
/// `{ value = ..., unit = "...", source = "...", confidence = "..." }` in a section; the caller
/// asks for each by name, unit and range, then calls finish(), which refuses what nobody asked
/// for. A file that begins with `base = "name"` holds only what differs from that file, which may
/// have a base itself: a value is that of the first file that has it. Every error is a UsageError
/// in one line that names the file at fault: `file:line: [section] key: problem, expected ...`.
class ChipReader {
 public:
  ChipReader(std::string_view text, const std::string& file, const ChipTexts& texts);
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
  /// A list of texts, unit "name".
  std::vector<std::string> words(const std::string& section, const std::string& key);
  /// A list of lists of whole numbers.
  std::vector<std::vector<std::int64_t>> lists(const std::string& section, const std::string& key,
                                               const std::string& unit, std::int64_t low,
                                               std::int64_t high);

  /// Whether there is such a section.
  bool has(const std::string& section) const;
  /// Whether there is such a value; asking makes the key a known one.
  bool has(const std::string& section, const std::string& key);

  /// Refuses sections and keys that were not asked for.
  void finish() const;

  /// Refuses a value that was read but does not fit the others.
  [[noreturn]] void refuse(const std::string& section, const std::string& key,
                           const std::string& problem) const;

  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// CRC-32 of the file and of all its bases.
  const std::string& check() const { return check_; }

 private:
  struct Layer;
  struct Entry;
  [[noreturn]] static void fail(const std::string& file, std::uint32_t line,
                                const std::string& what);
  Entry take(const std::string& section, const std::string& key, const std::string& unit);
  /// First layer that has the section, or that value of it; nullptr without one.
  const Layer* layer_with(const std::string& section) const;
  const Layer* layer_with(const std::string& section, const std::string& key) const;

  std::vector<Layer> layers_;  ///< the file, its base, the base of that, ...
  std::string check_;
  std::map<std::string, std::vector<std::string>> asked_;  ///< keys by section
  std::vector<Parameter> parameters_;
};

}  // namespace sonde::sim
