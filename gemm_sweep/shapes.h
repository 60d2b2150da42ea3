#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"

namespace sonde {

/// A GEMM by its dimensions: C[M,N] = A[M,K] x B[K,N].
struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string label;  ///< "Llama-3.1-8B qkv tp1": model, layer, tensor-parallel degree
};

/// Its work in BF16, which holds the cost.
GemmWork work_of(const Shape& shape);

/// The 1,055 unique shapes that 28 open-weight models run, from the text of data/models.csv by the
/// rule of docs/gemm_shapes.md. A reconstruction: the published study names neither its models nor
/// its shapes, only their number. `file` names the text in errors. Throws UsageError when a model
/// of the set is missing or a cell cannot be read.
std::vector<Shape> derive_shapes(std::string_view models_csv, const std::string& file);

/// The above, from the installed data/models.csv.
std::vector<Shape> standard_shapes();

/// `MxNxK` texts separated by commas. A dimension may be 0 (the point is then skipped: no work).
/// Throws UsageError naming the flag and the piece.
std::vector<Shape> parse_shapes(std::string_view text, std::string_view flag);

/// A CSV file with columns m, n, k and, if it likes, label, in any order. Throws UsageError naming
/// file, line and column.
std::vector<Shape> read_shapes(const std::filesystem::path& path);

/// Place of each shape in a sequence of which every part from the start is a sample of the whole,
/// stratified over intensity and size: ranked by intensity into six classes, each of those by FLOP
/// into four, then one shape of each of the 24 classes in turn, drawn by the seed.
std::vector<std::int64_t> stratify(const std::vector<Shape>& shapes, std::uint64_t seed);

}  // namespace sonde
