#include "topology/named_cores.h"

#include "core/error.h"

namespace sonde {

std::optional<NamedCores::Ids> NamedCores::parse(const std::string& text) {
  try {
    Ids cores;
    for (const CoreRange& range : parse_core_ranges(text)) {
      for (int n = range.first; n <= range.last; ++n) cores.push_back(ids_.id(range.kind, n));
    }
    return cores;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace sonde
