#include "core/files.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/error.h"
#include "core/parse.h"

namespace sonde {

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError(path.string() + ": cannot be read: is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path.string() + ": cannot be read: " + std::strerror(errno));
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) throw UsageError(path.string() + ": cannot be read");
  return content.str();
}

namespace {

int open_file(const std::filesystem::path& path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

/// Temporary files of `path` whose writer was killed: a living one holds its file locked. Its
/// process id tells nothing: a killed process may wait long for its parent, and numbers come again.
void remove_leftovers(const std::filesystem::path& path) {
  const std::string stem = path.filename().string() + ".tmp";
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->path().filename().string().starts_with(stem)) continue;
    const int fd = ::open(it->path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(it->path().c_str());
    ::close(fd);
  }
}

}  // namespace

bool sync_file(int fd) {
  int result = 0;
  do {
    result = ::fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path temporary = path.string() + ".tmp" + std::to_string(::getpid());
  const auto fail = [&](const std::string& what) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    return OutputError(path.string() + ": " + what + ": " + reason);
  };
  remove_leftovers(path);
  const int fd = open_file(temporary, O_WRONLY | O_TRUNC);
  if (fd < 0) throw fail("cannot be written");
  static_cast<void>(::flock(fd, LOCK_EX | LOCK_NB));  // where locks are not to be had, as before
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = errno;
      ::close(fd);
      errno = error;
      throw fail("cannot be written");
    }
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  if (!sync_file(fd)) {
    const int error = errno;
    ::close(fd);
    errno = error;
    throw fail("fsync");
  }
  if (::close(fd) != 0) throw fail("close");
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw fail("cannot be renamed into place");
}

bool create_directory_exclusively(const std::filesystem::path& path) {
  if (path.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      throw OutputError(path.parent_path().string() + ": cannot be created: " + error.message());
  }
  if (::mkdir(path.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  throw OutputError(path.string() + ": cannot be created: " + std::strerror(errno));
}

FileLock::FileLock(const std::filesystem::path& path) : path_(path) {
  fd_ = open_file(path, O_RDWR);
  if (fd_ < 0) throw OutputError(path.string() + ": cannot be written: " + std::strerror(errno));
  // A killed run's process may need a moment to go; only then is the directory really in use.
  constexpr int kTries = 40;
  int locked = ::flock(fd_, LOCK_EX | LOCK_NB);
  for (int i = 0; i < kTries && locked != 0 && errno == EWOULDBLOCK; ++i) {
    ::usleep(50'000);
    locked = ::flock(fd_, LOCK_EX | LOCK_NB);
  }
  if (locked != 0) {
    const int error = errno;
    ::close(fd_);
    fd_ = -1;
    if (error != EWOULDBLOCK) throw OutputError(path.string() + ": lock: " + std::strerror(error));
    throw UsageError(path.parent_path().string() + ": is in use by another run");
  }
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

void FileLock::check_in_place() const {
  struct stat held {
  }, there{};
  if (::fstat(fd_, &held) == 0 && ::stat(path_.c_str(), &there) == 0 &&
      held.st_ino == there.st_ino && held.st_dev == there.st_dev) {
    return;
  }
  throw OutputError(path_.parent_path().string() +
                    ": was removed or replaced while it was written to");
}

std::filesystem::path program_directory() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {  // no /proc: what the kernel was asked to run
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands addresses over as numbers
    const auto asked = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    if (asked != nullptr) self = std::filesystem::canonical(asked, error);
  }
  if (error) throw UsageError("the folder of this program is not known: " + error.message());
  return self.parent_path();
}

std::filesystem::path data_directory() {
  std::vector<std::filesystem::path> tried;
  if (const char* chosen = std::getenv("SONDE_DATA"); chosen != nullptr && *chosen != '\0') {
    tried = {chosen};
  } else {
    tried = {program_directory().parent_path() / "share" / "sonde", SONDE_SOURCE_DATA};
  }
  for (const std::filesystem::path& path : tried) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path / "chips", ignored)) return path;
  }
  throw UsageError("no data folder: " + tried.front().string() +
                   " holds no chips/ (set SONDE_DATA to the folder that does)");
}

std::filesystem::path FileRoot::resolve(const std::string& path) const {
  return root_ / std::filesystem::path(path).relative_path();
}

std::optional<std::string> FileRoot::text(const std::string& path) const {
  const std::filesystem::path full = resolve(path);
  std::error_code ignored;
  if (std::filesystem::is_directory(full, ignored)) return std::nullopt;
  std::ifstream file(full, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) return std::nullopt;
  std::string text = content.str();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::optional<long long> FileRoot::integer(const std::string& path) const {
  const std::optional<std::string> content = text(path);
  if (!content) return std::nullopt;
  const std::optional<std::int64_t> value = parse_integer(*content);
  if (!value) return std::nullopt;
  return *value;
}

bool FileRoot::exists(const std::string& path) const {
  std::error_code ignored;
  return std::filesystem::exists(resolve(path), ignored);
}

std::vector<std::string> FileRoot::list(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(resolve(path), error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  if (text.empty()) return cpus;  // "no CPUs" is a valid list (a memory-only node)
  constexpr std::int64_t kMostCpu = 1 << 20;
  for (std::int64_t value : parse_list(text, "CPU list", false, 0, kMostCpu)) {
    cpus.push_back(static_cast<int>(value));
  }
  return cpus;
}

}  // namespace sonde
