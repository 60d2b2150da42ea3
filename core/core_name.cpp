#include "core/core_name.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/parse.h"
#include "core/text.h"

namespace sonde {
namespace {

/// Of one set: far above any device, and a short cell of a stored file costs neither time nor
/// memory.
constexpr std::int64_t kMostCores = 1 << 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Splits "vector12" into kind and digits; the kind may be empty (a bare number).
bool split_name(std::string_view text, std::string_view& kind, std::string_view& digits) {
  std::size_t first = text.size();
  while (first > 0 && is_digit(text[first - 1])) --first;
  kind = text.substr(0, first);
  digits = text.substr(first);
  const bool letters =
      std::all_of(kind.begin(), kind.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return letters && !digits.empty() && digits.size() <= 9;
}

/// One piece of a set or list: a name or a range of names ("vector0-55", "3", "4-8"); the kind is
/// empty for bare numbers.
CoreRange parse_piece(std::string_view text, std::string_view what) {
  const auto refuse = [&] {
    return UsageError(std::string(what) + ": '" + shown_text(text, 60) +
                      "' is not a core: expected a name such as cpu3 or a range such as cpu0-3");
  };
  CoreRange piece;
  std::string_view kind, digits;
  const std::size_t dash = text.find('-');
  if (!split_name(text.substr(0, dash), kind, digits)) throw refuse();
  piece.kind = kind;
  piece.first = static_cast<int>(*parse_integer(digits));
  piece.last = piece.first;
  if (dash != std::string_view::npos) {
    // "vector0-vector55" is read like "vector0-55".
    if (!split_name(text.substr(dash + 1), kind, digits)) throw refuse();
    if (!kind.empty() && kind != piece.kind) throw refuse();
    piece.last = static_cast<int>(*parse_integer(digits));
    if (piece.last < piece.first) throw refuse();
  }
  return piece;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

CoreName parse_core_name(std::string_view text) {
  const CoreRange piece = parse_piece(text, "core");
  if (piece.kind.empty() || piece.first != piece.last) {
    throw UsageError("core: '" + shown_text(text, 60) + "' is not one core name such as cpu3");
  }
  return {piece.kind, piece.first};
}

std::string format_core_set(std::vector<CoreName> cores) {
  if (cores.empty()) return "none";
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t j = i;
    while (j + 1 < cores.size() && cores[j + 1].kind == cores[i].kind &&
           cores[j + 1].number == cores[j].number + 1) {
      ++j;
    }
    if (!text.empty()) text += '+';
    text += cores[i].str();
    if (j > i) text += '-' + std::to_string(cores[j].number);
    i = j + 1;
  }
  return text;
}

std::vector<CoreRange> parse_core_ranges(std::string_view text) {
  std::vector<CoreRange> ranges;
  if (text == "none") return ranges;
  ranges.reserve(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '+')));
  std::int64_t cores = 0;
  for (std::size_t from = 0, to = 0; to != std::string_view::npos; from = to + 1) {
    to = text.find('+', from);
    const std::string_view part = text.substr(from, to - from);
    CoreRange range = parse_piece(part, "core set");
    if (range.kind.empty()) {
      throw UsageError("core set: '" + shown_text(part, 60) + "' is not a range of core names");
    }
    cores += std::int64_t{1} + range.last - range.first;
    if (cores > kMostCores) throw UsageError("core set: more than 65,536 cores");
    ranges.push_back(std::move(range));
  }
  return ranges;
}

std::vector<CoreName> parse_core_set(std::string_view text) {
  std::vector<CoreName> cores;
  for (const CoreRange& range : parse_core_ranges(text)) {
    for (int n = range.first; n <= range.last; ++n) cores.push_back({range.kind, n});
  }
  return cores;
}

std::vector<CoreName> parse_core_list(std::string_view text,
                                      const std::vector<CoreName>& available) {
  std::vector<std::string> kinds;
  for (const CoreName& core : available) {
    if (std::find(kinds.begin(), kinds.end(), core.kind) == kinds.end()) kinds.push_back(core.kind);
  }
  const std::set<CoreName> allowed(available.begin(), available.end());
  std::set<CoreName> seen;
  std::vector<CoreName> cores;
  for (std::string_view part : split(text, ',')) {
    CoreRange piece = parse_piece(part, "--cores");
    if (piece.kind.empty()) {
      if (kinds.size() != 1) {
        throw UsageError("--cores: '" + shown_text(part, 60) + "' needs a kind: this device has " +
                         join_names(kinds) + " cores");
      }
      piece.kind = kinds.front();
    }
    for (int n = piece.first; n <= piece.last; ++n) {
      const CoreName core{piece.kind, n};
      if (!allowed.contains(core)) {
        const bool kind = std::find(kinds.begin(), kinds.end(), core.kind) != kinds.end();
        throw UsageError("--cores: " + core.str() +
                         " cannot be used here; available: " + format_core_set(available) +
                         (kind ? std::string() : did_you_mean(core.kind, kinds)));
      }
      if (!seen.insert(core).second) {
        throw UsageError("--cores: " + core.str() + " is named twice");
      }
      cores.push_back(core);
    }
  }
  return cores;
}

}  // namespace sonde
