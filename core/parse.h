#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Whole text to number through std::from_chars: correctly rounded and the same in every locale.
/// nullopt unless the whole text is one finite number.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// A size: a whole number of bytes with an optional KiB, MiB or GiB. `flag` names the option in
/// the UsageError ("--bytes"). Anything else (1e9, 64M, 0x10, empty, overflow) is refused.
std::int64_t parse_size(std::string_view text, std::string_view flag);

/// `1,2,4-8`, `a:b:s` (adds s) and `a:b:fx` (multiplies by f), ends included; sizes where
/// `sizes` is true. Every value must lie in [low, high]; duplicates are kept once, order is kept.
/// Throws UsageError naming the flag, the piece and what was expected.
std::vector<std::int64_t> parse_list(std::string_view text, std::string_view flag, bool sizes,
                                     std::int64_t low, std::int64_t high);

/// A list that must hold exactly one value.
std::int64_t parse_one(std::string_view text, std::string_view flag, bool sizes, std::int64_t low,
                       std::int64_t high);

/// Names separated by commas, each one of `valid`, kept once in the order given. Throws UsageError
/// naming the flag, the name and what there is.
std::vector<std::string> parse_names(std::string_view text, std::string_view flag,
                                     const std::vector<std::string>& valid);

/// Shortest text that reads back as the same double; never locale dependent, never nan or inf
/// (those throw std::invalid_argument: unknown is an empty cell).
std::string format_number(double value);

/// Length of the UTF-8 sequence that begins at `text[i]`; 0 when it is broken there.
std::size_t utf8_length(std::string_view text, std::size_t i);

/// Thousands separated by commas.
std::string format_count(std::int64_t value);

/// The valid name closest to `text` by edit distance if it is near enough to be a typing error.
std::optional<std::string> nearest_name(std::string_view text,
                                        const std::vector<std::string>& valid);

/// " (did you mean X?)" with the nearest valid name; empty when none is near. Ends every message
/// that refuses a name.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& valid);

/// "a, b and c" for messages.
std::string join_names(const std::vector<std::string>& names);

}  // namespace sonde
