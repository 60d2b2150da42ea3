#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/description.h"

namespace sonde::host {

using CopyFunction = void* (*)(void*, const void*, std::size_t);

/// One way to copy on this processor.
struct CopyMethod {
  std::string name;
  CopyFunction copy = nullptr;
  std::string store;           ///< ordinary or nt; empty: its own choice
  std::string note;            ///< "memcpy", "AVX-512 loop"
  std::int64_t alignment = 1;  ///< that both buffers need
};

/// `auto` (the C library's memcpy) first, then what can be forced here.
const std::vector<CopyMethod>& copy_methods();

/// As a device offers them.
CopyPath copy_offer();

}  // namespace sonde::host
