// The readers of GEMM shapes (a file, an option) and of the models they are derived from.
#include <cmath>
#include <vector>

#include "core/csv_writer.h"
#include "gemm_sweep/models.h"
#include "gemm_sweep/shapes.h"
#include "tests/fuzz/fuzz.h"

namespace sonde {
namespace {

void check_shapes(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    fuzz::require(shape.m >= 0 && shape.n >= 0 && shape.k >= 0, "a dimension below zero");
    const GemmWork work = work_of(shape);
    fuzz::require(std::isfinite(work.flop()) && work.flop() >= 0, "work that is no number");
    fuzz::require(work.least_bytes() < 0x1p63 && work.least_bytes() >= 0, "bytes beyond 64 bits");
  }
}

void check_file(std::string_view text) {
  static fuzz::MemoryFile file;
  file.set(text);
  std::vector<Shape> shapes;
  const std::string path = file.path().string();
  if (!fuzz::reads(path + ":", [&] { shapes = read_shapes(path); })) return;
  check_shapes(shapes);
  std::string written = "label,k,n,m\n";
  for (const Shape& shape : shapes) {
    written += quote_cell(shape.label) + ',' + std::to_string(shape.k) + ',' +
               std::to_string(shape.n) + ',' + std::to_string(shape.m) + '\n';
  }
  static fuzz::MemoryFile again;
  again.set(written);
  const std::vector<Shape> back = read_shapes(again.path());
  fuzz::require(back.size() == shapes.size(), "shapes that were written are not read back");
  for (std::size_t i = 0; i < back.size(); ++i) {
    fuzz::require(back[i].m == shapes[i].m && back[i].n == shapes[i].n &&
                      back[i].k == shapes[i].k && back[i].label == shapes[i].label,
                  "a shape is read back as another");
  }
}

void check_option(std::string_view text) {
  std::vector<Shape> shapes;
  if (!fuzz::reads("--shape: ", [&] { shapes = parse_shapes(text, "--shape"); })) return;
  check_shapes(shapes);
  std::string written;
  for (const Shape& shape : shapes) {
    written += (written.empty() ? "" : ",") + std::to_string(shape.m) + 'x' +
               std::to_string(shape.n) + 'x' + std::to_string(shape.k);
  }
  fuzz::require(parse_shapes(written, "--shape").size() == shapes.size(), "shapes get lost");
}

void check_models(std::string_view text) {
  std::vector<Model> models;
  if (!fuzz::reads("models.csv:", [&] { models = parse_models(text, "models.csv"); })) return;
  for (const Model& model : models) {
    const std::int64_t degree = tensor_parallel_degree(model);
    fuzz::require(degree >= 1 && degree <= 8, "a degree that is none");
    for (const Weight& weight : weights_of(model, degree)) {
      fuzz::require(weight.n >= 0 && weight.k >= 0, "a width below zero");
    }
  }
}

}  // namespace
}  // namespace sonde

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = sonde::fuzz::text_of(data, size);
  sonde::check_file(text);
  sonde::check_option(text);
  sonde::check_models(text);
  return 0;
}
