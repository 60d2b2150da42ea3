#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::mutation {

/// One small fault to plant in a source: `length` characters at `at` become `to`.
struct Mutant {
  std::string file;  ///< from the repository root
  std::size_t line = 0;
  std::size_t at = 0;
  std::size_t length = 0;
  /// relation (a limit that now is, or is not, inside), negation (the opposite asked), arithmetic,
  /// logic, constant, extreme, return, statement.
  std::string kind;
  std::string from;
  std::string to;
};

/// The text with comments, literals of characters and preprocessor lines blanked, same length.
std::string code_only(std::string_view text);

/// Every mutant of a file formatted in the style of this repository (binary operators have blanks
/// around them, pointers and template brackets do not), in the order of the text. Left alone is
/// what only sets how much is done at a time, whatever the result: room that is reserved, and
/// constants named after batches, buffers and workers.
std::vector<Mutant> find_mutants(const std::string& file, std::string_view text);

std::string apply(std::string text, const Mutant& mutant);

}  // namespace sonde::mutation
