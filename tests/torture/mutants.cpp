#include "tests/torture/mutants.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <utility>

namespace sonde::mutation {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_blank(char c) { return c == ' ' || c == '\n'; }

/// End of the literal that begins with the quote at `at`.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  if (at > 0 && text[at - 1] == 'R' && text[at] == '"') {
    const std::size_t open = text.find('(', at);
    const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    return text.find(close, open) + close.size();
  }
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2U : 1U;
  return end + 1;
}

class Finder {
 public:
  Finder(const std::string& file, std::string_view text)
      : file_(file), text_(text), code_(code_only(text)) {
    blank_sizes();
  }

  std::vector<Mutant> all() {
    operators();
    constants();
    words();
    returns();
    statements();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Mutant& a, const Mutant& b) { return a.at < b.at; });
    return std::move(found_);
  }

 private:
  void add(std::size_t at, std::size_t length, const char* kind, std::string to) {
    Mutant mutant;
    mutant.file = file_;
    mutant.line = 1 + static_cast<std::size_t>(
                          std::count(text_.begin(), text_.begin() + static_cast<long>(at), '\n'));
    mutant.at = at;
    mutant.length = length;
    mutant.kind = kind;
    mutant.from = std::string(text_.substr(at, length));
    mutant.to = std::move(to);
    found_.push_back(std::move(mutant));
  }

  /// Blanks what sets how much is done at a time and nothing else: room that is reserved, and
  /// constants named after batches, buffers, workers.
  void blank_sizes() {
    static const std::regex sizes(
        R"(\breserve\([^;]*;|constexpr [^;=]*k\w*(Batch|Buffer|Worker)\w* = [^;]*;)");
    for (std::sregex_iterator at(code_.begin(), code_.end(), sizes), end; at != end; ++at) {
      for (std::ptrdiff_t i = 0; i + 1 < at->length(); ++i) {
        char& c = code_[static_cast<std::size_t>(at->position() + i)];
        if (c != '\n') c = '_';
      }
    }
  }

  bool starts(std::size_t at, std::string_view word) const {
    return std::string_view(code_).substr(at, word.size()) == word;
  }

  void operators() {
    struct Swap {
      const char* kind;
      std::string_view from, to;
    };
    static constexpr Swap kSwaps[] = {
        {"relation", "<", "<="},    {"relation", "<=", "<"},    {"relation", ">", ">="},
        {"relation", ">=", ">"},    {"negation", "<", ">="},    {"negation", "<=", ">"},
        {"negation", ">", "<="},    {"negation", ">=", "<"},    {"negation", "==", "!="},
        {"negation", "!=", "=="},   {"arithmetic", "+", "-"},   {"arithmetic", "-", "+"},
        {"arithmetic", "*", "/"},   {"arithmetic", "/", "*"},   {"arithmetic", "%", "*"},
        {"arithmetic", "+=", "-="}, {"arithmetic", "-=", "+="}, {"arithmetic", "*=", "/="},
        {"arithmetic", "/=", "*="}, {"logic", "&&", "||"},      {"logic", "||", "&&"}};
    for (std::size_t at = 1; at + 1 < code_.size(); ++at) {
      if (code_[at] == '!' && code_[at + 1] != '=') add(at, 1, "negation", "");
      if (code_[at - 1] != ' ') continue;
      for (const Swap& swap : kSwaps) {
        if (starts(at, swap.from) && is_blank(code_[at + swap.from.size()]))
          add(at, swap.from.size(), swap.kind, std::string(swap.to));
      }
    }
  }

  void constants() {
    for (std::size_t at = 1; at < code_.size(); ++at) {
      if (!is_digit(code_[at]) || is_word(code_[at - 1]) || code_[at - 1] == '.' ||
          code_[at - 1] == '\'')
        continue;
      std::size_t end = at;
      while (end < code_.size() &&
             (is_word(code_[end]) || code_[end] == '.' || code_[end] == '\'' ||
              ((code_[end] == '-' || code_[end] == '+') && code_[end - 1] == 'e')))
        ++end;
      const std::string digits = code_.substr(at, end - at);
      if (digits.find_first_of("xX") != std::string::npos) continue;
      if (digits.find_first_not_of("0123456789") == std::string::npos && digits.size() < 18) {
        const long long value = std::stoll(digits);
        add(at, end - at, "constant", std::to_string(value + 1));
        if (value > 0) add(at, end - at, "constant", std::to_string(value - 1));
      } else if (digits.find_first_of(".e") != std::string::npos) {
        add(at, end - at, "constant", "(2 * " + digits + " + (" + digits + " == 0))");
      }
      at = end;
    }
  }

  void words() {
    for (const auto& [from, to] : {std::pair{"std::min", "std::max"}, {"std::max", "std::min"}}) {
      for (std::size_t at = code_.find(from); at != std::string::npos;
           at = code_.find(from, at + 1))
        if (std::string_view("(<_").find(code_[at + 8]) != std::string_view::npos)
          add(at, 8, "extreme", to);
    }
    for (const char* word : {" continue;", " break;"}) {
      for (std::size_t at = code_.find(word); at != std::string::npos;
           at = code_.find(word, at + 1))
        add(at + 1, std::string_view(word).size() - 1, "statement", ";");
    }
  }

  void returns() {
    constexpr std::string_view kReturn = "return ";
    for (std::size_t at = code_.find(kReturn); at != std::string::npos;
         at = code_.find(kReturn, at + 1)) {
      if (at > 0 && is_word(code_[at - 1])) continue;
      const std::size_t begin = at + kReturn.size();
      const std::size_t end = code_.find(';', begin);
      const std::string_view what = text_.substr(begin, end - begin);
      if (what.find('{') != std::string_view::npos) continue;
      if (what == "true" || what == "false") {
        add(begin, what.size(), "return", what == "true" ? "false" : "true");
      } else {
        add(begin, what.size(), "return", "{}");
      }
    }
  }

  /// Calls, assignments and throws that stand alone on their line.
  void statements() {
    static const std::regex shape(
        R"(^(throw\b[^{}]*|[a-z_][\w:.\[\]]*(->[\w.\[\]]+)*(\([^;{}]*\)| [-+*/|&^%]?= [^;{}]*)|(\+\+|--)[\w.\[\]]+)$)");
    static const std::regex other(R"(^(if|for|while|switch|return|static_assert|case|else)\b)");
    char before = ';';
    std::size_t at = 0;
    while (at < code_.size()) {
      if (is_blank(code_[at])) {
        ++at;
        continue;
      }
      const bool begins = before == ';' || before == '{' || before == '}' || before == ')';
      const bool own_line = at > 0 &&
                            text_.find_last_not_of(' ', at - 1) != std::string_view::npos &&
                            text_[text_.find_last_not_of(' ', at - 1)] == '\n';
      const std::size_t end = code_.find(';', at);
      if (begins && own_line && end != std::string::npos) {
        const std::string what = code_.substr(at, end - at);
        if (what.size() < 400 && !std::regex_search(what, other) && std::regex_match(what, shape))
          add(at, end - at, "statement", "");
      }
      const std::size_t line_end = std::min(code_.find('\n', at), code_.size());
      before = code_[code_.find_last_not_of(' ', line_end - 1)];
      at = line_end + 1;
    }
  }

  const std::string& file_;
  std::string_view text_;
  std::string code_;
  std::vector<Mutant> found_;
};

}  // namespace

std::string code_only(std::string_view text) {
  std::string code(text);
  const auto blank = [&code](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, code.size()); ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text.substr(at, 2) == "//") {
      end = std::min(text.find('\n', at), text.size());
      blank(at, end);
    } else if (text.substr(at, 2) == "/*") {
      end = std::min(text.find("*/", at), text.size() - 2) + 2;
      blank(at, end);
    } else if (text[at] == '#' && (at == 0 || text[at - 1] == '\n')) {
      do end = std::min(text.find('\n', end), text.size() - 1) + 1;
      while (end >= 2 && text[end - 2] == '\\' && end < text.size());
      blank(at, end);
    } else if (text[at] == '"' ||
               (text[at] == '\'' && at > 0 && !is_digit(text[at - 1]))) {  // not 1'000
      end = end_of_literal(text, at);
      for (std::size_t i = at + 1; i + 1 < end; ++i) code[i] = '_';
    }
    at = end;
  }
  return code;
}

std::vector<Mutant> find_mutants(const std::string& file, std::string_view text) {
  return Finder(file, text).all();
}

std::string apply(std::string text, const Mutant& mutant) {
  return text.replace(mutant.at, mutant.length, mutant.to);
}

}  // namespace sonde::mutation
