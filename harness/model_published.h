#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// The chip that the study measured; `sonde check-model --device` puts another in its place.
inline constexpr const char* kStudyChip = "950pr_9579";

enum class ToleranceKind {
  relative,  ///< within `tolerance` of the published value (or range), as a share of it
  absolute,  ///< within `tolerance` of it, in the unit of the figure
  exact,     ///< the same number; where the figure is a text, a share of 1
  ordering,  ///< the text says what is larger; the simulated ratio must be above 1
};
const char* to_string(ToleranceKind kind);

/// A published figure: a line of data/published/study.csv and the like.
struct PublishedFigure {
  std::string id;               ///< row of the table; several figures may share it
  std::string quantity;         ///< "chase_latency_18_blocks"
  std::string text;             ///< as published: "134", "1500 to 1550", "a < b"
  std::optional<double> value;  ///< a number; of a range the low end
  std::optional<double> high;   ///< of a range
  std::string unit;
  double tolerance = 0;
  ToleranceKind kind = ToleranceKind::relative;
  std::string chip;  ///< that it belongs to, "h100_sxm"
  std::string source;
  std::string place;  ///< "study.csv:3", for messages
};

/// Whether a comparison can fail.
enum class Judged {
  yes,
  shape_set_unknown,  ///< printed only: what the figure is taken over was not published
  not_modelled,       ///< printed with the reason
};

/// What a figure is compared with: a line of data/published/comparisons.csv.
struct Comparison {
  PublishedFigure figure;
  std::string variant;  ///< which reading of the figure, "median, reference clock"; may be empty
  std::string label;    ///< given, fitted or predicted; empty where nothing is modelled
  Judged judged = Judged::yes;
  std::string measure;  ///< how the simulated value is obtained (see model_rows.h)
  std::string basis;    ///< fitted: the parameters; given: what it follows from; else the reason
  std::string place;    ///< "comparisons.csv:3"
};

/// Every comparison, in the order of the figures. Throws UsageError naming file, line and column
/// for anything that is not such a table, for a figure without comparison and the reverse.
std::vector<Comparison> read_comparisons(const std::filesystem::path& dir);

/// A CSV of `dir` as records, each cell by column name. Throws UsageError naming the file and what
/// is wrong; all `columns` must be there, further ones may be.
class PublishedTable {
 public:
  PublishedTable(const std::filesystem::path& path, const std::vector<std::string>& columns);
  std::size_t size() const { return rows_.size(); }
  const std::string& text(std::size_t row, const std::string& column) const;
  const std::string& filled(std::size_t row, const std::string& column) const;
  double number(std::size_t row, const std::string& column) const;
  std::string place(std::size_t row) const;
  [[noreturn]] void refuse(std::size_t row, const std::string& column,
                           const std::string& problem) const;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;
};

/// A unit of the tables and of findings.csv: what it measures and its size in base units.
struct ModelUnit {
  std::string dimension;
  double factor = 1;
};
std::optional<ModelUnit> model_unit(const std::string& unit);

}  // namespace sonde
