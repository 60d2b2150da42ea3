#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/columns.h"
#include "core/core_name.h"

namespace sonde {

/// Numbers given to cores in order of first appearance: a file names millions, and few are
/// different.
class CoreIds {
 public:
  std::uint32_t id(const std::string& kind, int number) {
    std::size_t k = 0;
    while (k < kinds_.size() && kinds_[k] != kind) ++k;
    if (k == kinds_.size()) kinds_.push_back(kind);
    const auto key = static_cast<std::uint64_t>(k) << 32 | static_cast<std::uint32_t>(number);
    const auto [entry, fresh] = ids_.try_emplace(key, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back({kind, number});
    return entry->second;
  }
  const CoreName& name(std::uint32_t id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> kinds_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<CoreName> names_;
};

/// Cores that the texts of a column name, each text read once. A text that names none says nothing
/// of cores.
class NamedCores {
 public:
  NamedCores(const TextColumn& column, CoreIds& ids)
      : column_(column), ids_(ids), read_(column.texts().size()) {}

  /// By code; nullptr for a text that names no set of cores.
  const std::vector<std::uint32_t>* set(std::size_t code) {
    Read& read = read_[code];
    if (!read.tried) {
      read.tried = true;
      read.cores = parse(column_.texts()[code]);
    }
    return read.cores ? &*read.cores : nullptr;
  }
  /// By code; nullopt for a text that names no single core.
  std::optional<std::uint32_t> one(std::size_t code) {
    const std::vector<std::uint32_t>* cores = set(code);
    return cores != nullptr && cores->size() == 1 ? std::optional(cores->front()) : std::nullopt;
  }

 private:
  using Ids = std::vector<std::uint32_t>;
  struct Read {
    bool tried = false;
    std::optional<Ids> cores;
  };
  std::optional<Ids> parse(const std::string& text);

  const TextColumn& column_;
  CoreIds& ids_;
  std::vector<Read> read_;
};

}  // namespace sonde
