#include "device/host/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/units.h"

namespace sonde::host {
namespace {

/// A small buffer is rounded up to one huge page only while that costs little: with 64 KiB base
/// pages a huge page is 512 MiB.
constexpr std::int64_t kLargestRounding = 2 * kMiB;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t huge_bytes_at(const FileRoot& root, std::uintptr_t begin) {
  std::istringstream file(root.text("/proc/self/smaps").value_or(""));
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find('-') != std::string::npos && line.find(':') > line.find(' ')) {
      if (here) break;
      std::istringstream head(line);
      std::uintptr_t start = 0;
      here = static_cast<bool>(head >> std::hex >> start) && start == begin;
    } else if (here && line.rfind("AnonHugePages:", 0) == 0) {
      std::istringstream rest(line.substr(line.find(':') + 1));
      std::int64_t count = 0;
      if (rest >> count) return count * kKiB;
    }
  }
  return 0;
}

Buffer::Buffer(std::int64_t bytes, const std::optional<std::int64_t>& huge_page_bytes) {
  const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  const bool huge =
      huge_page_bytes && (*huge_page_bytes <= kLargestRounding || bytes >= *huge_page_bytes);
  const std::int64_t unit = huge ? *huge_page_bytes : page;
  // 2^46 is beyond what any process can map, and keeps the sums below from overflowing.
  if (bytes < 1 || bytes > std::int64_t{1} << 46) {
    throw Skip("a buffer of " + format_size(Bytes(bytes)) + " cannot be allocated");
  }
  size_ = round_up(bytes, unit);
  // Inaccessible memory is left on both sides: neighbouring mappings of one kind would be merged,
  // and the kernel's count of huge pages is per mapping.
  const std::int64_t reserved = size_ + 2 * unit;
  void* mapping = mmap(nullptr, static_cast<std::size_t>(reserved), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    throw Skip(format_size(Bytes(bytes)) +
               " cannot be mapped: " + std::generic_category().message(errno));
  }
  mapping_ = mapping;
  mapped_ = static_cast<std::size_t>(reserved);
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(mapping));
  data_ = static_cast<std::byte*>(mapping) + (round_up(base + page, unit) - base);
  const auto length = static_cast<std::size_t>(size_);
  if (mprotect(data_, length, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(mapping_, mapped_);
    throw Skip(format_size(Bytes(bytes)) +
               " cannot be allocated: " + std::generic_category().message(error));
  }
  // Advice only: the kernel's answer is read back below.
  madvise(data_, length, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  for (std::int64_t at = 0; at < size_; at += page) {
    *static_cast<volatile std::byte*>(data_ + at) = std::byte{1};
  }
  const std::int64_t on_huge =
      huge ? huge_bytes_at(FileRoot(), reinterpret_cast<std::uintptr_t>(data_)) : 0;
  if (on_huge == 0) {
    page_kind_ = format_size(Bytes(page)) + " pages";
  } else {
    page_kind_ = "THP " + format_size(Bytes(unit));
    if (on_huge < size_) page_kind_ += " on " + std::to_string(on_huge * 100 / size_) + " %";
  }
}

Buffer::~Buffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(page_kind_, other.page_kind_);
  return *this;
}

}  // namespace sonde::host
