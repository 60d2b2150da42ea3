#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/files.h"

namespace sonde::host {

/// Anonymous memory of its own mapping, touched by the thread that makes it (so that it lies on
/// that thread's memory node) before anything is timed.
class Buffer {
 public:
  Buffer() = default;
  /// At least `bytes`, aligned to a huge page where `huge_page_bytes` is given (they are then
  /// asked for with madvise), else to a page. Throws Skip naming the size when the system has no
  /// such memory.
  Buffer(std::int64_t bytes, const std::optional<std::int64_t>& huge_page_bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  std::byte* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::span<std::byte> first(std::int64_t bytes) const {
    return {data_, static_cast<std::size_t>(bytes)};
  }
  /// Pages really given, read back from the kernel: "THP 2 MiB", "4 KiB pages",
  /// "THP 2 MiB on 75 %".
  const std::string& page_kind() const { return page_kind_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
  std::string page_kind_;
};

/// Bytes of the mapping that starts at `begin` which lie on huge pages; 0 when it is not listed.
std::int64_t huge_bytes_at(const FileRoot& root, std::uintptr_t begin);

}  // namespace sonde::host
