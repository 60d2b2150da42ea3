#pragma once

#include "report/gemm.h"

namespace sonde {

/// What the rows say of themselves: shapes that no roof allows, whether the machine changed during
/// the sweep, how exactly the shapes are known, and what BF16 is worth against FP32. `modelled`:
/// the operands of a modelled device lie in its memory.
void judge_gemm(GemmAnalysis& gemm, bool modelled);

}  // namespace sonde
