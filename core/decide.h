#pragma once

#include <cstddef>

namespace sonde {

/// What one of many comparisons with a control shows.
enum class Decision { unaffected, undecided, affected };

/// `excess` beyond the control, known to a standard deviation of `error`, as one of `tests` looked
/// at together. Affected: beyond what any of them all would reach by chance in one case of twenty
/// (Bonferroni, because one false tie between two cores joins two groups: a rate of false
/// discoveries would allow one in twenty of them). Unaffected: below what one in a hundred reaches
/// by chance; `tests` plays no part there, so that a weak effect is looked at once more.
Decision decide(double excess, double error, std::size_t tests);

/// The value that a standard normal variable exceeds with probability `p`, 0 < p < 0.5.
double normal_above(double p);

/// The value that Student's t of so many degrees exceeds with probability `p` (Cornish and Fisher
/// 1960): at 2.5 % within 4 % from two degrees on.
double student_above(double p, double freedom);

}  // namespace sonde
