#include "placement/load.hpp"

#include <algorithm>
#include <utility>

namespace quadrille::placement {

Largest::Largest(std::size_t size) : leaves_(size + size % 2), tree_(2 * leaves_), is_touched_(size) {}

void Largest::add(std::size_t at, double more) {
  tree_[leaves_ + at] += more;
  if (is_touched_[at]) return;
  is_touched_[at] = true;
  touched_.push_back(at);
}

void Largest::settle() {
  for (const std::size_t at : touched_) {
    is_touched_[at] = false;
    for (std::size_t inner = (leaves_ + at) / 2; inner >= 1; inner /= 2) {
      const double larger = std::max(tree_[2 * inner], tree_[2 * inner + 1]);
      if (std::exchange(tree_[inner], larger) == larger) break;
    }
  }
  touched_.clear();
}

Load::Load(std::span<const Phase> phases, const Ground& ground, Placement placement)
    : phases_(phases),
      ground_(&ground),
      racks_(ground.racks()),
      placement_(std::move(placement)),
      on_(index(ground.slots()), -1) {
  const std::size_t resources = placement_.size() + 3 * index(ground.nodes()) + 2 * index(racks_);
  busy_.assign(phases.size(), Largest(resources));
  for (std::size_t rank = 0; rank < placement_.size(); ++rank) on_[index(placement_[rank])] = static_cast<Rank>(rank);
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    for (Rank rank = 0; rank < static_cast<Rank>(placement_.size()); ++rank) {
      for (const Graph::Edge& edge : phases[phase].graph.edges(rank)) {
        add(phase, {rank, node(rank)}, {edge.peer, node(edge.peer)}, static_cast<double>(edge.messages_out),
            static_cast<double>(edge.bytes_out));
      }
    }
  }
  settle();
}

void Load::add(std::size_t phase, Ends from, Ends to, double messages, double bytes) {
  const cost::Model& model = ground_->model;
  const std::int32_t rack_from = ground_->rack_of[index(from.node)];
  const std::int32_t rack_to = ground_->rack_of[index(to.node)];
  const bool leaves_node = from.node != to.node;
  const bool leaves_rack = rack_from != rack_to;
  const cost::Link& link = leaves_rack ? model.rack : leaves_node ? model.network : model.node;
  Largest& busy = busy_[phase];
  const auto spend = [&](std::size_t resource, double seconds) {
    busy.add(resource, seconds);
    total_ += phases_[phase].times * seconds;
  };

  const double work = messages * link.overhead + bytes * link.work;
  spend(index(from.rank), work);
  spend(index(to.rank), work + messages * link.latency);
  const std::size_t nodes = placement_.size();
  if (model.cores > 0) {
    const std::size_t cores = nodes + 2 * index(ground_->nodes());
    spend(cores + (model.one_machine ? 0 : index(from.node)), work / model.cores);
    spend(cores + (model.one_machine ? 0 : index(to.node)), work / model.cores);
  }
  if (!leaves_node) return;
  const auto slower = [&](std::int32_t node) { return ground_->slower.empty() ? 1 : ground_->slower[index(node)]; };
  spend(nodes + index(from.node), bytes * model.network.wire * slower(from.node));
  spend(nodes + index(ground_->nodes() + to.node), bytes * model.network.wire * slower(to.node));
  if (!leaves_rack) return;
  const std::size_t racks = nodes + 3 * index(ground_->nodes());
  spend(racks + index(rack_from), bytes * model.rack.wire);
  spend(racks + index(racks_ + rack_to), bytes * model.rack.wire);
}

// Of a rank as if it were on that node; without those to one peer.
void Load::add_edges(Rank rank, std::int32_t node, double sign, Rank except) {
  for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
    for (const Graph::Edge& edge : phases_[phase].graph.edges(rank)) {
      if (edge.peer == except) continue;
      const Ends self{rank, node};
      const Ends peer{edge.peer, this->node(edge.peer)};
      add(phase, self, peer, sign * static_cast<double>(edge.messages_out), sign * static_cast<double>(edge.bytes_out));
      add(phase, peer, self, sign * static_cast<double>(edge.messages_in), sign * static_cast<double>(edge.bytes_in));
    }
  }
}

void Load::swap(std::int32_t one, std::int32_t other) {
  const Rank first = on(one);
  const Rank second = on(other);
  const std::int32_t node_of_one = ground_->node_of[index(one)];
  const std::int32_t node_of_other = ground_->node_of[index(other)];
  const auto add_both = [&](double sign, std::int32_t of_first, std::int32_t of_second) {
    if (first >= 0) add_edges(first, of_first, sign, -1);
    if (second >= 0) add_edges(second, of_second, sign, first);
  };
  if (node_of_one != node_of_other) add_both(-1, node_of_one, node_of_other);
  if (first >= 0) placement_[index(first)] = other;
  if (second >= 0) placement_[index(second)] = one;
  std::swap(on_[index(one)], on_[index(other)]);
  if (node_of_one == node_of_other) return;
  add_both(1, node_of_other, node_of_one);
  settle();
}

std::size_t Load::edges(Rank rank) const {
  std::size_t sum = 0;
  for (const Phase& phase : phases_) sum += phase.graph.edges(rank).size();
  return sum;
}

void Load::settle() {
  seconds_ = 0;
  for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
    busy_[phase].settle();
    seconds_ += phases_[phase].times * busy_[phase].top();
  }
}

}  // namespace quadrille::placement
