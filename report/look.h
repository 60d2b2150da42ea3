#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What `--format` may name: svg, png, pdf.
const std::vector<std::string>& picture_forms();
/// What `--style` may name: light, dark, print.
const std::vector<std::string>& picture_styles();

/// `--size`: pixels of a screen, or millimetres on paper.
struct PictureSize {
  double width = 960;
  double height = 540;
  bool millimetres = false;
};
/// "960x540" or "85x60mm". Throws UsageError naming the flag and what is expected.
PictureSize parse_picture_size(std::string_view text);

/// How every picture of a report looks.
struct Look {
  std::vector<std::string> forms = {"svg", "png"};  ///< the first is what a script draws unasked
  std::optional<PictureSize> size;  ///< nullopt: 960 pixels wide, each figure its own height
  std::string style = "light";
};

/// Colours of a style, "#rrggbb".
struct Colours {
  const char* background;
  const char* text;
  const char* faint_text;
  const char* grid;
  const char* border;
  const char* mark;      ///< horizontal marks
  const char* emphasis;  ///< vertical marks, outliers
  std::vector<const char*> series;
  std::vector<const char*> palette;  ///< of a heat map, low to high
  const char* empty;                 ///< a cell without a value
  bool dashes = false;               ///< lines are told apart without colour
};
const Colours& colours_of(const std::string& style);

/// Where a figure is laid out. Letters have 14 of its units; a unit is `scale` pixels of 1/96 inch.
struct Canvas {
  double width = 960;
  double height = 540;
  double scale = 1;  ///< on paper; an SVG is laid out in units and scaled by who shows it
};
/// Below this width a canvas has a smaller title over more lines.
inline constexpr double kNarrow = 800;
Canvas canvas_of(const Look& look, int figure_height);

}  // namespace sonde
