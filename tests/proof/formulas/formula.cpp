#include "formulas/formula.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace quadrille::test {

namespace {

class Parser {
 public:
  Parser(std::string_view text, const Given& given) : rest_(text), given_(given) {}

  Evaluated one() {
    Evaluated result;
    result.at_most = skip("at most");
    result.value = sum();
    while (skip(",")) {
      if (skip("for")) {
        result.applies = condition();
        break;
      }
      expect("+");
      const double more = sum();
      const bool unless = skip("unless");
      if (!unless) expect("if");
      if (condition() != unless) result.value += more;
    }
    skip_blanks();
    if (!rest_.empty()) fail("can't be read");
    return result;
  }

 private:
  double sum() {
    double value = product();
    for (;;) {
      if (skip("+")) {
        value += product();
      } else if (skip("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    for (;;) {
      if (skip("/")) {
        value /= factor();
      } else if (at_factor()) {
        value *= factor();
      } else {
        return value;
      }
    }
  }

  bool at_factor() {
    skip_blanks();
    if (rest_.empty() || rest_.starts_with("if ") || rest_.starts_with("unless ")) return false;
    return rest_.front() == '(' || std::isalnum(static_cast<unsigned char>(rest_.front())) != 0;
  }

  double factor() {
    if (!at_factor()) fail("lacks a factor");
    if (skip("(")) {
      const double value = sum();
      expect(")");
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) return number();
    const std::string_view word = rest_.substr(0, word_length());
    rest_.remove_prefix(word.size());
    if (word == "ceil") return std::ceil(factor() - rounding);
    if (word == "floor") return std::floor(factor() + rounding);
    if (word == "log2") return std::log2(factor());
    if (word == "log_k") return std::log2(factor()) / std::log2(value_of("k"));
    return value_of(word);
  }

  double number() {
    int value = 0;
    const auto end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value).ptr;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  double value_of(std::string_view word) const {
    const auto found = given_.values.find(word);
    if (found == given_.values.end()) fail("has an unknown word");
    return found->second;
  }

  bool condition() {
    skip_blanks();
    const std::string_view text = rest_.substr(0, rest_.find(','));
    const auto found = given_.conditions.find(text);
    if (found == given_.conditions.end()) fail("has an unknown condition");
    rest_.remove_prefix(text.size());
    return found->second;
  }

  std::size_t word_length() const {
    std::size_t length = 0;
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (length < rest_.size() && in_word(rest_[length])) ++length;
    return length;
  }

  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool skip(std::string_view text) {
    skip_blanks();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!skip(text)) fail("lacks " + std::string(text));
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(why + " before '" + std::string(rest_) + "'");
  }

  static constexpr double rounding = 1e-9;  // of logarithms

  std::string_view rest_;
  const Given& given_;
};

}  // namespace

Evaluated evaluate(std::string_view formula, const Given& given) {
  constexpr std::string_view other = "; in place ";
  const std::size_t end = formula.find(other);
  const bool second = given.in_place && end != std::string_view::npos;
  return Parser(second ? formula.substr(end + other.size()) : formula.substr(0, end), given).one();
}

}  // namespace quadrille::test
