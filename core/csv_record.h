#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// split_record() without a copy: the cells point into `line`, or into what is added to `unquoted`
/// where quotes had to be taken away: it must have the capacity for line.size() more bytes, or
/// cells of before would lose their text. False, with `*problem` set, where that gives nullopt.
bool split_cells(std::string_view line, std::vector<std::string_view>& cells, std::string& unquoted,
                 std::string* problem);

}  // namespace sonde
