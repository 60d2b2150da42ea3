#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

namespace sonde::fuzz {

MemoryFile::MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  require(fd_ >= 0, "no memory file");
}

MemoryFile::~MemoryFile() { ::close(fd_); }

std::filesystem::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

void MemoryFile::set(std::string_view content) {
  require(::ftruncate(fd_, 0) == 0, "memory file");
  const ssize_t written = ::pwrite(fd_, content.data(), content.size(), 0);
  require(written == static_cast<ssize_t>(content.size()), "memory file");
}

}  // namespace sonde::fuzz
