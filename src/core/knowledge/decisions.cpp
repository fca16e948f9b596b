#include "knowledge/decisions.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace quadrille::knowledge {

namespace {

constexpr std::string_view continued = "        ";

// Takes the text up to the separator, and it, off its front.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return cut(line, ' ');
}

template <class Number>
Number number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::logic_error("decisions: not a number: " + std::string(text));
  }
  return value;
}

}  // namespace

// Names and sizes in turn.
void Decisions::Line::add(std::string_view words) {
  while (true) {
    const std::string_view word = next_word(words);
    if (word.empty()) return;
    names.size() == sizes.size() ? names.push_back(word) : sizes.push_back(number<std::int64_t>(word));
  }
}

Decisions::Line Decisions::line_of(std::string_view words) {
  constexpr Rank all = std::numeric_limits<Rank>::max();
  const std::string_view ranks = next_word(words);
  Line line;
  if (ranks == "rest" || ranks == "pow2") {
    line.to = all;
    line.powers_of_two = ranks == "pow2";
  } else {
    const auto given = number<Rank>(ranks.substr(1));
    if (ranks.front() != '<' && ranks.front() != '=') throw std::logic_error("decisions: not a number of ranks");
    line.from = ranks.front() == '=' ? given : 0;
    line.to = ranks.front() == '=' ? given : given - 1;
  }
  line.add(words);
  return line;
}

Decisions::Decisions(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (line.find_first_not_of(' ') == std::string_view::npos) continue;
    if (line.starts_with(continued) && !parts_.empty() && !parts_.back().lines.empty()) {
      parts_.back().lines.back().add(line);
      continue;
    }
    if (line.front() == ' ') {
      if (parts_.empty()) throw std::logic_error("decisions: no collective before the first line");
      parts_.back().lines.push_back(line_of(line));
      continue;
    }
    const std::string_view name = next_word(line);
    const auto collective = collective_named(std::string(name));
    if (!collective) throw std::logic_error("decisions: unknown collective: " + std::string(name));
    parts_.push_back({*collective, line != "not commutative", {}});
  }
  for (const Part& part : parts_) {
    for (const Line& line : part.lines) {
      const bool complete = line.names.size() == line.sizes.size() + 1;
      if (!complete || !std::is_sorted(line.sizes.begin(), line.sizes.end())) {
        throw std::logic_error("decisions: an algorithm is missing, or sizes are not in order");
      }
    }
  }
}

std::string_view Decisions::find(Collective collective, bool commutative, Rank ranks, std::int64_t bytes) const {
  for (const Part& part : parts_) {
    if (part.collective != collective || part.commutative != commutative) continue;
    for (const Line& line : part.lines) {
      const bool other = line.powers_of_two && !std::has_single_bit(static_cast<std::uint32_t>(ranks));
      if (ranks < line.from || ranks > line.to || other) continue;
      const auto size = std::upper_bound(line.sizes.begin(), line.sizes.end(), bytes);
      return line.names[static_cast<std::size_t>(size - line.sizes.begin())];
    }
  }
  return {};
}

}  // namespace quadrille::knowledge
