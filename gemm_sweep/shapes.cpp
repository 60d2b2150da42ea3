#include "gemm_sweep/shapes.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/rng.h"
#include "core/text.h"
#include "gemm_sweep/models.h"

namespace sonde {
namespace {

/// The set: docs/gemm_shapes.md says how it was chosen.
constexpr const char* kModels[] = {
    "Llama-3.1-8B",    "Llama-3.1-70B", "Llama-3.1-405B",    "Qwen2.5-7B",
    "Qwen2.5-14B",     "Qwen2.5-32B",   "Qwen2.5-72B",       "Qwen3-8B",
    "Qwen3-14B",       "Qwen3-32B",     "Mistral-7B-v0.1",   "Mistral-Large-123B",
    "Gemma-3-27B",     "Phi-4",         "OLMo-2-13B",        "openPangu-Embedded-7B",
    "Mixtral-8x7B",    "Mixtral-8x22B", "Llama-4-Scout",     "Qwen3-30B-A3B",
    "Qwen3-235B-A22B", "gpt-oss-120B",  "GLM-4.5",           "MiniMax-M2",
    "DeepSeek-V3",     "Kimi-K2",       "DeepSeek-V4-Flash", "DeepSeek-V4-Pro"};

/// Rows of A: three of decoding, six of prefill; the head sees one row a sequence.
constexpr std::int64_t kRows[] = {1, 32, 256, 512, 1024, 2048, 4096, 8192, 16384};
constexpr std::int64_t kMostHeadRows = 512;

/// The largest dimension that a shape may be asked with: m n k then stays below 2^93, its sizes in
/// bytes below 2^63.
constexpr std::int64_t kMostDimension = std::int64_t{1} << 30;

struct Labelled {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string label;
  bool body = false;
};

std::optional<std::int64_t> dimension(std::string_view text) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > kMostDimension) return std::nullopt;
  return value;
}

std::string expected() { return "a whole number from 0 to " + format_count(kMostDimension); }

}  // namespace

GemmWork work_of(const Shape& shape) {
  GemmWork work;
  work.m = shape.m;
  work.n = shape.n;
  work.k = shape.k;
  return work;
}

std::vector<Shape> derive_shapes(std::string_view models_csv, const std::string& file) {
  const std::vector<Model> models = parse_models(models_csv, file);
  std::vector<Labelled> weights;  // in the order first seen
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known;
  for (const char* name : kModels) {
    const auto model =
        std::find_if(models.begin(), models.end(), [&](const Model& m) { return m.name == name; });
    if (model == models.end()) throw UsageError(file + ": has no model " + name);
    const std::int64_t degree = tensor_parallel_degree(*model);
    for (const Weight& weight : weights_of(*model, degree)) {
      const auto [at, fresh] = known.try_emplace({weight.n, weight.k}, weights.size());
      if (fresh) {
        weights.push_back({weight.n, weight.k,
                           model->name + " " + weight.layer + " tp" + std::to_string(degree),
                           false});
      }
      weights[at->second].body = weights[at->second].body || !weight.lm_head;
    }
  }
  std::vector<Shape> shapes;
  for (const Labelled& weight : weights) {
    for (std::int64_t m : kRows) {
      if (weight.body || m <= kMostHeadRows)
        shapes.push_back({m, weight.n, weight.k, weight.label});
    }
  }
  return shapes;
}

std::vector<Shape> standard_shapes() {
  const std::filesystem::path path = data_directory() / "models.csv";
  return derive_shapes(read_file(path), path.filename().string());
}

std::vector<Shape> parse_shapes(std::string_view text, std::string_view flag) {
  std::vector<Shape> shapes;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view piece = text.substr(0, comma);
    const std::size_t first = piece.find('x');
    const std::size_t second = first == std::string_view::npos ? first : piece.find('x', first + 1);
    if (second == std::string_view::npos) {
      throw UsageError(std::string(flag) + ": '" + shown_text(piece, 60) +
                       "' is not a shape, expected MxNxK, e.g. 512x4096x4096");
    }
    const std::string_view parts[] = {piece.substr(0, first),
                                      piece.substr(first + 1, second - first - 1),
                                      piece.substr(second + 1)};
    std::int64_t sizes[3] = {};
    for (int i = 0; i < 3; ++i) {
      const auto size = dimension(parts[i]);
      if (!size) {
        throw UsageError(std::string(flag) + ": '" + shown_text(parts[i], 60) + "' in '" +
                         shown_text(piece, 60) + "' is not " + expected());
      }
      sizes[i] = *size;
    }
    shapes.push_back({sizes[0], sizes[1], sizes[2], ""});
    if (comma == std::string_view::npos) return shapes;
    text.remove_prefix(comma + 1);
  }
}

std::vector<Shape> read_shapes(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw UsageError("--shapes: " + path.string() + " is not a file");
  }
  std::istringstream lines(read_file(path));
  std::vector<std::string> header;
  std::vector<Shape> shapes;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto refuse = [&](const std::string& why) {
      return UsageError(path.string() + ":" + std::to_string(number) + ": " + why);
    };
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    for (std::size_t i = 0; i < line.size();) {
      const std::size_t length = utf8_length(line, i);
      if (length == 0) throw refuse("is not UTF-8");
      i += length;
    }
    std::string problem;
    const auto cells = split_record(line, &problem);
    if (!cells) throw refuse(problem);
    if (header.empty()) {
      header = *cells;
      for (const char* column : {"m", "n", "k"}) {
        if (std::count(header.begin(), header.end(), column) != 1) {
          throw refuse(std::string("the header must name column ") + column + " once");
        }
      }
      continue;
    }
    if (cells->size() != header.size()) {
      throw refuse(std::to_string(cells->size()) + " cells, the header has " +
                   std::to_string(header.size()));
    }
    Shape shape;
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string& cell = (*cells)[i];
      if (header[i] == "label") shape.label = cell;
      for (const auto& [column, member] :
           {std::pair{"m", &Shape::m}, {"n", &Shape::n}, {"k", &Shape::k}}) {
        if (header[i] != column) continue;
        const auto size = dimension(cell);
        if (!size)
          throw refuse(std::string(column) + ": '" + shown_text(cell, 60) + "' is not " +
                       expected());
        shape.*member = *size;
      }
    }
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty()) throw UsageError(path.string() + ": holds no shape");
  return shapes;
}

std::vector<std::int64_t> stratify(const std::vector<Shape>& shapes, std::uint64_t seed) {
  constexpr std::size_t kIntensities = 6;
  constexpr std::size_t kSizes = 4;
  std::vector<std::size_t> ranked(shapes.size());
  for (std::size_t i = 0; i < ranked.size(); ++i) ranked[i] = i;
  std::stable_sort(ranked.begin(), ranked.end(), [&](std::size_t a, std::size_t b) {
    return work_of(shapes[a]).intensity() < work_of(shapes[b]).intensity();
  });
  // Class c of n items in k classes holds ranks c n / k up to (c + 1) n / k.
  const auto edge = [](std::size_t count, std::size_t part, std::size_t parts) {
    return static_cast<std::ptrdiff_t>(count * part / parts);
  };
  std::vector<std::vector<std::size_t>> turns;  // one shape of each class
  for (std::size_t i = 0; i < kIntensities; ++i) {
    std::vector<std::size_t> alike(ranked.begin() + edge(ranked.size(), i, kIntensities),
                                   ranked.begin() + edge(ranked.size(), i + 1, kIntensities));
    std::stable_sort(alike.begin(), alike.end(), [&](std::size_t a, std::size_t b) {
      return work_of(shapes[a]).flop() < work_of(shapes[b]).flop();
    });
    for (std::size_t j = 0; j < kSizes; ++j) {
      std::vector<std::size_t> stratum(alike.begin() + edge(alike.size(), j, kSizes),
                                       alike.begin() + edge(alike.size(), j + 1, kSizes));
      Rng rng(key_of({seed, i, j}));
      shuffle(stratum, rng);
      if (turns.size() < stratum.size()) turns.resize(stratum.size());
      for (std::size_t turn = 0; turn < stratum.size(); ++turn) {
        turns[turn].push_back(stratum[turn]);
      }
    }
  }
  std::vector<std::int64_t> place(shapes.size());
  std::int64_t next = 0;
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    Rng rng(key_of({seed, turn}));
    shuffle(turns[turn], rng);
    for (std::size_t shape : turns[turn]) place[shape] = next++;
  }
  return place;
}

}  // namespace sonde
