#include "device/sim/chip_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/parse.h"
#include "core/schema.h"
#include "core/text.h"

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

struct ChipReader::Layer {
  std::string file;
  toml::table root;
};

struct ChipReader::Entry {
  const toml::node* value;
  std::string file;
  std::uint32_t line;
  Parameter parameter;

  [[noreturn]] void fail(const std::string& problem) const {
    ChipReader::fail(file, line, at(parameter.section, parameter.key) + problem);
  }
};

ChipReader::ChipReader(std::string_view text, const std::string& file, const ChipTexts& texts) {
  std::string all;  // of the file and its bases
  std::string layer_text(text);
  std::vector<std::string> files = {file};
  while (true) {
    Layer& layer = layers_.emplace_back(Layer{files.back(), toml::table{}});
    all += layer_text;
    try {
      layer.root = toml::parse(layer_text, layer.file);
    } catch (const toml::parse_error& error) {
      fail(layer.file, error.source().begin.line,
           "not TOML: " + std::string(error.description()) +
               ", expected [section] and key = { value = ... }");
    }
    const toml::node* node = layer.root.get("base");
    if (node == nullptr) break;
    const auto base = node->value_exact<std::string>();
    if (!base) fail(layer.file, line_of(*node), "base: not a text, expected a chip file's name");
    const auto found = texts(*base);
    if (!found) {
      fail(layer.file, line_of(*node),
           "base: no chip file \"" + *base + "\", expected a name without .toml");
    }
    if (contains(files, *base + ".toml")) {
      fail(layer.file, line_of(*node),
           "base: " + *base + " has this file as a base, expected none");
    }
    files.push_back(*base + ".toml");
    all += "\nbase " + *base + "\n";  // where one text ends is part of the check
    layer_text = *found;
  }
  check_ = checksum(all);
}

ChipReader::~ChipReader() = default;

void ChipReader::fail(const std::string& file, std::uint32_t line, const std::string& what) {
  throw UsageError(file + ":" + std::to_string(line) + ": " + shown_text(what, 1000));
}

const ChipReader::Layer* ChipReader::layer_with(const std::string& section) const {
  const auto found = std::find_if(layers_.begin(), layers_.end(),
                                  [&](const Layer& layer) { return layer.root.contains(section); });
  return found == layers_.end() ? nullptr : &*found;
}

const ChipReader::Layer* ChipReader::layer_with(const std::string& section,
                                                const std::string& key) const {
  const auto found = std::find_if(layers_.begin(), layers_.end(), [&](const Layer& layer) {
    const toml::table* part = layer.root[section].as_table();
    return part != nullptr && part->contains(key);
  });
  return found == layers_.end() ? nullptr : &*found;
}

void ChipReader::refuse(const std::string& section, const std::string& key,
                        const std::string& problem) const {
  const Layer* layer = layer_with(section, key);
  const Layer& at_fault = layer != nullptr ? *layer : layers_.front();
  fail(at_fault.file, layer != nullptr ? line_of(*layer->root[section][key].node()) : 1,
       at(section, key) + problem);
}

ChipReader::Entry ChipReader::take(const std::string& section, const std::string& key,
                                   const std::string& unit) {
  asked_[section].push_back(key);
  const Layer* near = layer_with(section);
  if (near == nullptr) {
    fail(layers_.front().file, 1, "[" + section + "]: missing, expected a section");
  }
  const toml::node& part = *near->root.get(section);
  if (!part.is_table()) {
    fail(near->file, line_of(part), "[" + section + "]: not a section, expected one");
  }
  const std::string form = "expected " + key + " = { value = ..., unit = \"" + unit +
                           "\", source = \"...\", confidence = \"...\" }";
  const Layer* layer = layer_with(section, key);
  if (layer == nullptr) fail(near->file, line_of(part), at(section, key) + "missing, " + form);
  const toml::node* node = layer->root[section][key].node();
  Entry entry{nullptr, layer->file, line_of(*node), {section, key, "", "", "", "", layer->file}};
  const toml::table* table = node->as_table();
  if (table == nullptr) entry.fail("not an inline table, " + form);
  for (const auto& [name, field] : *table) {
    if (!contains(kFields, name.str())) {
      entry.fail("unknown field " + std::string(name.str()) + ", expected one of " +
                 join_names(kFields));
    }
  }
  entry.value = table->get("value");
  if (entry.value == nullptr) entry.fail("value is missing, " + form);
  const auto text_field = [&](const char* name, std::string& into) {
    const toml::node* field = table->get(name);
    const auto text = field != nullptr ? field->value_exact<std::string>() : std::nullopt;
    if (!text || text->empty()) entry.fail(name + (" is missing or empty, " + form));
    into = *text;
  };
  text_field("unit", entry.parameter.unit);
  text_field("source", entry.parameter.source);
  text_field("confidence", entry.parameter.confidence);
  if (entry.parameter.unit != unit) {
    entry.fail("unit is " + entry.parameter.unit + ", expected " + unit);
  }
  if (!contains(kConfidences, entry.parameter.confidence)) {
    entry.fail("confidence is " + entry.parameter.confidence + ", expected one of " +
               join_names(kConfidences));
  }
  return entry;
}

bool ChipReader::has(const std::string& section) const { return layer_with(section) != nullptr; }

bool ChipReader::has(const std::string& section, const std::string& key) {
  asked_[section].push_back(key);
  return layer_with(section, key) != nullptr;
}

double ChipReader::number(const std::string& section, const std::string& key,
                          const std::string& unit, double low, double high) {
  Entry entry = take(section, key, unit);
  const std::string wanted = range(format_number(low), format_number(high), unit);
  if (!entry.value->is_number()) entry.fail("not a number, " + wanted);
  const std::optional<double> value = entry.value->value<double>();
  // None for a whole number that no double holds; a comparison that fails also refuses nan.
  if (!value || !(*value >= low && *value <= high)) {
    entry.fail("out of range, " + wanted);
  }
  entry.parameter.value = format_number(*value);
  parameters_.push_back(std::move(entry.parameter));
  return *value;
}

std::int64_t ChipReader::integer(const std::string& section, const std::string& key,
                                 const std::string& unit, std::int64_t low, std::int64_t high) {
  Entry entry = take(section, key, unit);
  const std::string wanted = range(std::to_string(low), std::to_string(high), unit);
  const auto value = entry.value->value_exact<std::int64_t>();
  if (!value) entry.fail("not a whole number, " + wanted);
  if (*value < low || *value > high) {
    entry.fail(std::to_string(*value) + " is out of range, " + wanted);
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
  if (!value || value->empty()) entry.fail("not a text, " + wanted);
  if (!valid.empty() && !contains(valid, *value)) {
    entry.fail("unknown name " + *value + ", " + wanted);
  }
  entry.parameter.value = *value;
  parameters_.push_back(std::move(entry.parameter));
  return *value;
}

std::vector<std::string> ChipReader::words(const std::string& section, const std::string& key) {
  Entry entry = take(section, key, "name");
  const toml::array* list = entry.value->as_array();
  if (list == nullptr || list->empty()) entry.fail("not a list, expected texts");
  std::vector<std::string> result;
  for (const toml::node& node : *list) {
    const auto text = node.value_exact<std::string>();
    if (!text || text->empty()) entry.fail("a value is not a text, expected texts");
    entry.parameter.value += (result.empty() ? "" : " ") + *text;
    result.push_back(*text);
  }
  parameters_.push_back(std::move(entry.parameter));
  return result;
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
    entry.fail("not a list, " + wanted);
  }
  for (const toml::node& inner_node : *outer) {
    const toml::array* inner = inner_node.as_array();
    if (inner == nullptr) entry.fail("not a list of lists, " + wanted);
    text += result.empty() ? "" : " / ";
    auto& numbers = result.emplace_back();
    for (const toml::node& node : *inner) {
      const auto value = node.value_exact<std::int64_t>();
      if (!value || *value < low || *value > high) {
        entry.fail("a value is not a number in range, " + wanted);
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
  for (const Layer& layer : layers_) {
    for (const auto& [section, node] : layer.root) {
      const std::string name(section.str());
      if (name == "base") continue;
      const auto known = asked_.find(name);
      const toml::table* part = node.as_table();
      if (known == asked_.end() || part == nullptr) {
        std::vector<std::string> names;
        for (const auto& [asked, keys] : asked_) names.push_back(asked);
        fail(layer.file, line_of(node),
             "[" + name + "]: unknown section, expected one of " + join_names(names));
      }
      for (const auto& [key, value] : *part) {
        if (!contains(known->second, key.str())) {
          std::vector<std::string> keys = known->second;
          std::sort(keys.begin(), keys.end());
          keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
          fail(layer.file, line_of(value),
               at(name, std::string(key.str())) + "unknown key, expected one of " +
                   join_names(keys));
        }
      }
    }
  }
}

}  // namespace sonde::sim
