#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Whole file as text. Throws UsageError naming the path and the reason.
std::string read_file(const std::filesystem::path& path);

/// Writes beside `path`, syncs, renames over it: a reader sees the old or the new file, never a
/// part. Throws OutputError naming the path; the temporary file is removed, also what a killed
/// program left of it.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// fsync, begun anew when a signal interrupts it. False with errno set on failure.
bool sync_file(int fd);

/// Creates a directory that must not exist yet (mkdir is exclusive). False if it exists.
/// Throws OutputError when it cannot be created.
bool create_directory_exclusively(const std::filesystem::path& path);

/// Holds an exclusive lock on a file for its lifetime, so that two runs cannot write into one
/// directory. The lock goes with the process, also when it is killed.
class FileLock {
 public:
  /// Creates `path` if needed. Throws UsageError "... is in use by another run" when it is still
  /// held after two seconds.
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Throws OutputError when the folder of the file was removed or put in place of another since:
  /// what is written there now would be lost, or be mixed with another run's.
  void check_in_place() const;

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// `/proc/self/exe`'s folder: programs of the suite lie side by side.
std::filesystem::path program_directory();

/// The folder that holds chips/, models.csv, ...: $SONDE_DATA, else share/sonde beside an
/// installed program, else the source tree this was built from. Throws UsageError when none exists.
std::filesystem::path data_directory();

/// Reads files of /proc and /sys below a chosen root, so that tests feed recorded machines.
class FileRoot {
 public:
  explicit FileRoot(std::filesystem::path root = "/") : root_(std::move(root)) {}
  /// Text without trailing newline, or empty optional when absent or unreadable.
  std::optional<std::string> text(const std::string& path) const;
  std::optional<long long> integer(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// Names in a directory, sorted; empty when absent.
  std::vector<std::string> list(const std::string& path) const;
  std::filesystem::path resolve(const std::string& path) const;

 private:
  std::filesystem::path root_;
};

/// A kernel CPU list ("0-3,8,10-11") as numbers. Throws UsageError on anything else.
std::vector<int> parse_cpu_list(std::string_view text);

}  // namespace sonde
