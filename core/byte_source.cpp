#include "core/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace sonde {
namespace {

/// A table of rows with their checks packs to about a sixth. What unpacks to far more was made to
/// fill a memory: refused once it is also too long to be a stored table by chance.
constexpr std::int64_t kMostGrowth = 200;
constexpr std::int64_t kSurelySmall = std::int64_t{64} << 20;

constexpr int kGzipOnly = 16 + MAX_WBITS;

}  // namespace

struct ByteSource::Inflater {
  z_stream stream{};
  std::array<char, 1 << 16> packed{};
  bool whole = false;  ///< the member that was read last has ended
};

ByteSource::ByteSource(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    if (fd_ >= 0) ::close(fd_);
    return UsageError(path.string() + ": " + why);
  };
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    throw fail(std::string("cannot be read: ") + std::strerror(errno));
  if (S_ISDIR(info.st_mode)) throw fail("is a directory, expected a CSV file");
  if (!S_ISREG(info.st_mode)) throw fail("is not a regular file");
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) throw fail(std::string("cannot be read: ") + std::strerror(errno));
  if (info.st_size == 0) throw fail("is empty, expected a header and rows");
  stored_bytes_ = info.st_size;
  unsigned char magic[2] = {};
  if (::pread(fd_, magic, sizeof magic, 0) != sizeof magic || magic[0] != 0x1f || magic[1] != 0x8b)
    return;
  gzip_ = std::make_unique<Inflater>();
  if (inflateInit2(&gzip_->stream, kGzipOnly) != Z_OK) throw fail("cannot be read: out of memory");
}

ByteSource::~ByteSource() {
  if (gzip_) inflateEnd(&gzip_->stream);
  ::close(fd_);
}

int ByteSource::raw(char* buffer, int size) {
  ssize_t count = 0;
  do {
    count = ::read(fd_, buffer, static_cast<std::size_t>(size));
  } while (count < 0 && errno == EINTR);
  if (count < 0) error_ = std::strerror(errno);
  return static_cast<int>(std::max<ssize_t>(count, 0));
}

bool ByteSource::next_member() {
  z_stream& stream = gzip_->stream;
  if (stream.avail_in == 0) {
    const int count = raw(gzip_->packed.data(), static_cast<int>(gzip_->packed.size()));
    stream.next_in = reinterpret_cast<Bytef*>(gzip_->packed.data());
    stream.avail_in = static_cast<uInt>(count);
    if (count == 0) {
      if (error_.empty() && !gzip_->whole) error_ = "the archive is cut short";
      return false;
    }
  }
  if (gzip_->whole) {
    inflateReset(&stream);
    gzip_->whole = false;
  }
  return true;
}

int ByteSource::inflated(char* buffer, int size) {
  z_stream& stream = gzip_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(buffer);
  stream.avail_out = static_cast<uInt>(size);
  while (stream.avail_out > 0 && next_member()) {
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      gzip_->whole = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      error_ = std::string("the archive is damaged") +
               (stream.msg != nullptr ? std::string(": ") + stream.msg : std::string());
      break;
    }
  }
  return size - static_cast<int>(stream.avail_out);
}

int ByteSource::read(char* buffer, int size) {
  int filled = 0;
  while (filled < size && !ended_) {
    char* from = buffer + filled;
    const int count = gzip_ ? inflated(from, size - filled) : raw(from, size - filled);
    ended_ = count == 0 || !error_.empty();
    if (count == 0) break;
    const char* const end = from + count;
    for (const char* at = from; at < end;) {
      const auto left = static_cast<std::size_t>(end - at);
      const auto* newline = static_cast<const char*>(std::memchr(at, '\n', left));
      const char* const stop = newline == nullptr ? end : newline;
      nul_ = nul_ || std::memchr(at, 0, static_cast<std::size_t>(stop - at)) != nullptr;
      if (newline == nullptr) break;
      if (nul_ && nul_line_ == 0) nul_line_ = line_;
      nul_ = false;
      ++line_;
      at = newline + 1;
      whole_bytes_ = bytes_ + (at - from);
    }
    filled += count;
    bytes_ += count;
    last_ = buffer[filled - 1];
    if (gzip_ && bytes_ > kSurelySmall && bytes_ / kMostGrowth > stored_bytes_) {
      error_ = "the archive unpacks to more than " + std::to_string(kMostGrowth) +
               " times its size: no table of rows does";
      ended_ = true;
    }
  }
  return filled;
}

}  // namespace sonde
