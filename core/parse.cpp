#include "core/parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"
#include "core/units.h"

namespace sonde {
namespace {

constexpr std::size_t kQuoted = 60;  // characters of what a message quotes

template <class T>
std::optional<T> from_whole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return from_whole<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
  const std::optional<double> value = from_whole<double>(text);
  if (value && !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::int64_t parse_size(std::string_view text, std::string_view flag) {
  const auto refuse = [&](const std::string& why) {
    return UsageError(std::string(flag) + ": '" + shown_text(text, kQuoted) + "' " + why);
  };
  std::string_view digits = text;
  std::int64_t unit = 1;
  for (const auto& [suffix, factor] :
       {std::pair{std::string_view("KiB"), kKiB}, {"MiB", kMiB}, {"GiB", kGiB}}) {
    if (text.ends_with(suffix)) {
      digits = text.substr(0, text.size() - suffix.size());
      unit = factor;
    }
  }
  const bool all_digits = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
  if (!all_digits) {
    throw refuse("is not a size: expected a whole number of bytes, or one with KiB, MiB or GiB");
  }
  const std::optional<std::int64_t> count = parse_integer(digits);
  if (!count || *count > std::numeric_limits<std::int64_t>::max() / unit) {
    throw refuse("is too large: the limit is 2^63 - 1 bytes");
  }
  return *count * unit;
}

std::vector<std::int64_t> parse_list(std::string_view text, std::string_view flag, bool sizes,
                                     std::int64_t low, std::int64_t high) {
  // Far above any plan, and what ten letters ask for is refused at once.
  constexpr std::int64_t kMostValues = 100'000;
  const auto range = [&] {
    return high == std::numeric_limits<std::int64_t>::max()
               ? "at least " + format_count(low)
               : "between " + format_count(low) + " and " + format_count(high);
  };
  const auto refuse = [&](std::string_view piece, const std::string& why) {
    return UsageError(std::string(flag) + ": '" + shown_text(piece, kQuoted) + "' " + why);
  };
  const auto number = [&](std::string_view piece) -> std::int64_t {
    if (sizes) return parse_size(piece, flag);
    const std::optional<std::int64_t> value = parse_integer(piece);
    if (!value) throw refuse(piece, "is not a whole number " + range());
    return *value;
  };
  std::vector<std::int64_t> values;
  std::unordered_set<std::int64_t> seen;
  std::int64_t given = 0;
  const auto check = [&](std::int64_t value, std::string_view piece) {
    if (value < low || value > high) {
      throw refuse(piece, "is out of range: expected " +
                              std::string(sizes ? "a size " : "a value ") + range());
    }
  };
  const auto too_many = [&](std::string_view piece) {
    return refuse(piece, "gives more than 100,000 values");
  };
  const auto add = [&](std::int64_t value, std::string_view piece) {
    check(value, piece);
    if (++given > kMostValues) throw too_many(piece);
    if (seen.insert(value).second) values.push_back(value);
  };
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    const std::size_t first_colon = piece.find(':');
    if (first_colon != std::string_view::npos) {
      const std::size_t second = piece.find(':', first_colon + 1);
      if (second == std::string_view::npos) {
        throw refuse(piece, "is not a range: expected a:b:s (adds s) or a:b:fx (multiplies by f)");
      }
      const std::int64_t from = number(piece.substr(0, first_colon));
      const std::int64_t to = number(piece.substr(first_colon + 1, second - first_colon - 1));
      const std::string_view step = piece.substr(second + 1);
      if (from > to) throw refuse(piece, "runs backwards");
      add(from, piece);
      if (step.ends_with('x')) {
        const std::optional<double> factor = parse_number(step.substr(0, step.size() - 1));
        if (!factor || *factor <= 1.0) throw refuse(piece, "needs a factor above 1");
        // Each value from the start, not from the one before: rounding does not accumulate.
        double scale = *factor;
        for (double v = static_cast<double>(from) * scale; v < static_cast<double>(to);
             scale *= *factor, v = static_cast<double>(from) * scale) {
          add(static_cast<std::int64_t>(std::llround(v)), piece);
        }
      } else {
        const std::int64_t add_step = number(step);
        if (add_step <= 0) throw refuse(piece, "needs a step above 0");
        check(to, piece);
        if ((to - from) / add_step > kMostValues) throw too_many(piece);
        for (std::int64_t v = from; v <= to - add_step;) add(v += add_step, piece);
      }
      add(to, piece);
    } else if (const std::size_t dash = piece.find('-');
               !sizes && dash != std::string_view::npos && dash > 0) {
      const std::int64_t from = number(piece.substr(0, dash));
      const std::int64_t to = number(piece.substr(dash + 1));
      if (from > to) throw refuse(piece, "runs backwards");
      check(from, piece);
      check(to, piece);
      if (to - from > kMostValues) throw too_many(piece);
      // The last one apart: `to` may be the largest number there is.
      for (std::int64_t v = from; v < to; ++v) add(v, piece);
      add(to, piece);
    } else {
      add(number(piece), piece);
    }
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

std::int64_t parse_one(std::string_view text, std::string_view flag, bool sizes, std::int64_t low,
                       std::int64_t high) {
  const std::vector<std::int64_t> values = parse_list(text, flag, sizes, low, high);
  if (values.size() != 1) {
    throw UsageError(std::string(flag) + ": '" + shown_text(text, kQuoted) +
                     "' is a list, expected one " + (sizes ? "size" : "value"));
  }
  return values.front();
}

std::vector<std::string> parse_names(std::string_view text, std::string_view flag,
                                     const std::vector<std::string>& valid) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string name(text.substr(0, comma));
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw UsageError(std::string(flag) + ": '" + shown_text(name, kQuoted) + "' is not one of " +
                       (valid.empty() ? "none" : join_names(valid)) + did_you_mean(name, valid));
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (comma == std::string_view::npos) return names;
    text.remove_prefix(comma + 1);
  }
}

std::string format_number(double value) {
  if (!std::isfinite(value)) {
    throw std::invalid_argument(
        "a number that is not finite cannot be stored: leave the cell empty");
  }
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, error == std::errc{} ? end : text);
}

std::string format_count(std::int64_t value) {
  std::string text = std::to_string(value);
  const std::size_t digits_from = value < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > digits_from + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string format_size(Bytes size) {
  const std::int64_t count = size.count();
  for (const auto& [unit, name] : {std::pair{kGiB, " GiB"}, {kMiB, " MiB"}, {kKiB, " KiB"}}) {
    // Multiples of a quarter unit print exactly with at most two decimals.
    if (count >= unit && count % (unit / 4) == 0) {
      return format_number(static_cast<double>(count) / static_cast<double>(unit)) + name;
    }
  }
  return format_count(count) + " B";
}

std::optional<std::string> nearest_name(std::string_view text,
                                        const std::vector<std::string>& valid) {
  std::optional<std::string> best;
  std::size_t best_distance = text.size() / 2 + 1;
  for (const std::string& name : valid) {
    std::vector<std::size_t> row(name.size() + 1);
    for (std::size_t j = 0; j <= name.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= text.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= name.size(); ++j) {
        const std::size_t above = row[j];
        row[j] =
            std::min({row[j] + 1, row[j - 1] + 1, diagonal + (text[i - 1] == name[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    if (row[name.size()] < best_distance) {
      best_distance = row[name.size()];
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& valid) {
  const auto near = nearest_name(text, valid);
  return near ? " (did you mean " + *near + "?)" : "";
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace sonde
