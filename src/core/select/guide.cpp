#include "select/guide.hpp"

#include <algorithm>

namespace quadrille {

std::vector<PlainRule> rules_under(const Table& table, std::string_view mpi) {
  std::vector<PlainRule> rules;
  for (const Section& section : table.sections) {
    if (section.mpi != mpi) continue;
    for (const Rule& rule : section.rules) {
      rules.push_back({.from = rule.from,
                       .to = rule.to,
                       .segment = rule.segment,
                       .ranks = section.ranks,
                       .nodes = section.nodes,
                       .collective = static_cast<std::int32_t>(rule.collective),
                       .algorithm = place_of(*rule.choice.algorithm),
                       .width = rule.choice.width});
    }
  }
  return rules;
}

Guide::Guide(std::span<const PlainRule> rules, Rank ranks, std::int32_t nodes) {
  for (const PlainRule& rule : rules) {
    if (rule.ranks != ranks || rule.nodes != nodes) continue;
    entries_[static_cast<std::size_t>(rule.collective)].push_back(
        {.from = rule.from,
         .to = rule.to,
         .choice = {catalogue()[static_cast<std::size_t>(rule.algorithm)], rule.width},
         .segment = rule.segment});
  }
  for (std::vector<Entry>& entries : entries_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.from < b.from; });
  }
}

bool Guide::empty() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& entries) { return entries.empty(); });
}

const Guide::Entry* Guide::find(Collective collective, std::int64_t bytes) const {
  const std::vector<Entry>& entries = of(collective);
  const auto above = std::upper_bound(entries.begin(), entries.end(), bytes,
                                      [](std::int64_t value, const Entry& entry) { return value < entry.from; });
  if (above == entries.begin()) return nullptr;
  const Entry& last = *(above - 1);
  return bytes <= last.to ? &last : nullptr;
}

}  // namespace quadrille
