#include "tools/placing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cluster/machine.hpp"
#include "cluster/state.hpp"
#include "hosts/launch_files.hpp"
#include "partition/scotch.hpp"
#include "placement/phases.hpp"
#include "settings/racks.hpp"
#include "settings/settings.hpp"

namespace quadrille::tools {

namespace {

using placement::Candidate;
using placement::index;
using placement::Mapping;

std::string text_of_file(const std::string& option, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("{}: can't read '{}'", option, path));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int32_t number_of_host(const std::vector<hosts::Host>& all, const std::string& option, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const hosts::Host& one) { return hosts::same_host(one.name, name); });
  if (found != all.end()) return static_cast<std::int32_t>(found - all.begin());
  std::string known;
  for (const hosts::Host& one : all) known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
  throw std::invalid_argument(fmt::format("{}: '{}' is none of the hosts: {}", option, name, known));
}

// "3=node1" in two.
std::pair<std::string, std::string> assignment(const std::string& option, const std::string& text,
                                               const char* example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw std::invalid_argument(fmt::format("{}: '{}': expected as {}", option, text, example));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number number = {};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

Field field_of_cluster(const cluster::Options& options) {
  Field field;
  for (int node = 0; node < options.nodes; ++node) {
    field.hosts.push_back({cluster::node_name(node), options.slots});
    field.ground.rack_of.push_back(options.racks > 0 ? cluster::rack_of(options, node) : 0);
    field.ground.slower.push_back(static_cast<double>(options.rate) /
                                  static_cast<double>(cluster::rate_of(options, node)));
  }
  return field;
}

std::vector<std::int32_t> racks_of(const std::vector<hosts::Host>& all, const std::string& option) {
  const std::string path = option.empty() ? std::string(setting("QUADRILLE_RACKS")) : option;
  std::vector<std::int32_t> rack_of(all.size());
  if (path.empty()) return rack_of;
  const std::vector<Rack> racks = read_racks(path);
  for (std::size_t host = 0; host < all.size(); ++host) {
    const auto has = [&](const Rack& rack) {
      return std::any_of(rack.hosts.begin(), rack.hosts.end(),
                         [&](const std::string& name) { return hosts::same_host(name, all[host].name); });
    };
    const auto rack = std::find_if(racks.begin(), racks.end(), has);
    if (rack == racks.end()) {
      throw std::invalid_argument(fmt::format("{}: {} is in none of the racks: add it", path, all[host].name));
    }
    rack_of[host] = static_cast<std::int32_t>(rack - racks.begin());
  }
  return rack_of;
}

Field field_of(const PlacingArguments& arguments) {
  Field field;
  if (!arguments.cluster.empty()) {
    const cluster::Options options = cluster::require_state(arguments.cluster).options;
    field = field_of_cluster(options);
    field.machine_file = cluster::machine_file(options, "openmpi");
  } else if (!arguments.hosts.empty()) {
    field.hosts = hosts_named(arguments.hosts);
    field.ground.rack_of = racks_of(field.hosts, arguments.racks);
    field.ground.slower.assign(field.hosts.size(), 1);
  } else {
    throw std::invalid_argument("--hosts: where may ranks run? Give a host file, or nodes and slots as 16x4");
  }
  if (!arguments.source.machine.empty()) field.machine_file = arguments.source.machine;
  const cost::Machine machine = machine_named(field.machine_file);
  field.machine = machine.from;
  field.ground.model = machine.model;
  for (const std::string& text : arguments.slow) {
    const auto [host, factor] = assignment("--slow", text, "node2=4");
    const auto times = number_in<double>(factor);
    if (!times || !std::isfinite(*times) || *times <= 0)
      throw std::invalid_argument(fmt::format("--slow: '{}': expected as node2=4", text));
    field.ground.slower[index(number_of_host(field.hosts, "--slow", host))] = *times;
  }
  std::vector<bool> forbidden(field.hosts.size());
  for (const std::string& host : arguments.without)
    forbidden[index(number_of_host(field.hosts, "--without", host))] = true;
  for (std::size_t host = 0; host < field.hosts.size(); ++host) {
    if (forbidden[host]) field.hosts[host].slots = 0;
    field.ground.node_of.insert(field.ground.node_of.end(), static_cast<std::size_t>(field.hosts[host].slots),
                                static_cast<std::int32_t>(host));
  }
  return field;
}

// Gives each rank a free slot of its host.
class Slots {
 public:
  explicit Slots(const Field& field) : field_(field) {
    std::int32_t slot = 0;
    for (const hosts::Host& host : field.hosts) {
      next_.push_back(slot);
      slot += host.slots;
      end_.push_back(slot);
    }
  }
  std::int32_t take(const std::string& option, const std::string& host) {
    const std::size_t node = index(number_of_host(field_.hosts, option, host));
    if (next_[node] == end_[node]) {
      throw std::invalid_argument(
          fmt::format("{}: more ranks on {} than its {} slots", option, host, field_.hosts[node].slots));
    }
    return next_[node]++;
  }

 private:
  const Field& field_;
  std::vector<std::int32_t> next_;
  std::vector<std::int32_t> end_;
};

std::vector<std::int32_t> fixed_slots(const PlacingArguments& arguments, const Field& field, Rank ranks) {
  if (arguments.fixed.empty()) return {};
  std::vector<std::int32_t> fixed(index(ranks), -1);
  Slots slots(field);
  for (const std::string& text : arguments.fixed) {
    const auto [rank, host] = assignment("--fix", text, "0=node3");
    const auto number = number_in<Rank>(rank);
    if (!number || *number < 0 || *number >= ranks) {
      throw std::invalid_argument(fmt::format("--fix: '{}': expected a rank from 0 to {}", text, ranks - 1));
    }
    if (fixed[index(*number)] >= 0) throw std::invalid_argument(fmt::format("--fix: rank {} is fixed twice", rank));
    fixed[index(*number)] = slots.take("--fix", host);
  }
  return fixed;
}

placement::Placement placement_today(const PlacingArguments& arguments, const Field& field, Rank ranks) {
  if (arguments.from.empty()) return {};
  Slots slots(field);
  placement::Placement placement;
  for (const std::string& host : hosts::hosts_of_ranks(text_of_file("--from", arguments.from), arguments.from, ranks)) {
    placement.push_back(slots.take("--from", host));
  }
  return placement;
}

bool keeps_fixed(const Mapping& mapping, const placement::Placement& placement) {
  const auto& node_of = mapping.ground.node_of;
  for (std::size_t rank = 0; rank < mapping.fixed.size(); ++rank) {
    const std::int32_t slot = mapping.fixed[rank];
    if (slot >= 0 && node_of[index(slot)] != node_of[index(placement[rank])]) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> Field::hosts_of(const placement::Placement& placement) const {
  std::vector<std::string> names;
  for (const std::int32_t slot : placement) names.push_back(host(slot));
  return names;
}

std::vector<hosts::Host> hosts_named(const std::string& text) {
  const std::vector<hosts::Host> numbered = hosts::numbered_hosts(text);
  return numbered.empty() ? hosts::parse_hosts(text_of_file("--hosts", text), text) : numbered;
}

Placed place(const PlacingArguments& arguments) {
  Placed placed{.source = {}, .field = field_of(arguments), .candidates = {}, .today = {}, .best = {}};
  SourceArguments source = arguments.source;
  source.machine = placed.field.machine_file;
  for (const hosts::Host& host : placed.field.hosts) source.cores = std::max(source.cores, host.slots);
  placed.source = source_of(source);
  const Rank ranks = placed.source.ranks;
  const placement::Ground& ground = placed.field.ground;
  if (ground.slots() < ranks) {
    throw std::invalid_argument(
        fmt::format("{} ranks, but only {} slots: give more hosts, or more slots", ranks, ground.slots()));
  }
  Mapping mapping;
  mapping.ground = ground;
  mapping.given = placement_today(arguments, placed.field, ranks);
  mapping.fixed = fixed_slots(arguments, placed.field, ranks);
  mapping.seed = arguments.seed;
  const auto phases_of = [&](const placement::Placement& placement) {
    return placement::phases_of(placed.source.sent(ground.places(placement)));
  };
  mapping.phases = phases_of({});
  mapping.effort = placement::effort_for(mapping.phases);
  mapping.scotch = placement::by_scotch;
  placed.candidates =
      placed.source.knows_nodes ? placement::candidates(mapping, phases_of) : placement::candidates(mapping);
  const auto by_method = [&](std::string_view method) {
    return *std::find_if(placed.candidates.begin(), placed.candidates.end(),
                         [&](const Candidate& one) { return one.method == method; });
  };
  placed.today = by_method(mapping.given.empty() ? "block" : "given");
  placed.best = *std::find_if(placed.candidates.begin(), placed.candidates.end(),
                              [&](const Candidate& one) { return keeps_fixed(mapping, one.placement); });
  const bool may_stay = keeps_fixed(mapping, placed.today.placement);
  if (may_stay && placed.gain() < placement::least_gain) placed.best = placed.today;
  return placed;
}

}  // namespace quadrille::tools
