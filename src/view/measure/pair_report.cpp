#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "draw/heat_map.hpp"
#include "measure/pair_study.hpp"
#include "text/quantities.hpp"

namespace quadrille::measure {

namespace {

using cost::Pairs;

std::string in_words(const std::string& level) {
  if (level == "network") return "between nodes";
  if (level == "rack") return "between racks";
  if (level == "node") return "inside a node";
  return fmt::format("inside one {}", level);
}

std::string extent(const PairStudy& study, const Pairs& pairs) {
  const std::string racks = pairs.racks.empty() ? "" : fmt::format(" in {} racks", pairs.racks.size());
  return fmt::format("{} nodes{}, {} of {} pairs measured, {} rounds", pairs.nodes.size(), racks,
                     text::count(study.pairs_measured()), text::count(study.pairs()), study.rounds());
}

draw::HeatMap picture(const Pairs& pairs, bool rate) {
  draw::HeatMap map{.title = {},
                    .size = static_cast<int>(pairs.nodes.size()),
                    .cells = {},
                    .unit = rate ? draw::HeatMap::Unit::rate : draw::HeatMap::Unit::seconds,
                    .what = "nodes"};
  for (const Pairs::Link& node : pairs.nodes) map.names.push_back(node.name);
  for (int from = 0; from < map.size; ++from) {
    for (int to = 0; to < map.size; ++to) {
      if (from == to) continue;
      const cost::Between found = pairs.between(from, to);
      map.cells.push_back({from, to, rate ? found.rate : found.latency});
    }
  }
  return map;
}

}  // namespace

std::string to_text(const PairStudy& study) {
  const Pairs pairs = study.result();
  std::string text = extent(study, pairs) + '\n';
  text += fmt::format("{:<20} {:>10} {:>12}\n", "", "latency", "rate");
  for (const auto& [level, usual] : pairs.levels) {
    text +=
        fmt::format("{:<20} {:>10} {:>12}\n", in_words(level), text::seconds(usual.latency), text::rate(usual.rate));
  }
  if (study.ranks_share_cores()) {
    text += "ranks share cores: latencies and what is inside nodes are the scheduler's, and not judged\n";
  }
  constexpr std::size_t most = 20;
  const std::vector<Finding> findings = study.findings();
  for (std::size_t i = 0; i < std::min(most, findings.size()); ++i) text += findings[i].text + '\n';
  if (findings.size() > most) text += fmt::format("and {} more, which --json has\n", findings.size() - most);
  if (findings.empty()) text += "all pairs of a level are alike\n";
  return text;
}

std::string to_json(const PairStudy& study, const std::string& from) {
  const Pairs pairs = study.result();
  nlohmann::ordered_json json = {{"format", "quadrille pairs 1"}, {"from", from},
                                 {"pairs", study.pairs()},        {"measured_pairs", study.pairs_measured()},
                                 {"rounds", study.rounds()},      {"ranks_share_cores", study.ranks_share_cores()}};
  for (const auto& [level, usual] : pairs.levels) {
    json["levels"][level] = {{"latency_us", usual.latency * 1e6}, {"rate_mb_per_s", usual.rate / 1e6}};
  }
  const auto size = static_cast<std::int32_t>(pairs.nodes.size());
  for (std::int32_t sender = 0; sender < size; ++sender) {
    const Pairs::Link& node = pairs.nodes[static_cast<std::size_t>(sender)];
    json["nodes"].push_back(node.name);
    if (!pairs.racks.empty()) json["racks"].push_back(pairs.racks[static_cast<std::size_t>(node.rack)].name);
    nlohmann::ordered_json latencies = nlohmann::ordered_json::array();
    nlohmann::ordered_json rates = nlohmann::ordered_json::array();
    nlohmann::ordered_json measured = nlohmann::ordered_json::array();
    for (std::int32_t receiver = 0; receiver < size; ++receiver) {
      const cost::Between found = sender == receiver ? cost::Between{} : pairs.between(sender, receiver);
      latencies.push_back(found.latency * 1e6);
      rates.push_back(found.rate / 1e6);
      measured.push_back(pairs.find(sender, receiver) != nullptr);
    }
    json["latency_us"].push_back(latencies);
    json["rate_mb_per_s"].push_back(rates);
    json["measured"].push_back(measured);
  }
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& one : study.findings()) {
    json["findings"].push_back({{"kind", name(one.kind)}, {"names", one.names}, {"text", one.text}});
  }
  return json.dump() + "\n";
}

std::string to_svg(const PairStudy& study) {
  const Pairs pairs = study.result();
  draw::HeatMap rates = picture(pairs, true);
  rates.title = {"Rates between nodes", extent(study, pairs)};
  draw::HeatMap latencies = picture(pairs, false);
  latencies.title = {"Latencies between nodes", "of messages of 8 bytes, one way"};
  return draw::heat_maps({rates, latencies});
}

}  // namespace quadrille::measure
