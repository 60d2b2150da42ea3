// What every reader of words says of many inputs, good and bad, held to what it said when last
// looked at. Beside the tests of truth, as stored_tables_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "core/files.h"
#include "core/parse.h"
#include "core/stored_tree.h"
#include "core/text.h"
#include "gemm_sweep/models.h"
#include "gemm_sweep/order.h"
#include "tests/recovery/stored_facts.h"
#include "tests/recovery/stored_words.h"

namespace sonde::test {
namespace {

TEST(StoredTexts, Words) {
  const std::string plain =
      "0 -0 1 -1 +1 01 1. .5 1e3 1e400 -1e-400 nan inf 0x10 9223372036854775807 "
      "9223372036854775808 -9223372036854775808 1,5 64 64M 64KiB 1MiB 8GiB 9007199254740993KiB "
      "8589934592GiB -1KiB KiB 1.5KiB 1,2,3 1,1,2 3-1 1-3 1-1 1:3:1 1:10:4 1:100:10x 1:100:1x "
      "1:100:0.5x 1:100:x 1:100:1.5x 1:100:f10 1:0:1 1:10:0 1:10:-1 1:10 1:2:3:4 1--3 , 1, ,1 "
      "4096:65536:2x 1-200001 "
      "0-99999 0-100000 2-6,4-8 cpu0 cpu cpu-1 cpu01 cpu007 cpu0-3 cpu3-0 cpu0-3+cpu7 cpu0-3,cpu7 "
      "cpu7+cpu0 cpu2+cpu2 vector0-55,cube0 sm0-65535 sm0-65536 sm99999999999 none none+cpu0 0-3 "
      "0-3,7 7,7 cpu1-cpu3 cpu1-3-5 Cpu1 1cpu h2d d2h,h2d h2h d2d,d2d d2 hd2 register regster";
  std::vector<std::string> words = {"",
                                    " ",
                                    "1 ",
                                    " 1",
                                    "64 KiB",
                                    "c pu1",
                                    "cpu1 ",
                                    "a\tb\x1b[31m",
                                    "\xff",
                                    "\xe2\x80\xae"
                                    "evil",
                                    "\xe2\x82",
                                    "\xc3\xa9t\xc3\xa9",
                                    "\xf0\x9f\x98\x80",
                                    "\xed\xa0\x80",
                                    "\xc0\x80",
                                    "\xf4\x90\x80\x80",
                                    "\x7f",
                                    std::string(70, 'x')};
  std::istringstream more(plain);
  for (std::string word; more >> word;) words.push_back(word);
  const std::vector<std::string> valid = {"d2d", "h2d", "d2h", "register", "load"};
  const std::vector<CoreName> cpus = parse_core_set("cpu0-3+cpu7"),
                              two = parse_core_set("cube0-1+vector0-55");
  Facts facts;
  for (const std::string& word : words) {
    const auto whole = parse_integer(word);
    const auto number = parse_number(word);
    std::string lengths;
    for (std::size_t i = 0; i < word.size(); ++i)
      lengths += fmt::format("{}", utf8_length(word, i));
    facts.add(
        "word " + shown_text(word),
        {whole ? std::to_string(*whole) : "-", number ? format_number(*number) : "-",
         shown_text(word, 3), shown_text(word, 59), lengths,
         nearest_name(word, valid).value_or("none"), did_you_mean(word, {"load", "store", word}),
         said([&] { return std::to_string(parse_size(word, "--bytes")); }),
         said([&] { return listed(parse_list(word, "--blocks", false, 1, 65536)).substr(0, 80); }),
         said([&] { return listed(parse_list(word, "--b", true, 2, 1 << 20)).substr(0, 80); }),
         said([&] { return std::to_string(parse_one(word, "--one", false, 0, 64)); }),
         said([&] { return std::to_string(parse_one(word, "--size", true, 64, 1 << 30)); }),
         said([&] { return listed(parse_names(word, "--dir", valid)); }),
         said([&] { return parse_core_name(word).str(); }),
         said([&] { return format_core_set(parse_core_set(word)); }),
         said([&] { return named(parse_core_list(word, cpus)); }),
         said([&] { return named(parse_core_list(word, two)).substr(0, 80); }),
         said([&] { return listed(parse_cpu_list(word)).substr(0, 80); }),
         said([&] { return listed(parse_list(word, "--all", false, 0, 1 << 30)).substr(0, 60); })});
  }
  for (const double value : {0.0, -0.0, 1.0, 0.1, 1e21, 1e-7, 123456.789, 1e15, 1e16, 5e-324})
    facts.add(fmt::format("number {:g}", value), {"'" + format_number(value) + "'"});
  for (const std::int64_t value :
       {0L, 7L, 999L, 1000L, -1000L, 123456L, 1234567L, -999L, 1000000000L})
    facts.add(fmt::format("count {}", value), {"'" + format_count(value) + "'"});
  facts.add("names", {join_names({}), join_names({"a"}), join_names({"a", "b"}),
                      join_names({"a", "b", "c"}), format_core_set({}),
                      format_core_set({{"b", 1}, {"a", 3}, {"b", 0}, {"a", 1}, {"b", 2}})});
  expect_stored(facts, "words.txt");
}

TEST(StoredTexts, FoldersOfMachinesAndOfData) {
  Facts facts;
  const auto root = folder() / "machine";
  std::filesystem::create_directories(root / "sys" / "b");
  std::filesystem::create_directories(root / "sys" / "a");
  write_text(root / "sys" / "text", "two\nlines\n\n");
  write_text(root / "sys" / "number", " 42\n");
  write_text(root / "sys" / "huge", "18446744073709551616\n");
  write_text(root / "sys" / "empty", "");
  const FileRoot machine(root);
  for (const std::string path :
       {"/sys/text", "sys/number", "/sys/huge", "/sys/empty", "/sys/a", "/sys/none", "/sys", "/"}) {
    const auto whole = machine.integer(path);
    facts.add("path " + path, {"'" + machine.text(path).value_or("none") + "'",
                               whole ? std::to_string(*whole) : "-", machine.exists(path),
                               listed(machine.list(path))});
  }
  const char* before = std::getenv("SONDE_DATA");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("SONDE_DATA", (root / "sys").c_str(), 1);
  facts.add("no data", {said([] { return data_directory().string(); })});
  std::filesystem::create_directories(root / "sys" / "chips");
  facts.add("data", {without_folder(said([] { return data_directory().string(); }))});
  before == nullptr ? ::unsetenv("SONDE_DATA") : ::setenv("SONDE_DATA", kept.c_str(), 1);
  facts.add("files",
            {said([&] { return read_file(root / "none"); }), said([&] { return read_file(root); }),
             read_file(root / "sys" / "text"), create_directory_exclusively(root / "fresh"),
             create_directory_exclusively(root / "fresh"), said([&] {
               return std::to_string(create_directory_exclusively(root / "no" / "where"));
             }),
             said([&] {
               write_file_atomically(root / "no" / "where", "x");
               return "written";
             })});
  expect_stored(facts, "folders.txt");
}

TEST(StoredTexts, Trees) {
  const std::vector<std::string> texts = {
      "",
      "{}",
      "[]",
      "null",
      R"({"schema":"topology.1"})",
      R"({"schema":"topology.2","levels":[]})",
      R"({"schema":"topology.1","levels":[]})",
      R"({"schema":"topology.1","levels":{},"reason":"r"})",
      R"({"schema":"topology.1","levels":[],"reason":"r"})",
      R"({"schema":"topology.1","levels":[],"reason":5})",
      R"({"schema":"topology.1","levels":[{"groups":[["cpu0","cpu1"],["cpu2"]]}]})",
      R"({"schema":"topology.1","levels":[{"groups":[["cpu0-1"],["cpu2"]]}]})",
      R"({"schema":"topology.1","levels":[{"groups":["cpu0-1","cpu2"]}]})",
      R"({"schema":"topology.1","levels":[{"groups":[[0]]}]})",
      R"({"schema":"topology.1","levels":[{}]})",
      R"({"schema":"topology.1","levels":[5]})"};
  Facts facts;
  for (const std::string& text : texts) {
    facts.add("tree " + text, {said([&] {
                const StoredTree tree = parse_tree(text, "F");
                std::string out = tree.reason;
                for (const CoreGroups& groups : tree.levels) {
                  out += " level";
                  for (const auto& group : groups) out += " " + named(group);
                }
                return out;
              })});
  }
  expect_stored(facts, "trees.txt");
}

TEST(StoredTexts, ModelsShapesAndTurns) {
  Facts facts;
  const std::string csv = read_file(std::string(SONDE_SOURCE_DIR) + "/data/models.csv");
  for (const Model& model : parse_models(csv, "F")) {
    std::vector<Value> values = {tensor_parallel_degree(model)};
    for (const std::int64_t degree : {1, 2, 8}) {
      values.emplace_back(said([&] {
        std::string text;
        for (const Weight& w : weights_of(model, degree))
          text += fmt::format("{} {}x{}{} ", w.layer, w.n, w.k, w.lm_head ? " head" : "");
        return text;
      }));
    }
    facts.add("model " + model.name, values);
  }
  std::vector<std::string> lines = {csv.substr(0, csv.find('\n'))};
  lines.push_back(
      csv.substr(lines[0].size() + 1, csv.find('\n', lines[0].size() + 1) - lines[0].size() - 1));
  std::string problem;
  const auto header = *split_record(lines[0], &problem), row = *split_record(lines[1], &problem);
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::vector<Value> answers;
    for (const std::string cell : {"", "x", "-1", "0", "1", "1.5", "99999999999999999999"}) {
      std::string text = lines[0] + "\n";
      for (std::size_t k = 0; k < row.size(); ++k)
        text += (k == 0 ? "" : ",") + quote_cell(k == i ? cell : row[k]);
      answers.emplace_back(
          said([&] { return std::to_string(parse_models(text + "\n", "F").size()); }));
    }
    std::string without;
    for (std::size_t k = 0; k < header.size(); ++k)
      if (k != i) without += (without.empty() ? "" : ",") + header[k];
    answers.emplace_back(
        said([&] { return std::to_string(parse_models(without + "\n", "F").size()); }));
    facts.add("models " + header[i], answers);
  }
  for (const std::string text :
       {"", "1x2x3", "1x2x3,4x5x6", "1x2", "1x2x3x4", "0x1x1", "-1x2x3", "ax2x3", "1X2X3", "1x2x3,",
        "2147483648x1x1", "1073741824x1x1", "1073741825x1x1", "1x2x3,1x2x3", " 1x2x3", "1x 2x3",
        "99999999999999999999x1x1"}) {
    facts.add("shapes " + text, {said([&] {
                std::string out;
                for (const Shape& s : parse_shapes(text, "--shapes"))
                  out += fmt::format("{} {} {} '{}' ", s.m, s.n, s.k, s.label);
                return out;
              })});
  }
  for (const std::string text :
       {"", "m,n,k\n", "m,n,k\n1,2,3\n", "k,n,m\n1,2,3\n", "m,n,k,label\n1,2,3,a b\n", "m,n\n1,2\n",
        "m,n,k,m\n1,2,3,4\n", "m,n,k\n1,2\n", "m,n,k\n1,2,x\n", "m,n,k\n1,2,-3\n", "m,n,k\n1,2,3",
        "m,n,k,extra\n1,2,3,9\n", "m,n,k\n1,2,0\n\n4,5,6\n", "m,n,k\n1,2,2147483648\n",
        "m,n,k\n1,2,3\n1,2,3\n", "m,n,k\n\"1,2,3\n", "M,N,K\n1,2,3\n"}) {
    write_text(folder() / "shapes.csv", text);
    facts.add("shapes file " + text, {said([&] {
                std::string out;
                for (const Shape& s : read_shapes(folder() / "shapes.csv"))
                  out += fmt::format("{} {} {} '{}' ", s.m, s.n, s.k, s.label);
                return out;
              })});
  }
  // Few shapes and a sweep, in time and out of it, drawn and listed.
  for (const std::int64_t count : {1, 24, 50, 51, 120}) {
    for (const double budget : {0.0, 2.0, 40.0}) {
      for (const bool in_order : {false, true}) {
        std::vector<Shape> shapes;
        for (std::int64_t i = 0; i < count; ++i)
          shapes.push_back({16 * (i + 1), 256 + 3 * i, 128, ""});
        SweepWish wish;
        if (budget > 0) wish.budget_s = budget;
        wish.seed = 4;
        wish.listed = in_order;
        wish.estimate_s = [](const Shape& s) { return 1e-9 * static_cast<double>(s.m * s.k); };
        std::vector<double> turns;
        std::string skips, roles;
        for (const Visit& visit : visits_of(shapes, wish)) {
          turns.push_back(static_cast<double>(visit.turn));
          turns.push_back(static_cast<double>(visit.shape.m));
          skips += visit.skip;
          roles += visit.role;
        }
        const std::string name = fmt::format("turns {} {} {}", count, budget, in_order);
        facts.digest(name, turns);
        facts.add(name, {roles, skips.substr(0, 100), checksum(skips)});
      }
    }
  }
  expect_stored(facts, "shapes.txt");
}

}  // namespace
}  // namespace sonde::test
