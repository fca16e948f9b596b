#include <fmt/format.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string_view>

#include "native/rules.hpp"

namespace quadrille::native {

namespace {

// Open MPI's numbers of collectives, the same in all versions that have such files.
int number_of(std::string_view collective) {
  constexpr std::array<std::pair<std::string_view, int>, 8> numbers = {{{"allgather", 0},
                                                                        {"allreduce", 2},
                                                                        {"alltoall", 3},
                                                                        {"barrier", 6},
                                                                        {"bcast", 7},
                                                                        {"reduce", 11},
                                                                        {"reduce_scatter", 12},
                                                                        {"reduce_scatter_block", 13}}};
  for (const auto& [name, number] : numbers) {
    if (name == collective) return number;
  }
  throw std::invalid_argument(fmt::format("Open MPI has no rules for {} that depend on the size", collective));
}

// The size that Open MPI compares: of an allgather that of the result; the benchmark's otherwise, which is that of all
// that a rank sends in alltoall and reduce_scatter.
std::int64_t openmpi_size(const Rule& rule, std::int64_t bytes) {
  if (rule.algorithm.collective == "barrier") return 0;
  return rule.algorithm.collective == "allgather" ? bytes * rule.ranks : bytes;
}

// A rule is in force from its size to the next one's; algorithm 0 is the default.
struct Line {
  std::int64_t from = 0;
  const Rule* rule = nullptr;
};

std::vector<Line> lines_of(const std::vector<const Rule*>& rules) {
  if (rules.front()->algorithm.collective == "barrier") return {{0, rules.front()}};
  std::vector<Line> lines = {{}};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = *rules[i];
    const std::int64_t from = openmpi_size(rule, rule.range.from);
    if (from == lines.back().from) lines.pop_back();
    lines.push_back({from, &rule});
    const bool followed = i + 1 < rules.size() && rules[i + 1]->range.from == rule.range.to + 1;
    if (!followed) lines.push_back({openmpi_size(rule, rule.range.to) + 1, nullptr});
  }
  return lines;
}

std::string text_of(const Line& line) {
  if (!line.rule) return fmt::format("{} 0 0 0\n", line.from);
  const Algorithm& algorithm = line.rule->algorithm;
  return fmt::format("{} {} {} {}  # {}\n", line.from, algorithm.number, chains, algorithm.segment,
                     to_text(*line.rule));
}

std::string section(const std::map<int, std::vector<const Rule*>>& by_ranks) {
  // A rule for so many ranks is in force up to the next number of ranks, and the first one below its number, too.
  std::map<int, std::vector<Line>> sizes = {{0, {{}}}};
  for (const auto& [ranks, rules] : by_ranks) {
    sizes[ranks] = lines_of(rules);
    if (by_ranks.count(ranks + 1) == 0) sizes[ranks + 1] = {{}};
  }
  std::string text = fmt::format("{}  # numbers of ranks\n", sizes.size());
  for (const auto& [ranks, lines] : sizes) {
    text += fmt::format("{}  # from so many ranks\n{}  # sizes: from bytes, algorithm, fan-out, segment\n", ranks,
                        lines.size());
    for (const Line& line : lines) text += text_of(line);
  }
  return text;
}

}  // namespace

std::string openmpi_file(const std::vector<Rule>& rules, const std::vector<std::string>& comments) {
  std::map<std::string, std::map<int, std::vector<const Rule*>>> collectives;
  for (const Rule& rule : rules) collectives[rule.algorithm.collective][rule.ranks].push_back(&rule);
  std::string text;
  for (const std::string& comment : comments) text += fmt::format("# {}\n", comment);
  text += fmt::format("{}  # collectives\n", collectives.size());
  for (const auto& [collective, by_ranks] : collectives) {
    text += fmt::format("{}  # {}\n{}", number_of(collective), collective, section(by_ranks));
  }
  return text;
}

}  // namespace quadrille::native
