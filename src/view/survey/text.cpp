#include <fmt/format.h>

#include <algorithm>

#include "survey/survey.hpp"

namespace quadrille::survey {

namespace {

std::string counted(Rank number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string members_of(const Survey& survey, std::span<const Rank> members) {
  return fmt::format("{}{} {}", survey.of_ranks ? "rank" : "core", members.size() == 1 ? "" : "s",
                     abbreviated(members));
}

// Whether there is one rank on each.
bool one_each(const std::vector<Domain>& domains) {
  return std::all_of(domains.begin(), domains.end(), [&](const Domain& one) {
    return one.level > Level::node && one.level == domains.front().level && one.members.size() == 1;
  });
}

// " on cores 0-3", in the order of the ranks.
std::string places_of(const std::vector<Domain>& domains) {
  std::vector<Rank> numbers;
  for (const Domain& domain : domains) numbers.push_back(std::stoi(domain.name));
  return fmt::format(" on {}s {}", name(domains.front().level), abbreviated(numbers));
}

void add_lines(const Survey& survey, const std::vector<Domain>& domains, std::size_t depth, std::string& text) {
  for (const Domain& domain : domains) {
    text += std::string(2 * depth, ' ') + domain.title();
    if (!domain.members.empty()) text += ": " + members_of(survey, domain.members);
    const bool brief = !domain.inside.empty() && one_each(domain.inside);
    if (brief) text += places_of(domain.inside);
    text += '\n';
    if (!brief) add_lines(survey, domain.inside, depth + 1, text);
  }
}

}  // namespace

std::string abbreviated(std::span<const Rank> ranks) {
  std::string text;
  for (std::size_t begin = 0; begin < ranks.size();) {
    // A run with a constant stride.
    std::size_t end = std::min(begin + 2, ranks.size());
    const Rank stride = end - begin == 2 ? ranks[begin + 1] - ranks[begin] : 0;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == stride) ++end;
    const std::size_t count = end - begin;
    if (!text.empty()) text += ',';
    if (stride == 1 && count > 1) {
      text += fmt::format("{}-{}", ranks[begin], ranks[end - 1]);
    } else if (stride != 0 && count > 3) {
      text += fmt::format("{},{},...,{}", ranks[begin], ranks[begin + 1], ranks[end - 1]);
    } else {
      text += std::to_string(ranks[begin]);
      end = begin + 1;
    }
    begin = end;
  }
  return text;
}

std::string heading(const Survey& survey) {
  if (!survey.of_ranks) {
    return survey.parts_known ? fmt::format("this machine, {}", counted(survey.members, "core")) : "this machine";
  }
  std::string text =
      fmt::format("{} on {}", counted(survey.members, "rank"), counted(survey.count(Level::node), "node"));
  if (const Rank racks = survey.count(Level::rack); racks > 0) text += fmt::format(" in {}", counted(racks, "rack"));
  return text;
}

std::vector<std::string> remarks(const Survey& survey) {
  std::vector<std::string> all;
  if (survey.shared_memory) {
    all.push_back(*survey.shared_memory ? "ranks of a node share memory" : "ranks of a node share no memory");
  }
  if (!survey.parts_known) {
    all.push_back("the inside of nodes is unknown: hwloc is missing or failed");
  } else if (!survey.unbound.empty()) {
    all.push_back(survey.unbound.size() == static_cast<std::size_t>(survey.members)
                      ? "no rank is bound to a core"
                      : fmt::format("{} not bound to a core", members_of(survey, survey.unbound)));
  }
  return all;
}

std::string to_text(const Survey& survey) {
  std::string text = heading(survey);
  for (const std::string& remark : remarks(survey)) text += "; " + remark;
  text += '\n';
  add_lines(survey, survey.domains, 0, text);
  std::vector<std::string> leaders;
  for (const Layer& layer : survey.layers) {
    leaders.push_back(fmt::format("{}s {}", name(layer.level), abbreviated(layer.leaders)));
  }
  if (!leaders.empty()) text += fmt::format("leaders for root 0: {}\n", fmt::join(leaders, "; "));
  return text;
}

}  // namespace quadrille::survey
