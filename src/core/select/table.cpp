#include "select/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "select/case.hpp"

namespace quadrille {

namespace {

constexpr std::string_view header = "# quadrille table 1";
constexpr std::string_view spaces = " \t\r";
constexpr std::string_view native = "native";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(spaces)));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

// Takes the first word off.
std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(spaces));
  text.remove_prefix(word.size());
  return word;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

bool same_place(const Section& a, const Section& b) {
  return a.mpi == b.mpi && a.ranks == b.ranks && a.nodes == b.nodes;
}

class Parser {
 public:
  // Without a place for complaints it throws the first.
  explicit Parser(const std::string& file, std::vector<std::string>* complaints = nullptr)
      : file_(file), complaints_(complaints) {}

  Table table(std::string_view text) {
    while (!text.empty()) {
      const std::string_view whole = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), whole.size() + 1));
      ++number_;
      try {
        line(trimmed(whole));
      } catch (const std::invalid_argument& error) {
        if (!complaints_ || number_ == 1) throw;
        complaints_->emplace_back(error.what());
      }
    }
    return std::move(table_);
  }

 private:
  [[noreturn]] void expected(std::string_view what) const {
    throw std::invalid_argument(fmt::format("{}:{}: expected {}", file_, number_, what));
  }

  void line(std::string_view text) {
    if (number_ == 1) {
      if (text != header) expected(fmt::format("'{}', the first line of such a file", header));
    } else if (text.starts_with('#')) {
      (table_.sections.empty() ? table_.comments : table_.sections.back().comments)
          .emplace_back(trimmed(text.substr(1)));
    } else if (text.starts_with('[')) {
      head(text);
    } else if (!text.empty()) {
      rule(text);
    }
  }

  // The number in front of a unit, which is taken off the end of the text with the comma before it.
  template <class Number>
  Number counted(std::string_view& text, std::string_view unit) const {
    const std::size_t comma = text.rfind(',');
    std::string_view last = trimmed(text.substr(comma == std::string_view::npos ? text.size() : comma + 1));
    const auto value = number_in<Number>(next_word(last));
    const std::string_view word = trimmed(last);
    const bool named = word == unit || word == unit.substr(0, unit.size() - 1);
    if (!value || *value < 1 || !named) expected("[MPI and its version, N ranks, N nodes]");
    text = text.substr(0, comma);
    return *value;
  }

  void head(std::string_view text) {
    placed_ = false;
    if (!text.ends_with(']')) expected("a ']' at the end");
    text = text.substr(1, text.size() - 2);
    Section section;
    section.nodes = counted<std::int32_t>(text, "nodes");
    section.ranks = counted<Rank>(text, "ranks");
    section.mpi = trimmed(text);
    if (section.mpi.empty()) expected("the name of an MPI and its version");
    table_.sections.push_back(std::move(section));
    placed_ = true;
  }

  void rule(std::string_view text) {
    if (!placed_) expected("[MPI and its version, N ranks, N nodes] before the first rule");
    Section::Line line;
    Rule& rule = line.rule;
    if (const std::size_t comment = text.find('#'); comment != std::string_view::npos) {
      line.note = trimmed(text.substr(comment + 1));
      text = text.substr(0, comment);
    }
    const auto collective = collective_named(next_word(text));
    if (!collective) expected("a collective that 'quadrille list' shows");
    rule.collective = *collective;
    if (!sizes_are_known(*collective)) {
      expected(fmt::format("another collective: not all ranks know the size of {}", name(*collective)));
    }
    sizes(next_word(text), rule);
    algorithm(next_word(text), rule);
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text))
      more(word, next_word(text), line);
    refuse_overlap(rule);
    table_.sections.back().lines.push_back(std::move(line));
  }

  void sizes(std::string_view word, Rule& rule) const {
    const std::size_t dash = word.find('-');
    const auto from = number_in<std::int64_t>(word.substr(0, dash));
    const auto to = dash == std::string_view::npos ? from : number_in<std::int64_t>(word.substr(dash + 1));
    if (!from || !to || *from > *to) expected("bytes behind the collective, as 8 or 4096-65536");
    rule.from = *from;
    rule.to = *to;
  }

  // A word behind the algorithm, and its value.
  void more(std::string_view word, std::string_view value, Section::Line& line) const {
    if (word == "segment") {
      const auto segment = number_in<std::int64_t>(value);
      if (!line.rule.variant || !segment || *segment < 1) expected("'segment' and its bytes behind the algorithm");
      line.rule.variant.segment = *segment;
    } else if (word == "seconds" || word == native) {
      const auto seconds = number_in<double>(value);
      if (!seconds || !std::isfinite(*seconds)) expected(fmt::format("a number of seconds behind '{}'", word));
      (word == native ? line.native_seconds : line.seconds) = *seconds;
    } else if (word == "calls") {
      const auto calls = number_in<std::int64_t>(value);
      if (!calls) expected("a number behind 'calls'");
      line.calls = *calls;
    } else if (word == "when") {
      if (!is_time(value)) expected("a time behind 'when', as 2026-11-15T12:00:00Z");
      line.when = value;
    } else {
      expected("'segment', 'seconds', 'native', 'calls' or 'when' behind the algorithm, or nothing more");
    }
  }

  void algorithm(std::string_view word, Rule& rule) const {
    if (word == native) return;
    rule.variant = variant_named(rule.collective, word);
    if (!rule.variant) expected(fmt::format("an algorithm of {} that 'quadrille list' shows", name(rule.collective)));
    const std::string why = refusal(rule.variant.algorithm(), {.width = rule.variant.width});
    if (rule.variant.width != 0 && !why.empty()) expected(fmt::format("another number: {}", why));
  }

  void refuse_overlap(const Rule& rule) {
    const Section& here = table_.sections.back();
    std::map<std::int64_t, std::int64_t>& ends =
        taken_[{here.mpi, here.ranks, here.nodes, static_cast<int>(rule.collective)}];
    const auto above = ends.upper_bound(rule.to);
    if (above != ends.begin() && std::prev(above)->second >= rule.from) {
      const auto& [from, to] = *std::prev(above);
      expected(fmt::format("sizes that no rule above has: {}-{} bytes have one", from, to));
    }
    ends.emplace(rule.from, rule.to);
  }

  // The collective by number: its type would make the library export what std::map is made of.
  using Place = std::tuple<std::string, Rank, std::int32_t, int>;

  const std::string& file_;
  std::vector<std::string>* complaints_;
  int number_ = 0;
  Table table_;
  bool placed_ = false;                                          // a section has begun
  std::map<Place, std::map<std::int64_t, std::int64_t>> taken_;  // the sizes that have rules: from, to
};

// Comments may be anything, as the words of a command line are.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return text;
}

std::string to_text(const Section::Line& line_of_rule) {
  const Rule& rule = line_of_rule.rule;
  const std::string sizes =
      rule.from == rule.to ? fmt::format("{}", rule.from) : fmt::format("{}-{}", rule.from, rule.to);
  std::string line = fmt::format("{:<20}  {:<15}  {}", name(rule.collective), sizes, name_of(rule));
  if (rule.variant.segment > 0) line += fmt::format("  segment {}", rule.variant.segment);
  if (line_of_rule.seconds > 0) line += fmt::format("  seconds {:.4g}", line_of_rule.seconds);
  if (line_of_rule.native_seconds > 0) line += fmt::format("  native {:.4g}", line_of_rule.native_seconds);
  if (line_of_rule.calls > 0) line += fmt::format("  calls {}", line_of_rule.calls);
  if (is_time(line_of_rule.when)) line += fmt::format("  when {}", line_of_rule.when);
  if (!line_of_rule.note.empty()) line += fmt::format("  # {}", in_one_line(line_of_rule.note));
  return line + "\n";
}

}  // namespace

std::string to_text(const Table& table) {
  std::string text = fmt::format("{}\n", header);
  for (const std::string& comment : table.comments) text += fmt::format("# {}\n", in_one_line(comment));
  for (const Section& section : table.sections) {
    text += fmt::format("\n[{}, {} ranks, {} nodes]\n", in_one_line(section.mpi), section.ranks, section.nodes);
    for (const std::string& comment : section.comments) text += fmt::format("# {}\n", in_one_line(comment));
    for (const Section::Line& line : section.lines) text += to_text(line);
  }
  return text;
}

std::string name_of(const Rule& rule) {
  return rule.variant ? name_of(rule.variant) : std::string(native);
}

bool is_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  return std::equal(text.begin(), text.end(), form.begin(), form.end(),
                    [](char one, char wanted) { return wanted == 'd' ? one >= '0' && one <= '9' : one == wanted; });
}

Table parse_table(std::string_view text, const std::string& file) {
  return Parser(file).table(text);
}

Table parse_table(std::string_view text, const std::string& file, std::vector<std::string>& complaints) {
  return Parser(file, &complaints).table(text);
}

Table read_table(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (in && in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  // A folder can be opened, but not read.
  if (!in.is_open() || in.bad()) throw std::invalid_argument(fmt::format("{}: can't read it", file));
  return parse_table(text.str(), file);
}

void put(Table& table, Section section, std::span<const Collective> measured) {
  for (Section& old : table.sections) {
    if (!same_place(old, section)) continue;
    std::erase_if(old.lines, [&](const Section::Line& line) {
      return std::find(measured.begin(), measured.end(), line.rule.collective) != measured.end();
    });
  }
  std::erase_if(table.sections, [&](const Section& old) { return same_place(old, section) && old.lines.empty(); });
  table.sections.push_back(std::move(section));
}

}  // namespace quadrille
