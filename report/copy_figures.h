#pragma once

#include "report/figure.h"

namespace sonde {

/// What both pictures of the copies share: series in order, names that tell them apart, and marks
/// and a sentence for switches and edges of the device's own choice of method.
struct CopyPicture {
  std::vector<const CopySeries*> series;
  std::vector<std::string> names;
  std::vector<Mark> marks;
  std::string sentence;
};
CopyPicture copy_picture(const CopyAnalysis& copy);

}  // namespace sonde
