#pragma once

#include <functional>

#include "report/figure.h"

namespace sonde {

/// What both pictures of the copies share: series in order, names that tell them apart, and marks
/// and a sentence for switches, edges and classes of the device's own choice of method. Curves with
/// moved thresholds have a picture of their own.
struct CopyPicture {
  std::vector<const CopySeries*> series;
  std::vector<std::string> names;
  std::vector<Mark> marks;
  std::string sentence;
};
CopyPicture copy_picture(const CopyAnalysis& copy);

/// Value of a curve at a size, from the seconds that the copy takes.
using CopyValue = std::function<double(double bytes, double seconds)>;

/// A measured curve: the sizes of each alignment class are points of their own, beside the line
/// through the others.
std::vector<Series> copy_lines(const CopySeries& series, const std::string& name,
                               const CopyValue& value);

/// The straight pieces of time that were fitted to a curve, as one dashed line.
Series copy_pieces(const CopyShape& shape, const std::string& name, const CopyValue& value);

/// "powers of two", "multiples of 4 KiB".
std::string class_name(const CopyClass& one);

/// One sentence for each threshold that was moved, and what follows for switches and edges.
std::string threshold_sentence(const ThresholdJudgement& judgement);

}  // namespace sonde
