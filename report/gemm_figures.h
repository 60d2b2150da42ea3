#pragma once

#include <string>

#include "report/figure.h"

namespace sonde {

/// "1,055 shapes of bf16, kernel auto, each at its median time; 3 planned shapes have no usable
/// sample." for captions.
std::string shapes_sentence(const GemmAnalysis& gemm);

/// A shape at its rate, or at a value in proportion to it, with the interval that the interval of
/// its time gives: "8x8x8 (Llama-3.1-8B qkv tp1)".
FigurePoint shape_point(const GemmShape& shape, double x, double y);
inline constexpr std::size_t kMostIntervals = 60;  ///< more bars than that hide the points

/// The roofs as a line from one intensity to another, rates times `scale`; dashed unless measured.
Series roof_series(const GemmRoofline& line, const std::string& name, double from, double to,
                   double scale);

}  // namespace sonde
