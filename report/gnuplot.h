#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/figure.h"
#include "report/look.h"

namespace sonde {

/// Why pictures are missing; empty when all are there.
struct DrawResult {
  std::vector<std::filesystem::path> pictures;  ///< drawn, in the order of figures and forms
  std::vector<std::string> errors;              ///< one line each; exit 4
  std::vector<std::string> warnings;            ///< what gnuplot said about pictures that came out
};

struct DrawOptions {
  std::string program = "gnuplot";  ///< looked up on PATH
  double seconds = 30;              ///< for one picture
  int parallel = 0;                 ///< pictures at a time; 0: as many as CPUs are allowed
  Look look = {};
  /// Told each command line before it runs; may be empty.
  std::function<void(const std::string&)> tell = {};
};

/// Writes <id>.gp and <id>.<form> for each figure and each of look.forms into `dir`. A picture
/// appears whole or not at all, and one that cannot be drawn now leaves no older one behind, nor
/// does a form that is not asked for.
DrawResult draw_figures(const std::vector<Figure>& figures, const std::filesystem::path& dir,
                        const DrawOptions& options = {});

/// A PNG that ends with its IEND chunk; an SVG that ends with its closing tag; a PDF that ends with
/// its end-of-file mark.
bool complete_picture(const std::filesystem::path& path, const std::string& form);

}  // namespace sonde
