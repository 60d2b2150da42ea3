#include "core/csv_record.h"

#include <algorithm>

#include "core/csv_reader.h"

namespace sonde {

bool split_cells(std::string_view line, std::vector<std::string_view>& cells, std::string& unquoted,
                 std::string* problem) {
  cells.clear();
  const auto refuse = [&](const char* why) {
    *problem = "cell " + std::to_string(cells.size() + 1) + ": " + why;
    return false;
  };
  std::size_t at = 0;
  const bool quotes = line.find('"') != std::string_view::npos;
  while (true) {
    if (at < line.size() && line[at] == '"') {
      const std::size_t begin = unquoted.size();
      ++at;
      bool closed = false;
      while (at < line.size()) {
        if (line[at] != '"') {
          unquoted += line[at++];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          unquoted += '"';
          at += 2;
        } else {
          ++at;
          closed = true;
          break;
        }
      }
      if (!closed) return refuse("a quote is left open (a cell cannot hold a line break)");
      if (at < line.size() && line[at] != ',') return refuse("text after a closing quote");
      cells.emplace_back(unquoted.data() + begin, unquoted.size() - begin);
    } else {
      const std::size_t end = std::min(line.find(',', at), line.size());
      const std::string_view cell = line.substr(at, end - at);
      if (quotes && cell.find('"') != std::string_view::npos) {
        return refuse("a quote inside an unquoted cell");
      }
      cells.push_back(cell);
      at = end;
    }
    if (at >= line.size()) return true;
    ++at;  // the comma
  }
}

std::optional<std::vector<std::string>> split_record(std::string_view line, std::string* problem) {
  std::vector<std::string_view> cells;
  std::string unquoted;
  unquoted.reserve(line.size());
  if (!split_cells(line, cells, unquoted, problem)) return std::nullopt;
  return std::vector<std::string>(cells.begin(), cells.end());
}

}  // namespace sonde
