#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille::draw {

// Checks that a text is well-formed XML, for the subset used in drawings: elements, quoted attributes, escaped text.
class XmlCheck {
 public:
  // Empty if nothing is wrong.
  static std::string fault(std::string_view text) { return XmlCheck(text).run(); }

 private:
  explicit XmlCheck(std::string_view text) : rest_(text) {}

  std::string run() {
    while (!rest_.empty()) {
      const std::string_view before = rest_;
      const bool fine = take("</") ? closing_tag() : take("<") ? opening_tag() : plain(rest_.find('<'));
      if (!fine) return "not well-formed: " + std::string(before.substr(0, 100));
    }
    return open_.empty() ? "" : "left open: " + std::string(open_.back());
  }

  bool take(std::string_view start) {
    if (!rest_.starts_with(start)) return false;
    rest_.remove_prefix(start.size());
    return true;
  }

  std::string_view name() {
    std::size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '-')) {
      ++length;
    }
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }

  // Text up to `end`, in which every & begins an escape.
  bool plain(std::size_t end) {
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(text.size());
    for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
      const std::string_view escape = text.substr(at, text.find(';', at) - at);
      if (escape != "&amp" && escape != "&lt" && escape != "&gt" && escape != "&quot") return false;
    }
    return text.find('<') == std::string_view::npos;
  }

  bool closing_tag() {
    if (open_.empty() || name() != open_.back()) return false;
    open_.pop_back();
    return take(">");
  }

  bool opening_tag() {
    const std::string_view tag = name();
    if (tag.empty()) return false;
    while (take(" ")) {
      if (rest_.starts_with("/") || rest_.starts_with(" ")) continue;
      if (name().empty() || !take("=")) return false;
      const char quote = rest_.empty() ? ' ' : rest_.front();
      if (quote != '"' && quote != '\'') return false;
      rest_.remove_prefix(1);
      if (!plain(rest_.find(quote)) || !take(std::string_view(&quote, 1))) return false;
    }
    if (take("/>")) return true;
    open_.push_back(tag);
    return take(">");
  }

  std::string_view rest_;
  std::vector<std::string_view> open_;
};

}  // namespace quadrille::draw
