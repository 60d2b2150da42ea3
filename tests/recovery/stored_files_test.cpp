// What the readers of result files and manifests say of every cell, field and file that is not as
// it should be, held to what they said when last looked at. Beside the tests of truth.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/csv_reader.h"
#include "core/csv_writer.h"
#include "core/files.h"
#include "core/manifest.h"
#include "core/text.h"
#include "tests/recovery/stored_facts.h"
#include "tests/recovery/stored_words.h"
#include "tests/unit/csv_rows.h"

namespace sonde::test {
namespace {

/// A row of the schema, every cell filled, none twice the same.
Row full_row(const Schema& schema) {
  Row row;
  row.device = "a device";
  row.time_source = TimeSource::device_event;
  row.point = 3;
  row.repetition = 2;
  row.order = 11;
  row.start_s = 5.25;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    switch (schema.column(i).type) {
      case CellType::text:
        row.values.emplace_back("text" + std::to_string(i));
        break;
      case CellType::integer:
        row.values.emplace_back(static_cast<std::int64_t>(100 + i));
        break;
      case CellType::number:
        row.values.emplace_back(0.5 + static_cast<double>(i));
        break;
    }
  }
  return row;
}

TEST(StoredFiles, EveryCellOfEveryProbeReplaced) {
  const std::vector<std::string> cells = {"",    "x",  "-1",     "0",       "1.5",     "-0.5",
                                          "1,5", "ok", "failed", "skipped", "modelled"};
  Facts facts;
  for (const Schema* schema : all_schemas()) {
    const std::vector<std::string> names = column_names(*schema);
    const std::vector<std::string> good = row_cells(*schema, full_row(*schema));
    const auto path = folder() / (schema->probe + ".csv");
    const auto read = [&](const std::vector<std::string>& header,
                          const std::vector<std::vector<std::string>>& rows) {
      const auto line = [](const std::vector<std::string>& parts) {
        std::string text;
        for (const std::string& part : parts) text += (text.empty() ? "" : ",") + quote_cell(part);
        return text + ",\n";
      };
      std::string text = line(header);
      text.insert(text.size() - 1, "check");
      for (const auto& row : rows) text += line(row);
      write_text(path, text);
      return said([&] {
        const Table table = read_table(path, *schema);
        std::string out = std::to_string(table.rows.size());
        for (const std::string& warning : table.warnings) out += "; " + without_folder(warning);
        return out;
      });
    };
    facts.add(schema->probe, {read(names, {good}), read(names, {good, good})});
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::vector<Value> answers;
      for (const std::string& cell : cells) {
        for (const char* status : {"ok", "failed", "skipped"}) {
          std::vector<std::string> row = good;
          row[7] = status;
          row[8] = *status == 'o' ? "" : "because";
          row[i] = cell;
          const std::string answer = read(names, {row});
          const std::size_t at = answer.rfind(":2: ");
          answers.emplace_back(at == std::string::npos ? answer : answer.substr(at + 4));
        }
      }
      std::string all;
      for (const Value& answer : answers) all += answer.text() + '\n';
      std::vector<std::string> header = names, twice = names, row = good;
      header.erase(header.begin() + static_cast<long>(i));
      row.erase(row.begin() + static_cast<long>(i));
      twice[(i + 1) % twice.size()] = twice[i];
      facts.add(schema->probe + " " + names[i], {checksum(all), read(header, {row}).substr(0, 120),
                                                 read(twice, {good}).substr(0, 90)});
      if (schema->probe == "copy") facts.add("copy in full " + names[i], answers);
    }
  }
  expect_stored(facts, "cells.txt");
}

DeviceDescription described() {
  DeviceDescription d;
  d.name = "sim:x";
  d.product = "A \"product\"";
  d.time_source = TimeSource::modelled;
  d.places_blocks = d.cold_launches = true;
  d.cores = parse_core_set("vector0-3+vector6+cube0");
  d.memory = {{"L1", 32768, 64, 6}, {"L2", std::nullopt, 128}, {"HBM", std::nullopt, std::nullopt}};
  d.memory_bytes = 1 << 30;
  d.memory_walk_bytes = 1 << 28;
  d.chase_line_bytes = 128;
  d.chase_footprint_bytes = 16384;
  d.profile_bytes = 4096;
  d.contention_bytes = 8192;
  d.aggressor_works = {"load", "register"};
  d.victim_works = {"load", "store"};
  d.handoff_kinds = {"read", "write"};
  d.stream = {{"read", "copy"}, {"ordinary", "nt"}, {64, 4096}, 5};
  d.copies = {{"d2d", {"auto", "mte"}}, {"h2d", {"auto"}}};
  d.gemm = {{"bf16", "fp8"}, {"auto", "register"}};
  d.roofs = {{"memory_bytes_per_s", 1.4e12, "a sheet"}, {"bf16_flop_per_s", 4e14, "a file"}};
  d.reference_clock_hz = 1.8e9;
  d.conditions = {{"governor", "performance"}, {"smt", "off"}};
  return d;
}

TEST(StoredFiles, ManifestsWithEachFieldLeftOutOrOfAnotherType) {
  Manifest manifest;
  manifest.version = "1.2";
  manifest.revision = "abc";
  manifest.build_preset = "measure";
  manifest.seed = 18446744073709551615ULL;
  manifest.started_utc = "2026-01-02T03:04:05Z";
  manifest.device = described();
  manifest.idle_power_w = 75.5;
  manifest.idle_temperature_c = 31;
  manifest.steps = {{"chase", {{"blocks", "1-64"}}, "complete", true, "", 7},
                    {"copy", {}, "failed", false, "it broke", std::nullopt}};
  const std::string text = manifest_text(manifest);
  Facts facts;
  facts.add("text", {checksum(text), manifest_text(parse_manifest(text, "F")) == text});
  const DeviceDescription& d = manifest.device;
  std::vector<Value> description = {d.roof("bf16_flop_per_s"),   d.roof("none"),
                                    d.memory_from_bytes(),       listed(d.kinds()),
                                    named(d.cores_of("vector")), describe(d.time_source)};
  DeviceDescription less = d;
  less.memory_walk_bytes.reset();
  description.emplace_back(less.memory_from_bytes());
  less.memory.pop_back();
  description.emplace_back(less.memory_from_bytes());
  less.memory.pop_back();
  description.emplace_back(less.memory_from_bytes());
  less.memory[0].instances.reset();
  description.emplace_back(less.memory_from_bytes());
  less.memory.clear();
  description.emplace_back(less.memory_from_bytes());
  facts.add("description", description);
  facts.add("list", {device_list_json({{"host", "no such", std::nullopt}, {"sim:x", "", d}})});
  const nlohmann::json whole = nlohmann::json::parse(text);
  const nlohmann::json flat = whole.flatten();
  std::vector<std::string> places;
  for (const auto& [place, value] : flat.items()) {
    for (std::size_t end = place.find('/', 1); end != std::string::npos;
         end = place.find('/', end + 1))
      places.push_back(place.substr(0, end));
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const std::vector<nlohmann::json> others = {nullptr,
                                              true,
                                              -1,
                                              1.5,
                                              0,
                                              "",
                                              "text",
                                              std::string(70, 'q'),
                                              nlohmann::json::array(),
                                              nlohmann::json::object(),
                                              18446744073709551615ULL,
                                              nlohmann::json::array({"x", 1})};
  for (const std::string& place : places) {
    const nlohmann::json::json_pointer at(place);
    std::vector<Value> answers;
    const auto answer = [&](const nlohmann::json& changed) {
      answers.emplace_back(
          said([&] { return checksum(manifest_text(parse_manifest(changed.dump(), "F"))); }));
    };
    for (const nlohmann::json& other : others) {
      nlohmann::json changed = whole;
      changed[at] = other;
      answer(changed);
    }
    if (!at.parent_pointer().empty() || place.rfind('/') == 0) {
      nlohmann::json changed = whole, &parent = changed[at.parent_pointer()];
      if (parent.is_object()) {
        parent.erase(at.back());
        answer(changed);
      }
    }
    facts.add("field " + place, answers);
  }
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 2})
    facts.add(
        fmt::format("cut {}", cut),
        {said([&] { return checksum(manifest_text(parse_manifest(text.substr(0, cut), "F"))); })});
  expect_stored(facts, "manifests.txt");
}

std::string packed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Files that are cut, joined, packed or mixed with what does not belong there.
TEST(StoredFiles, FilesOfRows) {
  const auto path = folder() / "some_rows.csv";
  Rng rng(5);
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 6; ++i) rows.push_back(any_row(chase_schema(), i, rng));
  write_rows(chase_schema(), path, rows);
  const std::string text = read_file(path);
  const std::size_t header = text.find('\n') + 1, second = text.find('\n', header) + 1;
  const std::string all = packed(text);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"whole", text},
      {"packed", all},
      {"packed in two", packed(text.substr(0, second)) + packed(text.substr(second))},
      {"packed and cut", all.substr(0, all.size() - 9)},
      {"packed, last byte gone", all.substr(0, all.size() - 1)},
      {"packed and more", all + "x"},
      {"packed and zeros", all + std::string(8, '\0')},
      {"magic alone", all.substr(0, 2)},
      {"one byte", text.substr(0, 1)},
      {"header alone", text.substr(0, header)},
      {"header cut", text.substr(0, header - 1)},
      {"last line cut", text.substr(0, text.size() - 1)},
      {"blank lines", text.substr(0, header) + "\n\n" + text.substr(header) + "\n"},
      {"carriage returns", text.substr(0, header - 1) + "\r\n" + text.substr(header)},
      {"one inside", text.substr(0, header + 3) + "\r" + text.substr(header + 3)},
      {"a mark", "\xef\xbb\xbf" + text},
      {"header again", text + text.substr(0, header)},
      {"rows again", text + text.substr(header)},
      {"NUL in the header", text.substr(0, 3) + std::string(1, '\0') + text.substr(4)},
      {"NUL in a row", text.substr(0, second + 3) + std::string(1, '\0') + text.substr(second + 4)},
      {"NULs at the end", text + std::string(5, '\0')},
      {"another table", "a,b\n1,2\n"},
      {"open quote", text + "\"chase.1\n"},
      {"text behind a quote", text + "\"chase.1\"x,\n"},
      {"quote in a cell", text + "cha\"se.1,\n"},
      {"padding", text.substr(0, header) + text.substr(header, second - header - 1) + ",,,\n"}};
  Facts facts;
  for (const auto& [name, content] : files) {
    write_text(path, content);
    for (const bool skip : {false, true}) {
      facts.add(name + (skip ? ", bad rows skipped" : ""), {said([&] {
                  ReadOptions options;
                  options.skip_bad_rows = skip;
                  const Table table = read_table(path, chase_schema(), options);
                  std::string out = fmt::format(
                      "{} rows, {} of {} bytes, {}, {} without a check, {} skipped{}",
                      table.rows.size(), table.whole_bytes, table.content_bytes, table.crc32,
                      table.unprotected, table.skipped, table.cut_line ? ", cut" : "");
                  for (const std::string& warning : table.warnings)
                    out += "; " + without_folder(warning);
                  return out;
                })});
    }
  }
  expect_stored(facts, "files.txt");
}

}  // namespace
}  // namespace sonde::test
