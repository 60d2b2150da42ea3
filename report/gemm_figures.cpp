#include "report/gemm_figures.h"

#include "core/parse.h"

namespace sonde {

std::string shapes_sentence(const GemmAnalysis& gemm) {
  const std::size_t shapes = gemm.shapes.size();
  std::string text = format_count(static_cast<std::int64_t>(shapes)) +
                     (shapes == 1 ? " shape of " : " shapes of ") + gemm.dtype + ", kernel " +
                     gemm.kernel + ", each at its median time";
  if (gemm.planned > shapes) {
    const std::size_t missing = gemm.planned - shapes;
    text += "; " + format_count(static_cast<std::int64_t>(missing)) +
            (missing == 1 ? " more has no usable sample" : " more have no usable sample");
  }
  return text + ".";
}

}  // namespace sonde
