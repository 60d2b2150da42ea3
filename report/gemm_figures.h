#pragma once

#include <string>

#include "report/figure.h"

namespace sonde {

/// "1,055 shapes of bf16, kernel auto, each at its median time; 3 planned shapes have no usable
/// sample." for captions.
std::string shapes_sentence(const GemmAnalysis& gemm);

}  // namespace sonde
