#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

/// The entry function of a fuzzer: libFuzzer calls it with what it made up, the replay with what is
/// stored under corpus/. Ends the program when a property does not hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sonde::fuzz {

/// A file in memory, opened by its path as any other.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const;
  void set(std::string_view content) const;

 private:
  std::string name_;
  int fd_ = -1;
};

/// Ends the program with what did not hold.
[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "property broken: %s\n", what.c_str());
  std::abort();
}
inline void require(bool holds, const std::string& what) {
  if (!holds) broken(what);
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs a reader that may refuse what it is given: by UsageError (or its kin), with every line of
/// the message naming `what` at its start, and by nothing else. True when it did not refuse.
template <class Read>
bool reads(const std::string& what, const Read& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    require(error.code() == ExitCode::usage,
            std::string("refused with another code: ") + error.what());
    std::string_view rest = error.what();
    require(!rest.empty(), "refused without a word");
    while (!rest.empty()) {
      require(rest.starts_with(what), "'" + what + "' is not named: " + error.what());
      const std::size_t end = rest.find('\n');
      rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
    return false;
  }
}

}  // namespace sonde::fuzz
