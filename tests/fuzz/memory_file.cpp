#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

namespace sonde::fuzz {

// Not memfd_create: a file without a name is refused by the writer of rows as one that was removed.
MemoryFile::MemoryFile() {
  static int made = 0;
  name_ = "/sonde-fuzz-" + std::to_string(::getpid()) + "-" + std::to_string(made++);
  fd_ = ::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  require(fd_ >= 0, "no file in shared memory");
}

MemoryFile::~MemoryFile() {
  ::shm_unlink(name_.c_str());
  ::close(fd_);
}

std::filesystem::path MemoryFile::path() const { return "/dev/shm" + name_; }

void MemoryFile::set(std::string_view content) const {
  require(::ftruncate(fd_, 0) == 0, "file in shared memory");
  const ssize_t written = ::pwrite(fd_, content.data(), content.size(), 0);
  require(written == static_cast<ssize_t>(content.size()), "file in shared memory");
}

}  // namespace sonde::fuzz
