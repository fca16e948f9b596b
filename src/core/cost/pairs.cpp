#include "cost/pairs.hpp"

#include <algorithm>
#include <tuple>

namespace quadrille::cost {

namespace {

std::size_t place(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

void limit(double& rate, double by) {
  if (by > 0 && (rate == 0 || by < rate)) rate = by;
}

}  // namespace

std::optional<std::int32_t> Pairs::node_named(std::string_view name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Link& node) { return node.name == name; });
  if (found == nodes.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - nodes.begin());
}

bool Pairs::same_rack(std::int32_t one, std::int32_t other) const {
  return racks.empty() || nodes[place(one)].rack == nodes[place(other)].rack;
}

const Pairs::Measured* Pairs::find(std::int32_t from, std::int32_t to) const {
  const auto found =
      std::lower_bound(measured.begin(), measured.end(), std::tuple(from, to),
                       [](const Measured& one, const auto& wanted) { return std::tuple(one.from, one.to) < wanted; });
  return found != measured.end() && found->from == from && found->to == to ? &*found : nullptr;
}

Between Pairs::usual(std::int32_t from, std::int32_t to) const {
  const bool near = same_rack(from, to);
  const auto level = levels.find(from == to ? "node" : near ? "network" : "rack");
  Between expected = level == levels.end() ? Between{} : level->second;
  if (from == to) return expected;
  const Link& sender = nodes[place(from)];
  const Link& receiver = nodes[place(to)];
  limit(expected.rate, sender.sends);
  limit(expected.rate, receiver.receives);
  if (near) return expected;
  limit(expected.rate, racks[place(sender.rack)].sends);
  limit(expected.rate, racks[place(receiver.rack)].receives);
  return expected;
}

Between Pairs::between(std::int32_t from, std::int32_t to) const {
  const Measured* const known = find(from, to);
  return known ? known->found : usual(from, to);
}

}  // namespace quadrille::cost
