#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/figure.h"
#include "report/look.h"

namespace sonde {

/// Text as a gnuplot string: single quotes (in which gnuplot expands nothing), quotes doubled,
/// control characters and broken UTF-8 replaced, cut at `most` characters with an ellipsis.
std::string plot_text(std::string_view text, std::size_t most = 120);

/// The same for the label of a tick, which gnuplot takes for a format of its position.
std::string tick_text(std::string_view text, std::size_t most = 120);

/// The script that draws a figure, with its data, ready for `gnuplot <id>.gp`; `form='pdf'` on its
/// command line chooses another form. Written through gnuplot-iostream to `path`. Throws
/// OutputError.
void write_plot_script(const Figure& figure, const std::filesystem::path& path,
                       const Look& look = {});

}  // namespace sonde
