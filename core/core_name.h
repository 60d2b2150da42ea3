#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// A core as the system numbers it: kind `vector`, number 7 is written `vector7`. Gaps in the
/// numbers are normal; a number is never a position in a list.
struct CoreName {
  std::string kind;
  int number = 0;

  std::string str() const { return kind + std::to_string(number); }
  friend auto operator<=>(const CoreName&, const CoreName&) = default;
};

/// Reads one name (`cpu3`). Throws UsageError naming the text.
CoreName parse_core_name(std::string_view text);

/// A set in one cell: sorted by kind and number, runs joined, `sm0-3+sm7`; the empty set is `none`.
std::string format_core_set(std::vector<CoreName> cores);

/// Cores of one kind with numbers in a row, ends included.
struct CoreRange {
  std::string kind;
  int first = 0;
  int last = 0;
};

/// Reads what format_core_set writes, in the order of the text. Throws UsageError.
std::vector<CoreName> parse_core_set(std::string_view text);
/// The same, ranges as they stand there; none for the empty set.
std::vector<CoreRange> parse_core_ranges(std::string_view text);

/// Reads a `--cores` list (`vector0-55,cube0`, or bare numbers where `available` has one kind),
/// keeping the order given and refusing a core that is not in `available` or is named twice.
/// Throws UsageError that names the core and what there is.
std::vector<CoreName> parse_core_list(std::string_view text,
                                      const std::vector<CoreName>& available);

}  // namespace sonde
