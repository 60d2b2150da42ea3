#include "report/look.h"

#include "core/error.h"
#include "core/parse.h"

namespace sonde {
namespace {

/// Viridis (van der Walt and Smith 2015): even steps of lightness, told apart by all common kinds
/// of colour vision and in grey, and far from the grey of an empty cell.
const std::vector<const char*> kViridis = {"#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c",
                                           "#28ae80", "#5ec962", "#addc30", "#fde725"};

/// On paper a layout unit is two thirds of a pixel: letters of 14 units come out at 7 points, the
/// least that journals print.
constexpr double kPaperScale = 2.0 / 3;
constexpr double kPixelsPerMillimetre = 96 / 25.4;

}  // namespace

const std::vector<std::string>& picture_forms() {
  static const std::vector<std::string> forms = {"svg", "png", "pdf"};
  return forms;
}

const std::vector<std::string>& picture_styles() {
  static const std::vector<std::string> styles = {"light", "dark", "print"};
  return styles;
}

PictureSize parse_picture_size(std::string_view text) {
  const auto refuse = [&](const std::string& why) {
    return UsageError("--size: '" + std::string(text.substr(0, 40)) + "' " + why +
                      "; expected WIDTHxHEIGHT in pixels (960x540) or millimetres (85x60mm)");
  };
  PictureSize size;
  std::string_view rest = text;
  if (rest.ends_with("mm")) {
    size.millimetres = true;
    rest.remove_suffix(2);
  } else if (rest.ends_with("px")) {
    rest.remove_suffix(2);
  }
  const std::size_t cross = rest.find('x');
  if (cross == std::string_view::npos) throw refuse("is not a size");
  const auto width = parse_number(rest.substr(0, cross));
  const auto height = parse_number(rest.substr(cross + 1));
  if (!width || !height) throw refuse("is not a size");
  // Below the least a legend covers the plot; above the most a picture takes gigabytes to draw.
  const double least = size.millimetres ? 50 : 300, most = size.millimetres ? 600 : 8000;
  for (const double side : {*width, *height}) {
    if (side < (side == *width ? least : 0.6 * least) || side > most) {
      throw refuse("is out of range (" + format_number(least) + " to " + format_number(most) +
                   (size.millimetres ? " mm" : " pixels") + ", height from " +
                   format_number(0.6 * least) + ")");
    }
  }
  size.width = *width;
  size.height = *height;
  return size;
}

const Colours& colours_of(const std::string& style) {
  // Series: Okabe and Ito 2008, told apart by all common kinds of colour vision.
  static const Colours light = {
      .background = "#ffffff",
      .text = "#000000",
      .faint_text = "#333333",
      .grid = "#e4e4e4",
      .border = "#666666",
      .mark = "#555555",
      .emphasis = "#D55E00",
      .series = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000"},
      .palette = kViridis,
      .empty = "#c9c9c9"};
  static const Colours dark = {
      .background = "#14181d",
      .text = "#f0f2f4",
      .faint_text = "#c8ced4",
      .grid = "#2b323a",
      .border = "#8a949e",
      .mark = "#aab2ba",
      .emphasis = "#ff8a3d",
      .series = {"#56B4E9", "#E69F00", "#1fc79a", "#e29bc4", "#f0e442", "#ffffff"},
      .palette = kViridis,
      .empty = "#565d65"};
  // One ink: dashes and shapes tell the series apart, also on a copier.
  static const Colours print = {
      .background = "#ffffff",
      .text = "#000000",
      .faint_text = "#000000",
      .grid = "#d9d9d9",
      .border = "#000000",
      .mark = "#000000",
      .emphasis = "#000000",
      .series = {"#000000", "#5a5a5a", "#000000", "#5a5a5a", "#8c8c8c", "#000000"},
      .palette = {"#000000", "#252525", "#525252", "#737373", "#969696", "#bdbdbd", "#d9d9d9",
                  "#f0f0f0", "#ffffff"},
      .empty = "#f4d8c4",
      .dashes = true};
  if (style == "dark") return dark;
  return style == "print" ? print : light;
}

Canvas canvas_of(const Look& look, int figure_height) {
  if (!look.size) return {.width = 960, .height = static_cast<double>(figure_height), .scale = 1};
  if (!look.size->millimetres) {
    return {.width = look.size->width, .height = look.size->height, .scale = 1};
  }
  const double units = kPixelsPerMillimetre / kPaperScale;
  return {
      .width = look.size->width * units, .height = look.size->height * units, .scale = kPaperScale};
}

}  // namespace sonde
