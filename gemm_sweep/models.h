#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// One row of data/models.csv; 0 where a model has no such part.
struct Model {
  std::string name;
  double params_b = 0;  ///< parameters, 10^9
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;  ///< dense MLP; 0: no layer has one
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocab = 0;
  std::int64_t experts = 0;
  std::int64_t moe_intermediate = 0;  ///< of one routed expert
  std::int64_t shared_experts = 0;
  std::int64_t q_lora_rank = 0;
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;
};

/// Throws UsageError naming file, line and column of what cannot be read.
std::vector<Model> parse_models(std::string_view csv, const std::string& file);

/// A weight of a layer: B[K,N] of its GEMM.
struct Weight {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string layer;     ///< "qkv", "expert_down", ...
  bool lm_head = false;  ///< sees one row a sequence, never a prompt
};

/// Smallest power of two that holds the weights in 16 bits in 90 % of 128 GiB, at most 8.
std::int64_t tensor_parallel_degree(const Model& model);

/// The weights of one model at that degree, in layer order.
std::vector<Weight> weights_of(const Model& model, std::int64_t degree);

}  // namespace sonde
