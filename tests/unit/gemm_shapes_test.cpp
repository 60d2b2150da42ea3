#include "gemm_sweep/shapes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "gemm_sweep/models.h"

namespace sonde {
namespace {

std::string models_csv() { return read_file(SONDE_SOURCE_DIR "/data/models.csv"); }

std::vector<Shape> shapes() { return derive_shapes(models_csv(), "models.csv"); }

const Model& model(const std::vector<Model>& all, const std::string& name) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Model& m) { return m.name == name; });
  EXPECT_NE(at, all.end()) << name;
  return *at;
}

TEST(GemmShapes, ThereAreExactly1055AndAllDiffer) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> unique;
  for (const Shape& shape : shapes()) unique.insert({shape.m, shape.n, shape.k});
  EXPECT_EQ(shapes().size(), 1055u);
  EXPECT_EQ(unique.size(), 1055u);
}

TEST(GemmShapes, TheMixIsThatOfTheRule) {
  std::map<std::int64_t, int> rows;
  std::set<std::pair<std::int64_t, std::int64_t>> weights;
  int below_150 = 0, below_236 = 0, below_295 = 0;
  double flop = 0, bytes = 0, least = HUGE_VAL, most = 0;
  for (const Shape& shape : shapes()) {
    const GemmWork work = work_of(shape);
    ++rows[shape.m];
    weights.insert({shape.n, shape.k});
    below_150 += work.intensity() < 150;
    below_236 += work.intensity() < 236;
    below_295 += work.intensity() < 295;
    flop += work.flop();
    bytes += work.least_bytes();
    least = std::min(least, work.flop());
    most = std::max(most, work.flop());
  }
  EXPECT_EQ(below_150, 315);
  EXPECT_EQ(below_236, 407);
  EXPECT_EQ(below_295, 481);
  EXPECT_EQ(weights.size(), 130u);
  for (std::int64_t m : {1, 32, 256, 512}) EXPECT_EQ(rows[m], 130) << m;
  for (std::int64_t m : {1024, 2048, 4096, 8192, 16384}) EXPECT_EQ(rows[m], 107) << m;
  EXPECT_NEAR(flop, 3.91e14, 0.005e14);
  EXPECT_NEAR(bytes, 2.86e11, 0.005e11);
  EXPECT_EQ(least, 2.0 * 1 * 8 * 4096);
  EXPECT_EQ(most, 2.0 * 16384 * 28672 * 12288);
}

TEST(GemmShapes, EachIsLabelledWithModelLayerAndDegree) {
  const std::vector<Shape> all = shapes();
  EXPECT_EQ(all.front().label, "Llama-3.1-8B qkv tp1");
  EXPECT_EQ(all.front().m, 1);
  EXPECT_EQ(all.front().n, 6144);
  EXPECT_EQ(all.front().k, 4096);
  const auto label_of = [&](std::int64_t n, std::int64_t k) {
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const Shape& s) { return s.n == n && s.k == k; });
    return at == all.end() ? std::string("absent") : at->label;
  };
  EXPECT_EQ(label_of(2304, 16384), "Llama-3.1-405B qkv tp8");
  EXPECT_EQ(label_of(8, 6144), "Mixtral-8x22B router tp4");
  EXPECT_EQ(label_of(2112, 7168), "DeepSeek-V3 qkv_a tp8");
  EXPECT_EQ(label_of(7168, 384), "DeepSeek-V4-Pro shared_down tp8");
  EXPECT_EQ(label_of(262144, 5376), "Gemma-3-27B lm_head tp1");
  // The head never sees a prompt.
  for (const Shape& shape : all) {
    if (shape.n == 262144) {
      EXPECT_LE(shape.m, 512);
    }
  }
}

TEST(GemmShapes, DegreesAreThoseThatHoldTheWeights) {
  const std::vector<Model> all = parse_models(models_csv(), "models.csv");
  EXPECT_EQ(tensor_parallel_degree(model(all, "Qwen2.5-32B")), 1);
  EXPECT_EQ(tensor_parallel_degree(model(all, "Llama-3.1-70B")), 2);
  EXPECT_EQ(tensor_parallel_degree(model(all, "Mixtral-8x22B")), 4);
  EXPECT_EQ(tensor_parallel_degree(model(all, "DeepSeek-V3")), 8);  // would need 16: capped
}

/// Layer formulas against lists that others publish at their own degrees (N x K).
TEST(GemmShapes, LayersAreThoseOfPublishedLists) {
  const std::vector<Model> all = parse_models(models_csv(), "models.csv");
  const auto of = [&](const std::string& name, std::int64_t degree) {
    std::set<std::pair<std::int64_t, std::int64_t>> found;
    for (const Weight& w : weights_of(model(all, name), degree)) found.insert({w.n, w.k});
    return found;
  };
  const auto v3 = of("DeepSeek-V3", 1);  // DeepGEMM's BF16 test list
  for (const auto& weight : {std::pair<std::int64_t, std::int64_t>{2112, 7168},
                             {24576, 1536},
                             {32768, 512},
                             {7168, 16384},
                             {4096, 7168},
                             {7168, 2048},
                             {256, 7168},
                             {129280, 7168}}) {
    EXPECT_TRUE(v3.contains(weight)) << weight.first << "x" << weight.second;
  }
  const auto lite = of("DeepSeek-V2-Lite", 1);  // latent attention without a query rank
  EXPECT_TRUE(lite.contains({576, 2048}));
  EXPECT_TRUE(lite.contains({3072, 2048}));
  const auto llama = of("Llama-3.1-70B", 4);
  EXPECT_TRUE(llama.contains({2560, 8192}));
  EXPECT_TRUE(llama.contains({14336, 8192}));
  EXPECT_TRUE(llama.contains({8192, 7168}));
}

TEST(GemmShapes, AMissingModelOrABadCellIsNamed) {
  std::string text = models_csv();
  const auto refusal = [&](const std::string& changed) -> std::string {
    try {
      derive_shapes(changed, "models.csv");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  std::string renamed = text;
  renamed.replace(renamed.find("Phi-4,"), 6, "Phi-5,");
  EXPECT_NE(refusal(renamed).find("has no model Phi-4"), std::string::npos) << refusal(renamed);
  std::string bad = text;
  bad.replace(bad.find("8.03,4096"), 9, "8.03,4o96");
  EXPECT_NE(refusal(bad).find("models.csv:2: hidden: '4o96'"), std::string::npos) << refusal(bad);
}

TEST(GemmShapes, AModelHasWidthsUpTo100MillionAndParameters) {
  const auto said = [](const std::string& params, const std::string& hidden) -> std::string {
    std::string header =
        "model,params_b,hidden,intermediate,heads,kv_heads,head_dim,vocab,experts,"
        "moe_intermediate,shared_experts,q_lora_rank,kv_lora_rank,"
        "qk_nope_head_dim,qk_rope_head_dim,v_head_dim\n";
    try {
      const auto all =
          parse_models(header + "x," + params + "," + hidden + ",0,1,1,1,1,0,0,0,0,0,0,0,0\n", "m");
      return std::to_string(all.at(0).hidden);
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(said("0.5", "0"), "0");
  EXPECT_EQ(said("0.5", "100000000"), "100000000");
  EXPECT_EQ(said("0.5", "100000001"), "m:2: hidden: '100000001' is no width");
  EXPECT_EQ(said("0.5", "-1"), "m:2: hidden: '-1' is no width");
  EXPECT_EQ(said("0", "1"), "m:2: params_b: '0' is no count");
  EXPECT_EQ(said("-1", "1"), "m:2: params_b: '-1' is no count");
  EXPECT_EQ(said("0.5,9", "1"), "m:2: 17 cells, the header has 16");
  const std::string whole(60, 'x'), cut = "'" + whole + "\u2026' is no ";
  EXPECT_EQ(said("0.5", whole), "m:2: hidden: '" + whole + "' is no width");
  EXPECT_EQ(said("0.5", whole + "x"), "m:2: hidden: " + cut + "width");
  EXPECT_EQ(said(whole + "x", "1"), "m:2: params_b: " + cut + "count");
  EXPECT_EQ(said(whole, "1"), "m:2: params_b: '" + whole + "' is no count");
}

TEST(GemmShapes, EveryStartOfTheSequenceIsASampleOfTheWhole) {
  const std::vector<Shape> all = shapes();
  const std::vector<std::int64_t> place = stratify(all, 7);
  std::vector<GemmWork> sequence(all.size());
  std::set<std::int64_t> places(place.begin(), place.end());
  ASSERT_EQ(places.size(), 1055u);
  ASSERT_EQ(*places.rbegin(), 1054);
  for (std::size_t i = 0; i < all.size(); ++i) {
    sequence[static_cast<std::size_t>(place[i])] = work_of(all[i]);
  }
  for (std::size_t turn = 0; turn < 40; ++turn) {
    const auto begin = sequence.begin() + static_cast<std::ptrdiff_t>(24 * turn);
    // The mix: 407 of 1,055 below 236, so about 9 of 24, whatever the turn.
    const auto below =
        std::count_if(begin, begin + 24, [](const GemmWork& w) { return w.intensity() < 236; });
    EXPECT_GE(below, 8) << turn;
    EXPECT_LE(below, 12) << turn;
    const auto [small, large] = std::minmax_element(
        begin, begin + 24,
        [](const GemmWork& a, const GemmWork& b) { return a.flop() < b.flop(); });
    EXPECT_LT(small->flop(), 1e9) << turn;
    EXPECT_GT(large->flop(), 1e12) << turn;
  }
  EXPECT_EQ(stratify(all, 7), place);
  EXPECT_NE(stratify(all, 8), place);
}

TEST(GemmShapes, ShapesAreReadFromTextAndRefusedByPiece) {
  const auto two = parse_shapes("1x2x3,17x4095x33", "--shape");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[1].m, 17);
  EXPECT_EQ(two[1].n, 4095);
  EXPECT_EQ(two[1].k, 33);
  EXPECT_EQ(parse_shapes("0x4x4", "--shape")[0].m, 0);  // the point is skipped: no work
  for (const char* bad : {"", "4x4", "4x4x4x4", "4x-1x4", "4x4x", "axbxc", "4x4x4,", "1e3x4x4",
                          "99999999999999999999x1x1", "4X4X4"}) {
    EXPECT_THROW(parse_shapes(bad, "--shape"), UsageError) << bad;
  }
}

TEST(GemmShapes, WhatIsNoShapeIsQuotedUpTo60Characters) {
  const auto said = [](const std::string& text) -> std::string {
    try {
      parse_shapes(text, "--shape");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string no_shape = " is not a shape, expected MxNxK, e.g. 512x4096x4096";
  const std::string no_size = " is not a whole number from 0 to 1,073,741,824";
  const std::string long_one(60, 'y');
  EXPECT_EQ(said("1x2x3,4x5"), "--shape: '4x5'" + no_shape);
  EXPECT_EQ(said(long_one), "--shape: '" + long_one + "'" + no_shape);
  EXPECT_EQ(said(long_one + "y"), "--shape: '" + long_one + "\u2026'" + no_shape);
  // A size of 56 in a shape of 60 characters, then either of 60 and of one more.
  const std::string size(56, 'y');
  EXPECT_EQ(said("1x2x" + size), "--shape: '" + size + "' in '1x2x" + size + "'" + no_size);
  EXPECT_EQ(said("1x2x" + size + "y"),
            "--shape: '" + size + "y' in '1x2x" + size + "\u2026'" + no_size);
  EXPECT_EQ(said(long_one + "x2x1"),
            "--shape: '" + long_one + "' in '" + long_one + "\u2026'" + no_size);
  EXPECT_EQ(said(long_one + "yx2x1"),
            "--shape: '" + long_one + "\u2026' in '" + long_one + "\u2026'" + no_size);
  EXPECT_EQ(parse_shapes("1073741824x1x1", "--shape")[0].m, 1 << 30);
  EXPECT_EQ(said("1x1073741825x1"), "--shape: '1073741825' in '1x1073741825x1'" + no_size);
}

class ShapeFile : public ::testing::Test {
 public:
  ~ShapeFile() override { std::filesystem::remove(path_); }

 protected:
  // A name of its own for each process: tests run side by side.
  ShapeFile()
      : path_(std::filesystem::path(::testing::TempDir()) /
              ("sonde_shape_file_" + std::to_string(getpid()) + ".csv")) {}
  std::string refusal(const std::string& text) {
    std::ofstream(path_) << text;
    try {
      read_shapes(path_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::filesystem::path path_;
};

TEST_F(ShapeFile, ColumnsInAnyOrderWithLabels) {
  std::ofstream(path_) << "\xef\xbb\xbflabel,k,m,n,note\r\n\"a, b\",64,1,8,x\r\n,128,2,16,\r\n";
  const auto read = read_shapes(path_);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].label, "a, b");
  EXPECT_EQ(read[0].k, 64);
  EXPECT_EQ(read[1].m, 2);
  EXPECT_EQ(read[1].n, 16);
}

TEST_F(ShapeFile, WhatIsWrongIsNamedByLineAndColumn) {
  EXPECT_NE(refusal("m,n\n1,2\n").find(":1: the header must name column k"), std::string::npos);
  EXPECT_NE(refusal("m,n,k\n1,2,x\n").find(":2: k: 'x'"), std::string::npos);
  EXPECT_NE(refusal("m,n,k\n1,2\n").find(":2: 2 cells"), std::string::npos);
  EXPECT_NE(refusal("m,n,k,label\n1,2,3,\xff\xfe\n").find(":2: is not UTF-8"), std::string::npos);
  EXPECT_NE(refusal("m,n,k\n").find("holds no shape"), std::string::npos);
  EXPECT_NE(refusal("m,n,k\n1,2,-3\n").find(":2: k: '-3'"), std::string::npos);
  const std::string size(60, 'y');
  EXPECT_NE(refusal("m,n,k\n1,2," + size + "\n").find(":2: k: '" + size + "' is"),
            std::string::npos);
  EXPECT_NE(refusal("m,n,k\n1,2," + size + "y\n").find(":2: k: '" + size + "\u2026' is"),
            std::string::npos);
}

}  // namespace
}  // namespace sonde
