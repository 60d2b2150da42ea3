#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/report.h"

namespace sonde {

/// index.html as one self-contained text: pictures are read from `pictures` (<id>.svg) and
/// embedded; `together` are those of several runs. One that is not there is said to be missing,
/// with `draw_errors` as the reason.
std::string page_html(const std::vector<const RunReport*>& runs,
                      const std::filesystem::path& pictures,
                      const std::vector<std::string>& draw_errors,
                      const std::vector<Figure>& together);

}  // namespace sonde
