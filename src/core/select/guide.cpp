#include "select/guide.hpp"

#include <algorithm>

namespace quadrille {

std::vector<PlacedRule> rules_under(const Table& table, std::string_view mpi) {
  std::vector<PlacedRule> rules;
  for (const Section& section : table.sections) {
    if (section.mpi != mpi) continue;
    for (const Section::Line& line : section.lines) {
      rules.push_back({line.rule, section.ranks, section.nodes, line.seconds, line.native_seconds});
    }
  }
  return rules;
}

Guide::Guide(std::span<const PlacedRule> rules, Rank ranks, std::int32_t nodes) {
  for (const PlacedRule& placed : rules) {
    if (placed.ranks != ranks || placed.nodes != nodes) continue;
    rules_[static_cast<std::size_t>(placed.rule.collective)].push_back(placed.rule);
  }
  for (std::vector<Rule>& of_one : rules_) {
    std::sort(of_one.begin(), of_one.end(), [](const Rule& a, const Rule& b) { return a.from < b.from; });
  }
}

bool Guide::empty() const {
  return std::all_of(rules_.begin(), rules_.end(), [](const auto& rules) { return rules.empty(); });
}

const Rule* Guide::find(Collective collective, std::int64_t bytes) const {
  const std::vector<Rule>& rules = of(collective);
  const auto above = std::upper_bound(rules.begin(), rules.end(), bytes,
                                      [](std::int64_t value, const Rule& rule) { return value < rule.from; });
  if (above == rules.begin()) return nullptr;
  const Rule& last = *(above - 1);
  return bytes <= last.to ? &last : nullptr;
}

}  // namespace quadrille
