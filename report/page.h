#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/report.h"

namespace sonde {

/// index.html as one self-contained text: pictures are read from `pictures` (<id>.svg) and
/// embedded; one that is not there is said to be missing, with `draw_errors` as the reason.
std::string page_html(const std::vector<const RunReport*>& runs,
                      const std::filesystem::path& pictures,
                      const std::vector<std::string>& draw_errors);

}  // namespace sonde
