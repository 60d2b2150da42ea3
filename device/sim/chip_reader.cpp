#include "device/sim/chip_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/parse.h"

namespace sonde::sim {

namespace {

const std::vector<std::string> kFields = {"value", "unit", "source", "confidence"};
const std::vector<std::string> kConfidences = {"published", "derived", "guess"};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

std::string at(const std::string& section, const std::string& key) {
  return "[" + section + "] " + key + ": ";
}

std::string range(const std::string& low, const std::string& high, const std::string& unit) {
  return "expected " + low + " to " + high + " " + unit;
}

}  // namespace

struct ChipReader::Document {
  toml::table root;
};

struct ChipReader::Entry {
  const toml::node* value;
  std::uint32_t line;
  Parameter parameter;
};

ChipReader::ChipReader(std::string_view text, std::string file)
    : file_(std::move(file)), document_(std::make_unique<Document>()) {
  try {
    document_->root = toml::parse(text, file_);
  } catch (const toml::parse_error& error) {
    fail(error.source().begin.line, "not TOML: " + std::string(error.description()) +
                                        ", expected [section] and key = { value = ... }");
  }
}

ChipReader::~ChipReader() = default;

void ChipReader::fail(std::uint32_t line, const std::string& what) const {
  throw UsageError(file_ + ":" + std::to_string(line) + ": " + what);
}

void ChipReader::refuse(const std::string& section, const std::string& key,
                        const std::string& problem) const {
  const toml::node* node = document_->root[section][key].node();
  fail(node != nullptr ? line_of(*node) : 1, at(section, key) + problem);
}

ChipReader::Entry ChipReader::take(const std::string& section, const std::string& key,
                                   const std::string& unit) {
  asked_[section].push_back(key);
  const toml::table* part = document_->root[section].as_table();
  if (part == nullptr) {
    const toml::node* other = document_->root[section].node();
    fail(other != nullptr ? line_of(*other) : 1, "[" + section + "]: missing, expected a section");
  }
  const toml::node* node = part->get(key);
  const std::string form = "expected " + key + " = { value = ..., unit = \"" + unit +
                           "\", source = \"...\", confidence = \"...\" }";
  if (node == nullptr) fail(line_of(*part), at(section, key) + "missing, " + form);
  const toml::table* table = node->as_table();
  if (table == nullptr) fail(line_of(*node), at(section, key) + "not an inline table, " + form);
  for (const auto& [name, field] : *table) {
    if (!contains(kFields, name.str())) {
      fail(line_of(field), at(section, key) + "unknown field " + std::string(name.str()) +
                               ", expected one of " + join_names(kFields));
    }
  }
  Entry entry{table->get("value"), line_of(*node), {section, key, "", "", "", ""}};
  if (entry.value == nullptr) fail(entry.line, at(section, key) + "value is missing, " + form);
  const auto text_field = [&](const char* name, std::string& into) {
    const toml::node* field = table->get(name);
    const auto text = field != nullptr ? field->value_exact<std::string>() : std::nullopt;
    if (!text || text->empty()) {
      fail(entry.line, at(section, key) + name + " is missing or empty, " + form);
    }
    into = *text;
  };
  text_field("unit", entry.parameter.unit);
  text_field("source", entry.parameter.source);
  text_field("confidence", entry.parameter.confidence);
  if (entry.parameter.unit != unit) {
    fail(entry.line, at(section, key) + "unit is " + entry.parameter.unit + ", expected " + unit);
  }
  if (!contains(kConfidences, entry.parameter.confidence)) {
    fail(entry.line, at(section, key) + "confidence is " + entry.parameter.confidence +
                         ", expected one of " + join_names(kConfidences));
  }
  return entry;
}

double ChipReader::number(const std::string& section, const std::string& key,
                          const std::string& unit, double low, double high) {
  Entry entry = take(section, key, unit);
  const std::string wanted = range(format_number(low), format_number(high), unit);
  if (!entry.value->is_number()) fail(entry.line, at(section, key) + "not a number, " + wanted);
  const double value = *entry.value->value<double>();
  if (!(value >= low && value <= high)) {  // also refuses nan
    fail(entry.line, at(section, key) + "out of range, " + wanted);
  }
  entry.parameter.value = format_number(value);
  parameters_.push_back(std::move(entry.parameter));
  return value;
}

std::int64_t ChipReader::integer(const std::string& section, const std::string& key,
                                 const std::string& unit, std::int64_t low, std::int64_t high) {
  Entry entry = take(section, key, unit);
  const std::string wanted = range(std::to_string(low), std::to_string(high), unit);
  const auto value = entry.value->value_exact<std::int64_t>();
  if (!value) fail(entry.line, at(section, key) + "not a whole number, " + wanted);
  if (*value < low || *value > high) {
    fail(entry.line, at(section, key) + std::to_string(*value) + " is out of range, " + wanted);
  }
  entry.parameter.value = std::to_string(*value);
  parameters_.push_back(std::move(entry.parameter));
  return *value;
}

std::string ChipReader::word(const std::string& section, const std::string& key,
                             const std::vector<std::string>& valid) {
  Entry entry = take(section, key, "name");
  const auto value = entry.value->value_exact<std::string>();
  const std::string wanted =
      valid.empty() ? std::string("expected a text") : "expected one of " + join_names(valid);
  if (!value || value->empty()) fail(entry.line, at(section, key) + "not a text, " + wanted);
  if (!valid.empty() && !contains(valid, *value)) {
    fail(entry.line, at(section, key) + "unknown name " + *value + ", " + wanted);
  }
  entry.parameter.value = *value;
  parameters_.push_back(std::move(entry.parameter));
  return *value;
}

std::vector<std::vector<std::int64_t>> ChipReader::lists(const std::string& section,
                                                         const std::string& key,
                                                         const std::string& unit, std::int64_t low,
                                                         std::int64_t high) {
  Entry entry = take(section, key, unit);
  const std::string wanted =
      range(std::to_string(low), std::to_string(high), unit) + " in a list of lists";
  std::vector<std::vector<std::int64_t>> result;
  std::string text;
  const toml::array* outer = entry.value->as_array();
  if (outer == nullptr || outer->empty()) {
    fail(entry.line, at(section, key) + "not a list, " + wanted);
  }
  for (const toml::node& inner_node : *outer) {
    const toml::array* inner = inner_node.as_array();
    if (inner == nullptr) fail(entry.line, at(section, key) + "not a list of lists, " + wanted);
    text += result.empty() ? "" : " / ";
    auto& numbers = result.emplace_back();
    for (const toml::node& node : *inner) {
      const auto value = node.value_exact<std::int64_t>();
      if (!value || *value < low || *value > high) {
        fail(entry.line, at(section, key) + "a value is not a number in range, " + wanted);
      }
      text += (numbers.empty() ? "" : " ") + std::to_string(*value);
      numbers.push_back(*value);
    }
  }
  entry.parameter.value = text;
  parameters_.push_back(std::move(entry.parameter));
  return result;
}

void ChipReader::finish() const {
  for (const auto& [section, node] : document_->root) {
    const std::string name(section.str());
    const auto known = asked_.find(name);
    const toml::table* part = node.as_table();
    if (known == asked_.end() || part == nullptr) {
      std::vector<std::string> names;
      for (const auto& [asked, keys] : asked_) names.push_back(asked);
      fail(line_of(node), "[" + name + "]: unknown section, expected one of " + join_names(names));
    }
    for (const auto& [key, value] : *part) {
      if (!contains(known->second, key.str())) {
        fail(line_of(value), at(name, std::string(key.str())) + "unknown key, expected one of " +
                                 join_names(known->second));
      }
    }
  }
}

}  // namespace sonde::sim
