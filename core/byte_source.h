#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace sonde {

/// The bytes of a stored file, plain or gzip, in order. Reads in pieces: its own memory does not
/// grow with the file. An archive must be whole to its last byte (concatenated members are one
/// text; anything behind the last one is damage) and must not be a bomb.
class ByteSource {
 public:
  /// Throws UsageError "path: cannot be read: reason" when there is no readable regular file.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills the buffer; less than `size` only at the end, or after an error.
  int read(char* buffer, int size);

  std::int64_t bytes() const { return bytes_; }              ///< given so far
  char last() const { return last_; }                        ///< byte given last
  std::int64_t whole_bytes() const { return whole_bytes_; }  ///< up to the last newline so far
  /// First whole line that holds a NUL byte; 0: none so far. Behind the last newline they are what
  /// a machine that lost its power leaves of a row.
  std::int64_t nul_line() const { return nul_line_; }
  const std::string& error() const { return error_; }  ///< empty: none so far

 private:
  struct Inflater;
  int raw(char* buffer, int size);
  int inflated(char* buffer, int size);
  bool next_member();

  int fd_ = -1;
  std::int64_t stored_bytes_ = 0;
  std::unique_ptr<Inflater> gzip_;  ///< null: a plain file
  bool ended_ = false;
  std::int64_t bytes_ = 0;
  std::int64_t line_ = 1;
  std::int64_t nul_line_ = 0;
  std::int64_t whole_bytes_ = 0;
  bool nul_ = false;  ///< in the line that was begun
  char last_ = '\n';
  std::string error_;
};

}  // namespace sonde
