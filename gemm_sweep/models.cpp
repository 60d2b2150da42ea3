#include "gemm_sweep/models.h"

#include <algorithm>
#include <sstream>

#include "core/csv_reader.h"
#include "core/error.h"
#include "core/parse.h"
#include "core/text.h"
#include "core/units.h"

namespace sonde {
namespace {

struct Field {
  const char* column;
  std::int64_t Model::*member;
};

constexpr Field kFields[] = {{"hidden", &Model::hidden},
                             {"intermediate", &Model::intermediate},
                             {"heads", &Model::heads},
                             {"kv_heads", &Model::kv_heads},
                             {"head_dim", &Model::head_dim},
                             {"vocab", &Model::vocab},
                             {"experts", &Model::experts},
                             {"moe_intermediate", &Model::moe_intermediate},
                             {"shared_experts", &Model::shared_experts},
                             {"q_lora_rank", &Model::q_lora_rank},
                             {"kv_lora_rank", &Model::kv_lora_rank},
                             {"qk_nope_head_dim", &Model::qk_nope_head_dim},
                             {"qk_rope_head_dim", &Model::qk_rope_head_dim},
                             {"v_head_dim", &Model::v_head_dim}};

/// DeepSeek-V4: width of the shared KV head, rank and groups of the output projection (its public
/// configuration; data/models.csv has no columns for them).
constexpr std::int64_t kV4KvWidth = 512;
constexpr std::int64_t kV4OutputRank = 1024;
constexpr std::int64_t kV4HeadsPerGroup = 8;
constexpr std::int64_t kV4GroupWidth = 4096;  // eight heads of 512

}  // namespace

std::vector<Model> parse_models(std::string_view csv, const std::string& file) {
  std::istringstream lines{std::string(csv)};
  std::vector<std::string> header;
  std::vector<Model> models;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto refuse = [&](const std::string& why) {
      return UsageError(file + ":" + std::to_string(number) + ": " + why);
    };
    std::string problem;
    const auto cells = split_record(line, &problem);
    if (!cells) throw refuse(problem);
    if (number == 1) {
      header = *cells;
      continue;
    }
    if (cells->size() != header.size()) {
      throw refuse(std::to_string(cells->size()) + " cells, the header has " +
                   std::to_string(header.size()));
    }
    const auto cell = [&](const std::string& column) -> const std::string& {
      const auto at = std::find(header.begin(), header.end(), column);
      if (at == header.end()) throw refuse("the header has no column " + column);
      return (*cells)[static_cast<std::size_t>(at - header.begin())];
    };
    Model model;
    model.name = cell("model");
    const auto params = parse_number(cell("params_b"));
    if (!params || *params <= 0)
      throw refuse("params_b: '" + shown_text(cell("params_b"), 60) + "' is no count");
    model.params_b = *params;
    for (const Field& field : kFields) {
      const auto value = parse_integer(cell(field.column));
      if (!value || *value < 0 || *value > 100'000'000) {
        throw refuse(std::string(field.column) + ": '" + shown_text(cell(field.column), 60) +
                     "' is no width");
      }
      model.*field.member = *value;
    }
    models.push_back(std::move(model));
  }
  return models;
}

std::int64_t tensor_parallel_degree(const Model& model) {
  constexpr double kBytesEach = 2;
  constexpr double kShare = 0.9;     // the rest is for activations and the KV cache
  constexpr std::int64_t kMost = 8;  // one server
  const double memory = kShare * 128.0 * static_cast<double>(kGiB);
  std::int64_t degree = 1;
  while (degree < kMost &&
         kBytesEach * model.params_b * 1e9 / static_cast<double>(degree) > memory) {
    degree *= 2;
  }
  return degree;
}

std::vector<Weight> weights_of(const Model& model, std::int64_t degree) {
  const std::int64_t t = degree;
  const std::int64_t heads = model.heads / t;
  const std::int64_t qk_head = model.qk_nope_head_dim + model.qk_rope_head_dim;
  std::vector<Weight> weights;
  const auto add = [&](const char* layer, std::int64_t n, std::int64_t k) {
    weights.push_back({n, k, layer, false});
  };
  if (model.q_lora_rank > 0 && model.kv_lora_rank == 0) {  // DeepSeek-V4
    add("qkv_a", model.q_lora_rank + kV4KvWidth, model.hidden);
    add("q_b", heads * kV4KvWidth, model.q_lora_rank);
    add("o_a", kV4OutputRank, kV4GroupWidth);
    add("o_b", model.hidden, model.heads / kV4HeadsPerGroup * kV4OutputRank / t);
  } else if (model.kv_lora_rank > 0) {  // multi-head latent attention
    if (model.q_lora_rank > 0) {
      add("qkv_a", model.q_lora_rank + model.kv_lora_rank + model.qk_rope_head_dim, model.hidden);
      add("q_b", heads * qk_head, model.q_lora_rank);
    } else {
      add("kv_a", model.kv_lora_rank + model.qk_rope_head_dim, model.hidden);
      add("q", heads * qk_head, model.hidden);
    }
    add("kv_b", heads * (model.qk_nope_head_dim + model.v_head_dim), model.kv_lora_rank);
    add("o", model.hidden, heads * model.v_head_dim);
  } else {  // grouped-query attention
    const std::int64_t kv = std::max<std::int64_t>(1, model.kv_heads / t);
    add("qkv", (heads + 2 * kv) * model.head_dim, model.hidden);
    add("o", model.hidden, heads * model.head_dim);
  }
  if (model.intermediate > 0) {
    add("gate_up", 2 * model.intermediate / t, model.hidden);
    add("down", model.hidden, model.intermediate / t);
  }
  if (model.experts > 0) {  // experts are whole: each lies on one device
    add("expert_gate_up", 2 * model.moe_intermediate, model.hidden);
    add("expert_down", model.hidden, model.moe_intermediate);
  }
  if (model.shared_experts > 0) {
    const std::int64_t shared = model.shared_experts * model.moe_intermediate;
    add("shared_gate_up", 2 * shared / t, model.hidden);
    add("shared_down", model.hidden, shared / t);
  }
  if (model.experts > 0) add("router", model.experts, model.hidden);
  weights.push_back({model.vocab / t, model.hidden, "lm_head", true});
  return weights;
}

}  // namespace sonde
