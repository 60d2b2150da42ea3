#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace sonde {

/// Whole numbers one after another, each in as few bytes as the largest needs: 1, 2, 4 or 8, and
/// none as long as all are equal.
class Integers {
 public:
  std::size_t size() const { return size_; }
  bool all_equal() const { return values_.index() == 0; }
  void add(std::int64_t value);
  std::int64_t operator[](std::size_t i) const {
    switch (values_.index()) {
      case 1:
        return (*std::get_if<1>(&values_))[i];
      case 2:
        return (*std::get_if<2>(&values_))[i];
      case 3:
        return (*std::get_if<3>(&values_))[i];
      case 4:
        return (*std::get_if<4>(&values_))[i];
      default:
        return same_;
    }
  }

 private:
  template <class T>
  void widen();

  std::size_t size_ = 0;
  std::int64_t same_ = 0;
  std::variant<std::monostate, std::vector<std::int8_t>, std::vector<std::int16_t>,
               std::vector<std::int32_t>, std::vector<std::int64_t>>
      values_;
};

/// Cells of whole numbers; a cell may be empty.
class IntegerColumn {
 public:
  void add(std::int64_t value);
  void add_empty();
  bool all_equal() const { return values_.all_equal() && filled_.empty(); }
  bool filled(std::size_t i) const { return filled_.empty() ? any_ : filled_[i]; }
  /// 0 where empty.
  std::int64_t value(std::size_t i) const { return values_[i]; }
  std::optional<std::int64_t> at(std::size_t i) const {
    return filled(i) ? std::optional(values_[i]) : std::nullopt;
  }

 private:
  void note(bool filled);

  Integers values_;
  bool any_ = false;          ///< as long as filled_ is empty: all cells are filled, or none is
  std::vector<bool> filled_;  ///< only where some are and some are not
};

/// Cells of numbers, 8 bytes each, and none as long as all are equal; a cell may be empty.
class NumberColumn {
 public:
  void add(double value);
  void add_empty();
  bool all_equal() const { return values_.empty(); }
  /// NaN where empty: no stored number is one.
  double value(std::size_t i) const { return values_.empty() ? same_ : values_[i]; }
  std::optional<double> at(std::size_t i) const {
    const double number = value(i);
    return number == number ? std::optional(number) : std::nullopt;
  }

 private:
  std::size_t size_ = 0;
  double same_ = 0;
  std::vector<double> values_;
};

/// Cells of text, each distinct text kept once; the empty text is an empty cell.
class TextColumn {
 public:
  TextColumn() { code_of(""); }
  void add(std::string_view text);
  bool all_equal() const { return codes_.all_equal(); }
  /// Number of the cell's text, the same for equal ones; 0 where empty.
  std::size_t code(std::size_t i) const { return static_cast<std::size_t>(codes_[i]); }
  const std::string& at(std::size_t i) const { return texts_[code(i)]; }
  /// Code of a text; nullopt when no cell holds it.
  std::optional<std::size_t> find(std::string_view text) const {
    const auto found = known_.find(text);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }
  /// By code: every text that was ever added, the empty one first.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::size_t code_of(std::string_view text);

  Integers codes_;
  std::size_t last_ = 0;  ///< code added last: the next cell is mostly the same
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> known_;
};

}  // namespace sonde
