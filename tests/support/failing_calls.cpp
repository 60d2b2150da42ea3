// Preloaded into a program (LD_PRELOAD), makes one of its system calls fail, as a full or broken
// disk or a sandbox does. Told by the environment:
//   SONDE_TEST_CALL   name of the call: write, fsync, open, rename, mkdir, sched_setaffinity
//   SONDE_TEST_AT     from which call on, from 1, counted in each process
//   SONDE_TEST_COUNT  how many of them fail; 0: all from then on
//   SONDE_TEST_ERROR  ENOSPC, EIO, EDQUOT, EINTR, EPERM, EROFS; short: half of the bytes are
//                     written; ignored: the call does nothing and succeeds
//   SONDE_TEST_PATH   only files below this folder count
//   SONDE_TEST_LOG    file that gets a line for each call that was made to fail
//   SONDE_TEST_CPUS   sched_getaffinity says that CPUs 0 to this number less 1 may be used
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::atomic<long> seen{0};

int error_number() {
  struct Name {
    const char* text;
    int number;
  };
  for (const Name& name : {Name{"ENOSPC", ENOSPC}, Name{"EIO", EIO}, Name{"EDQUOT", EDQUOT},
                           Name{"EINTR", EINTR}, Name{"EPERM", EPERM}, Name{"EROFS", EROFS}}) {
    if (std::strcmp(name.text, setting("SONDE_TEST_ERROR")) == 0) return name.number;
  }
  return 0;
}

bool below(const char* path) {
  const char* folder = setting("SONDE_TEST_PATH");
  if (*folder == '\0') return true;
  char whole[4096] = "";
  if (path[0] != '/' && getcwd(whole, sizeof whole - 2) != nullptr) std::strcat(whole, "/");
  std::strncat(whole, path, sizeof whole - std::strlen(whole) - 1);
  return std::strncmp(whole, folder, std::strlen(folder)) == 0;
}

bool below(int fd) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return false;
  path[size] = '\0';
  return below(path);
}

/// Whether this call of the chosen name, on a file that counts, is one that fails.
template <class File>
bool strikes(const char* call, File file) {
  if (std::strcmp(call, setting("SONDE_TEST_CALL")) != 0 || !below(file)) return false;
  const long number = ++seen;
  const long from = std::atol(setting("SONDE_TEST_AT"));
  const long count = std::atol(setting("SONDE_TEST_COUNT"));
  if (number < from || (count > 0 && number >= from + count)) return false;
  if (const char* log = setting("SONDE_TEST_LOG"); *log != '\0') {
    const long fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    const char* program = program_invocation_short_name;
    char line[256];
    const int size = std::snprintf(line, sizeof line, "%s: %s %ld\n", program, call, number);
    syscall(SYS_write, fd, line, static_cast<std::size_t>(size));
    syscall(SYS_close, fd);
  }
  errno = error_number();
  return true;
}

bool is(const char* error) { return std::strcmp(error, setting("SONDE_TEST_ERROR")) == 0; }

int open_with(const char* name, const char* path, int flags, mode_t mode) {
  // Reading still works on a full disk.
  if ((flags & (O_WRONLY | O_RDWR)) != 0 && strikes("open", path)) return -1;
  return next<int (*)(const char*, int, ...)>(name)(path, flags, mode);
}

FILE* fopen_with(const char* name, const char* path, const char* mode) {
  if (mode[0] != 'r' && strikes("open", path)) return nullptr;
  return next<FILE* (*)(const char*, const char*)>(name)(path, mode);
}

mode_t mode_of(int flags, va_list rest) { return (flags & O_CREAT) ? va_arg(rest, mode_t) : 0; }

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, std::size_t size) {
  if (strikes("write", fd)) {
    if (!is("short")) return -1;
    size = std::max<std::size_t>(1, size / 2);
  }
  return next<ssize_t (*)(int, const void*, std::size_t)>("write")(fd, bytes, size);
}

int fsync(int fd) { return strikes("fsync", fd) ? -1 : next<int (*)(int)>("fsync")(fd); }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_with("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_with("open64", path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) { return fopen_with("fopen", path, mode); }
FILE* fopen64(const char* path, const char* mode) { return fopen_with("fopen64", path, mode); }

int rename(const char* from, const char* to) noexcept {
  return strikes("rename", to) ? -1 : next<int (*)(const char*, const char*)>("rename")(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return strikes("mkdir", path) ? -1 : next<int (*)(const char*, mode_t)>("mkdir")(path, mode);
}

int sched_setaffinity(pid_t pid, std::size_t size, const cpu_set_t* mask) noexcept {
  if (strikes("sched_setaffinity", "")) return is("ignored") ? 0 : -1;
  return next<int (*)(pid_t, std::size_t, const cpu_set_t*)>("sched_setaffinity")(pid, size, mask);
}

int sched_getaffinity(pid_t pid, std::size_t size, cpu_set_t* mask) noexcept {
  const int cpus = std::atoi(setting("SONDE_TEST_CPUS"));
  if (cpus == 0) {
    return next<int (*)(pid_t, std::size_t, cpu_set_t*)>("sched_getaffinity")(pid, size, mask);
  }
  if (size * 8 < static_cast<std::size_t>(cpus)) {  // as the kernel does
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(size, mask);
  for (int cpu = 0; cpu < cpus; ++cpu) CPU_SET_S(static_cast<std::size_t>(cpu), size, mask);
  return 0;
}
}
