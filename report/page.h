#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/report.h"

namespace sonde {

/// index.html as one self-contained text, to lie in `pictures`: it draws its figures itself and
/// links to the files of each that are there (<id>.svg); `together` are those of several runs. Why
/// one is not there is said in `draw_errors`.
std::string page_html(const std::vector<const RunReport*>& runs,
                      const std::filesystem::path& pictures,
                      const std::vector<std::string>& draw_errors,
                      const std::vector<Figure>& together);

}  // namespace sonde
