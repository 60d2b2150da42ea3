#include "core/csv_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/files.h"

namespace sonde {

std::string quote_cell(const std::string& text) {
  const bool plain = text.find_first_of(",\"") == std::string::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' ' &&
                                       text.front() != '\t' && text.back() != '\t'));
  if (plain) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_header(const Schema& schema) {
  std::string line;
  for (const std::string& name : column_names(schema)) line += name + ',';
  return line + "check\n";
}

CsvWriter::CsvWriter(const Schema& schema, const std::filesystem::path& path)
    : schema_(schema),
      check_(column_names(schema)),
      name_(path.string()),
      last_sync_(std::chrono::steady_clock::now()) {
  if (path == "-") {
    fd_ = STDOUT_FILENO;
    name_ = "standard output";
    put(csv_header(schema));
    return;
  }
  do {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) throw OutputError(name_ + ": cannot be written: " + std::strerror(errno));
  struct stat info {};
  if (::fstat(fd_, &info) != 0) throw OutputError(name_ + ": " + std::strerror(errno));
  seekable_ = S_ISREG(info.st_mode);
  if (info.st_size == 0) put(csv_header(schema));
}

CsvWriter::~CsvWriter() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

void CsvWriter::put(const std::string& bytes) {
  const off_t before = seekable_ ? ::lseek(fd_, 0, SEEK_END) : 0;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(fd_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count < 0 ? errno : EIO;
      // Half a row is worse than none: cut back so that the file ends with a whole one.
      if (seekable_ && done > 0 && ::ftruncate(fd_, before) != 0) {
        throw OutputError(name_ + ": " + std::strerror(error) +
                          ", and half a row could not be removed");
      }
      throw OutputError(name_ + ": cannot be written: " + std::strerror(error));
    }
    done += static_cast<std::size_t>(count);
  }
}

void CsvWriter::write(const Row& row) {
  const std::vector<std::string> cells = row_cells(schema_, row);
  std::string line;
  for (const std::string& cell : cells) line += quote_cell(cell) + ',';
  put(line + check_.of(cells) + '\n');
  const auto now = std::chrono::steady_clock::now();
  if (seekable_ && now - last_sync_ > std::chrono::seconds(1)) {
    last_sync_ = now;
    sync();
  }
}

void CsvWriter::sync() {
  if (!seekable_) return;
  if (!sync_file(fd_)) throw OutputError(name_ + ": fsync: " + std::strerror(errno));
  // Rows of a file that nobody can open any more are lost, however well they are written.
  struct stat info {};
  if (::fstat(fd_, &info) == 0 && info.st_nlink == 0) {
    throw OutputError(name_ + ": was removed while it was written to");
  }
}

void CsvWriter::close() {
  if (fd_ <= STDERR_FILENO) return;
  sync();
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) throw OutputError(name_ + ": close: " + std::strerror(errno));
}

}  // namespace sonde
