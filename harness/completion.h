#pragma once

#include <string>
#include <vector>

namespace sonde {

/// The command of the front that a completion script asks: `sonde complete-words WORD...`.
inline constexpr const char* kCompleteWords = "complete-words";

/// Shells that completion_script() knows.
std::vector<std::string> completion_shells();

/// Script for one shell: for each Tab it asks `sonde`, or the program itself, what fits, so that
/// nothing is listed twice; where nothing is offered the shell completes file names. `programs`:
/// sonde and the programs that are run by their own names. Throws UsageError for another shell.
std::string completion_script(const std::string& shell, const std::vector<std::string>& programs);

}  // namespace sonde
