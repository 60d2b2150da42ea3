#include "core/columns.h"

#include <bit>
#include <limits>

namespace sonde {
namespace {

/// Room for a quarter more, not for twice as much: columns are what a large file needs memory for.
template <class T>
void append(std::vector<T>& values, T value) {
  if (values.size() == values.capacity()) values.reserve(values.size() + values.size() / 4 + 64);
  values.push_back(value);
}

template <class T>
bool fits(std::int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

}  // namespace

template <class T>
void Integers::widen() {
  std::vector<T> wide;
  wide.reserve(size_ + size_ / 4 + 64);
  for (std::size_t i = 0; i < size_; ++i) wide.push_back(static_cast<T>((*this)[i]));
  values_ = std::move(wide);
}

void Integers::add(std::int64_t value) {
  if (values_.index() == 0) {
    if (size_ == 0) same_ = value;
    if (value == same_) {
      ++size_;
      return;
    }
    if (fits<std::int8_t>(same_)) {
      widen<std::int8_t>();
    } else if (fits<std::int16_t>(same_)) {
      widen<std::int16_t>();
    } else if (fits<std::int32_t>(same_)) {
      widen<std::int32_t>();
    } else {
      widen<std::int64_t>();
    }
  }
  if (values_.index() < 2 && !fits<std::int8_t>(value)) widen<std::int16_t>();
  if (values_.index() < 3 && !fits<std::int16_t>(value)) widen<std::int32_t>();
  if (values_.index() < 4 && !fits<std::int32_t>(value)) widen<std::int64_t>();
  std::visit(
      [value](auto& values) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(values)>, std::monostate>) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          append(values, static_cast<T>(value));
        }
      },
      values_);
  ++size_;
}

void IntegerColumn::note(bool filled) {
  const std::size_t before = values_.size();
  if (before == 0) any_ = filled;
  if (filled_.empty()) {
    if (filled == any_) return;
    filled_.assign(before, any_);
  }
  filled_.push_back(filled);
}

void IntegerColumn::add(std::int64_t value) {
  note(true);
  values_.add(value);
}

void IntegerColumn::add_empty() {
  note(false);
  values_.add(0);
}

void NumberColumn::add(double value) {
  if (values_.empty()) {
    if (size_ == 0) same_ = value;
    if (std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(same_)) {
      ++size_;
      return;
    }
    values_.assign(size_, same_);
  }
  append(values_, value);
  ++size_;
}

void NumberColumn::add_empty() { add(std::numeric_limits<double>::quiet_NaN()); }

std::size_t TextColumn::code_of(std::string_view text) {
  if (const auto found = known_.find(text); found != known_.end()) return found->second;
  texts_.emplace_back(text);
  known_.emplace(texts_.back(), texts_.size() - 1);
  return texts_.size() - 1;
}

void TextColumn::add(std::string_view text) {
  if (text != texts_[last_]) last_ = code_of(text);
  codes_.add(static_cast<std::int64_t>(last_));
}

}  // namespace sonde
