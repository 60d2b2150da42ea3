#pragma once

#include <string>
#include <vector>

#include "report/findings.h"

namespace sonde {

/// A value of a finding for people; a share as per cent, a jump with its sign.
std::string show_value(const Finding& finding, double value);

/// The same in few characters: a size rounded.
std::string show_brief(const Finding& finding, double value);
/// "95 % interval A to B", "between A and B" of a position, or why there is none; may be empty.
std::string show_range(const Finding& finding);

/// The cards of the main findings, and of the questions whose answer is that there is none; empty
/// when there is nothing to say.
std::string headlines_html(const RunAnalysis& analysis, const std::vector<Finding>& findings);

}  // namespace sonde
