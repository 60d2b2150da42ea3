#pragma once

#include <string>

#include "report/copy.h"
#include "tests/support/facts.h"
#include "topology/core_tree.h"

namespace sonde::test {

/// Everything that a curve of copies came to.
void add_copy_shape(Facts& facts, const std::string& name, const CopyShape& shape);
void add_tree(Facts& facts, const std::string& name, const CoreTree& tree);

/// Holds the facts against tests/recovery/expected/`file`: fails with what changed, or renews the
/// file and says that the test was skipped.
void expect_stored(const Facts& facts, const std::string& file);

}  // namespace sonde::test
