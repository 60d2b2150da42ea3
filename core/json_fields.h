#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace sonde {

/// JSON read strictly. The library's own conversions cut a number that does not fit and take a
/// truth value for one; a deep nest of brackets makes it run out of stack when a part is copied.
/// Everything here throws UsageError in one line that names the field.
using Json = nlohmann::ordered_json;

/// A whole text; at most 32 brackets deep.
inline Json parse_json(std::string_view text) {
  constexpr int kMostDepth = 32;
  const auto watch = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kMostDepth) throw UsageError("is nested too deeply");
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {
    throw UsageError(std::string("not JSON: ") + error.what());
  }
}

/// A value as T: bool, std::string, a whole number, a double, a list of those.
template <class T>
T json_as(const Json& value, const std::string& field) {
  const auto refuse = [&](const char* expected) {
    return UsageError(field + ": is " + value.type_name() + ", expected " + expected);
  };
  if constexpr (std::same_as<T, bool>) {
    if (!value.is_boolean()) throw refuse("true or false");
    return value.get<bool>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!value.is_string()) throw refuse("a text");
    return value.get<std::string>();
  } else if constexpr (std::same_as<T, double>) {
    if (!value.is_number()) throw refuse("a number");
    return value.get<double>();
  } else if constexpr (std::integral<T>) {
    if (!value.is_number_integer()) throw refuse("a whole number");
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (!fits) throw UsageError(field + ": " + value.dump() + " is out of range");
    return value.get<T>();
  } else {
    if (!value.is_array()) throw refuse("a list");
    T list;
    for (const Json& item : value) list.push_back(json_as<typename T::value_type>(item, field));
    return list;
  }
}

/// The member of that name, which must be there.
inline const Json& json_at(const Json& object, const char* field) {
  if (!object.is_object()) throw UsageError(std::string(field) + ": is not inside an object");
  const auto found = object.find(field);
  if (found == object.end()) throw UsageError(std::string(field) + ": is missing");
  return *found;
}

template <class T>
T json_at(const Json& object, const char* field) {
  return json_as<T>(json_at(object, field), field);
}

/// The member of that name, or `otherwise` where there is none.
template <class T>
T json_or(const Json& object, const char* field, T otherwise) {
  return object.is_object() && object.contains(field) ? json_at<T>(object, field) : otherwise;
}

/// Members of an object, or items of a list, that must be one.
inline const Json& json_object(const Json& object, const char* field) {
  const Json& value = json_at(object, field);
  if (!value.is_object()) throw UsageError(std::string(field) + ": is not an object");
  return value;
}
inline const Json& json_list(const Json& object, const char* field) {
  const Json& value = json_at(object, field);
  if (!value.is_array()) throw UsageError(std::string(field) + ": is not a list");
  return value;
}

}  // namespace sonde
