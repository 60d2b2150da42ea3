#pragma once

#include <string>

#include "report/figure.h"

namespace sonde {

/// "1,055 shapes of bf16, kernel auto, each at its median time; 3 planned shapes have no usable
/// sample." for captions.
std::string shapes_sentence(const GemmAnalysis& gemm);

/// The roofs as a line from one intensity to another, rates times `scale`; dashed unless measured.
Series roof_series(const GemmRoofline& line, const std::string& name, double from, double to,
                   double scale);

}  // namespace sonde
