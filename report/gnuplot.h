#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/figure.h"

namespace sonde {

/// Why pictures are missing; empty when all are there.
struct DrawResult {
  std::vector<std::string> errors;    ///< one line each; exit 4
  std::vector<std::string> warnings;  ///< what gnuplot said about pictures that came out
};

struct DrawOptions {
  std::string program = "gnuplot";  ///< looked up on PATH
  double seconds = 30;              ///< for one picture
  int parallel = 2;
};

/// Writes <id>.gp, <id>.svg and <id>.png for each figure into `dir`. A picture appears whole or
/// not at all, and one that cannot be drawn now leaves no older one behind.
DrawResult draw_figures(const std::vector<Figure>& figures, const std::filesystem::path& dir,
                        const DrawOptions& options = {});

/// A PNG that ends with its IEND chunk; an SVG that ends with its closing tag.
bool complete_picture(const std::filesystem::path& path, const std::string& form);

}  // namespace sonde
