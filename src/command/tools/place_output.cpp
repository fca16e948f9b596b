#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "breakdown/breakdown.hpp"
#include "hosts/launch_files.hpp"
#include "text/quantities.hpp"
#include "tools/place.hpp"

namespace quadrille::tools {

namespace {

using placement::index;

// By host, in rank order.
std::vector<std::vector<Rank>> ranks_of_hosts(const Placed& placed, const placement::Placement& placement) {
  std::vector<std::vector<Rank>> ranks(placed.field.hosts.size());
  for (std::size_t rank = 0; rank < placement.size(); ++rank) {
    ranks[index(placed.field.ground.node_of[index(placement[rank])])].push_back(static_cast<Rank>(rank));
  }
  return ranks;
}

// "4 nodes of 4 slots", "3 nodes of 8 slots in all".
std::string extent_of(const Field& field) {
  std::set<int> sizes;
  std::size_t nodes = 0;
  for (const hosts::Host& host : field.hosts) {
    if (host.slots == 0) continue;
    sizes.insert(host.slots);
    ++nodes;
  }
  const std::string slots = sizes.size() == 1 ? fmt::format("{} slot{}", *sizes.begin(), *sizes.begin() == 1 ? "" : "s")
                                              : fmt::format("{} slots in all", text::count(field.ground.slots()));
  return fmt::format("{} node{} of {}", text::count(static_cast<std::int64_t>(nodes)), nodes == 1 ? "" : "s", slots);
}

std::string name_of_source(const graph::Source& source) {
  return source.policy.empty() ? source.title : fmt::format("{} by {}", source.title, source.policy);
}

std::string verdict(const Placed& placed) {
  if (!placed.gains()) return "no gain: keep your order\n";
  return fmt::format("{} takes {} instead of {}: {} less\n", placed.best.method, text::seconds(placed.best.seconds),
                     text::seconds(placed.today.seconds), text::share(placed.gain()));
}

std::string host_list(const Field& field) {
  std::string list;
  for (const hosts::Host& host : field.hosts) {
    if (host.slots > 0) list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host.name, host.slots);
  }
  return list;
}

graph::Graph graph_placed(const Placed& placed, const placement::Placement& placement) {
  graph::Decomposed all = placed.source.sent(placed.field.ground.places(placement));
  for (const graph::Graph& one : all.phases) all.messages.add(one);
  return all.messages;
}

breakdown::Placed picture_of(const Placed& placed, const char* when, const placement::Candidate& one) {
  std::vector<std::int32_t> node_of;
  for (const std::int32_t slot : one.placement) node_of.push_back(placed.field.ground.node_of[index(slot)]);
  return {fmt::format("{}: {}", when, one.method), graph_placed(placed, one.placement), std::move(node_of)};
}

}  // namespace

const std::vector<std::string>& placing_launchers() {
  static const std::vector<std::string> all = {"openmpi", "openmpi-5", "slurm", "mpich", "cluster"};
  return all;
}

LaunchFile launch_file(const Placed& placed, const PlacingArguments& arguments, const std::string& launcher,
                       const std::string& file, bool on_cores) {
  const std::vector<std::string> hosts = placed.field.hosts_of(placed.best.placement);
  const std::string ranks = std::to_string(hosts.size());
  if (launcher == "slurm") {
    return {hosts::one_a_line(hosts),
            {"SLURM_HOSTFILE=" + file, "srun", "--ntasks=" + ranks, "--distribution=arbitrary"},
            ""};
  }
  if (launcher == "cluster") {
    std::vector<std::string> line = {"quadrille", "cluster", "run"};
    if (!arguments.cluster.empty()) line.insert(line.end(), {"--name", arguments.cluster});
    line.insert(line.end(), {"--map", file, "--"});
    return {hosts::one_a_line(hosts), line, ""};
  }
  if (launcher == "mpich") {
    const hosts::HydraHosts made = hosts::hydra_hosts(hosts);
    std::string remark;
    if (made.listed_again) {
      remark = fmt::format(
          "MPICH's launcher puts every rank where it belongs, but MPICH takes each line of the file for a node of its "
          "own: {} from rank {} on for another one. MPI_Comm_split_type groups ranks by line",
          hosts[index(*made.listed_again)], *made.listed_again);
    }
    return {made.text, {"mpiexec", "-n", ranks, "-f", file}, remark};
  }
  const bool is_file = !arguments.hosts.empty() && hosts::numbered_hosts(arguments.hosts).empty();
  std::vector<std::string> line = {"mpirun", "-n", ranks};
  line.insert(line.end(), {is_file ? "--hostfile" : "--host", is_file ? arguments.hosts : host_list(placed.field)});
  if (launcher == "openmpi") line.insert(line.end(), {"--rankfile", file});
  if (launcher == "openmpi-5") {
    line.insert(line.end(), {"--map-by", "rankfile:file=" + file});
    // It takes slot=* for the first core.
    if (!on_cores) line.insert(line.end(), {"--bind-to", "none"});
  }
  return {hosts::rankfile(hosts, on_cores), line, ""};
}

std::string placed_as_text(const Placed& placed) {
  std::string text = fmt::format("{}: {} ranks on {}\nby {}\n", name_of_source(placed.source),
                                 text::count(placed.source.ranks), extent_of(placed.field), placed.field.machine);
  for (const graph::Omitted& one : placed.source.sent({}).omitted) {
    text += fmt::format("left out: {} calls of {}: {}\n", text::count(one.calls), one.collective, one.why);
  }
  text += fmt::format("\n{:<10}{:>12}  {}\n", "method", "predicted", "times today's");
  std::set<std::string_view> seen;
  for (const placement::Candidate& one : placed.candidates) {
    if (!seen.insert(one.method).second) continue;
    text += fmt::format("{:<10}{:>12}  {:.2f}{}\n", one.method, text::seconds(one.seconds),
                        placed.today.seconds > 0 ? one.seconds / placed.today.seconds : 1,
                        one.method == placed.today.method ? "  today" : "");
  }
  text += "\n" + verdict(placed);
  const std::vector<std::vector<Rank>> ranks = ranks_of_hosts(placed, placed.best.placement);
  for (std::size_t host = 0; host < ranks.size(); ++host) {
    text += fmt::format("  {}:", placed.field.hosts[host].name);
    for (const Rank rank : ranks[host]) text += fmt::format(" {}", rank);
    text += ranks[host].empty() ? " none\n" : "\n";
  }
  return text;
}

std::string placed_as_json(const Placed& placed) {
  nlohmann::ordered_json json = {{"format", "quadrille placement 1"}, {"of", placed.source.title},
                                 {"policy", placed.source.policy},    {"machine", placed.field.machine},
                                 {"ranks", placed.source.ranks},      {"today", placed.today.method},
                                 {"chosen", placed.best.method},      {"gain", placed.gains() ? placed.gain() : 0}};
  const auto list = [&](const char* name) -> nlohmann::ordered_json& {
    return json[name] = nlohmann::ordered_json::array();
  };
  auto& nodes = list("nodes");
  const std::vector<std::vector<Rank>> ranks = ranks_of_hosts(placed, placed.best.placement);
  for (std::size_t host = 0; host < ranks.size(); ++host) {
    const hosts::Host& one = placed.field.hosts[host];
    nodes.push_back({{"host", one.name}, {"slots", one.slots}, {"ranks", ranks[host]}});
  }
  auto& candidates = list("candidates");
  std::set<std::string_view> seen;
  for (const placement::Candidate& one : placed.candidates) {
    if (!seen.insert(one.method).second) continue;
    candidates.push_back(
        {{"method", one.method}, {"seconds", one.seconds}, {"hosts", placed.field.hosts_of(one.placement)}});
  }
  auto& left_out = list("left_out");
  for (const graph::Omitted& one : placed.source.sent({}).omitted) {
    left_out.push_back({{"collective", one.collective}, {"calls", one.calls}, {"why", one.why}});
  }
  return json.dump(2) + "\n";
}

std::string placed_as_svg(const Placed& placed) {
  const auto nodes = static_cast<std::int32_t>(placed.field.hosts.size());
  std::vector<breakdown::Placed> maps = {picture_of(placed, "today", placed.today)};
  if (placed.gains()) maps.push_back(picture_of(placed, "placed", placed.best));
  return breakdown::heat_maps_of_nodes(maps, nodes);
}

}  // namespace quadrille::tools
