#include "cost/price.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "algorithms/outline.hpp"

namespace quadrille::cost {

namespace {

// What part of an algorithm takes: time from its beginning to its end, and how long each resource is busy with it.
struct Section {
  double time = 0;
  double wire = 0;    // the busiest link of a node
  double uplink = 0;  // of a rack
  double leader = 0;  // the core of a rank that leads its node
  double others = 0;  // those of others
  double work = 0;    // all cores together
  double waking = 0;  // likewise, for ranks that sleep

  double busiest() const { return std::max({wire, uplink, leader, others}); }
  Section& operator+=(const Section& other) {
    time += other.time;
    wire += other.wire;
    uplink += other.uplink;
    leader += other.leader;
    others += other.others;
    work += other.work;
    waking += other.waking;
    return *this;
  }
  Section times(double many) const {
    return {time * many, wire * many, uplink * many, leader * many, others * many, work * many, waking * many};
  }
};

class Price final : public Outline {
 public:
  Price(const Problem& problem, double unit_bytes, Map& map, const Model& model)
      : root_(problem.root),
        unit_bytes_(unit_bytes),
        map_(map),
        model_(model),
        ranks_(map.ranks()),
        shares_memory_(problem.room > 0) {
    if (model.cores <= 0) return;
    const Rank together = model.one_machine ? map.ranks() : map.ranks_per_node();
    cores_ = model.one_machine ? model.cores : model.cores * std::int64_t{map.nodes()};
    if (together > model.cores) wake_ = model.wake;
  }

  Seconds seconds() const {
    const auto by_cores = [&](double work) { return cores_ > 0 ? work / static_cast<double>(cores_) : 0.0; };
    return {.alone = model_.call + std::max(now_.time, by_cores(now_.work + now_.waking)),
            .in_a_row = model_.call + std::max(now_.busiest(), by_cores(now_.work))};
  }

  void shift(Rank distance, double units, double times) override {
    if (ranks_ < 2) return;
    // Half way around it is an exchange. The wire's own time is that of two ranks.
    const bool back = ranks_ > 2 && 2 * distance % ranks_ == 0;
    round(flows(Map::Pattern::shift, distance), units, times, back ? Ways::to_each_other : Ways::both);
  }
  void exchange(Rank bit, double units) override {
    if (ranks_ > 1) round(flows(Map::Pattern::exchange, bit), units, 1, ranks_ > 2 ? Ways::to_each_other : Ways::both);
  }
  void tree(Rank distance, double units) override {
    if (distance < ranks_) round(flows(Map::Pattern::tree, distance), units, 1, Ways::one);
  }
  void star(double units, Way way, double reduced) override;
  void all_pairs(double units, Rank at_a_time) override;
  void chain(double units, const Chain& chain) override;

  void copy(double units, Who who, double times) override { work(units * unit_bytes_ * model_.copy, who, times); }
  void reduce(double units, Who who, double times) override { work(units * unit_bytes_ * model_.reduce, who, times); }
  void flag() override {
    now_.time += model_.operation + model_.flag + wake_;
    now_.leader += model_.operation;
    now_.others += model_.operation;
    now_.work += static_cast<double>(map_.ranks()) * model_.operation;
    now_.waking += static_cast<double>(map_.ranks()) * wake_;
  }

  void offload(double units) override {
    const double seconds = model_.operation + model_.offload.latency + units * unit_bytes_ * model_.offload.byte;
    now_.time += seconds + wake_;
    now_.leader += seconds;
    now_.work += static_cast<double>(map_.nodes()) * model_.operation;
  }

  void pipeline(std::int64_t segments, const std::function<void()>& rounds) override {
    const Section before = std::exchange(now_, {});
    rounds();
    const Section one = std::exchange(now_, before);
    Section all = one.times(static_cast<double>(segments));
    all.time = one.time + static_cast<double>(segments - 1) * one.busiest();
    all.waking = one.waking;  // a rank that is awake sees whatever has come
    now_ += all;
  }
  void among_leaders(int level, const std::function<void(Rank)>& rounds) override {
    within(map_.leaders(level), 1, rounds);
  }
  void among_nodes(const std::function<void(Rank)>& rounds) override { within(Map::Group::nodes, 1, rounds); }
  void among_rails(const std::function<void(Rank)>& rounds) override {
    within(Map::Group::nodes, map_.ranks_per_node(), rounds);
  }
  void inside_nodes(const std::function<void(Rank)>& rounds) override {
    const Rank before = std::exchange(ranks_, map_.ranks_per_node());
    inside_ = true;
    rounds(ranks_);
    inside_ = false;
    ranks_ = before;
  }

 private:
  void within(Map::Group group, Rank at_once, const std::function<void(Rank)>& rounds) {
    const auto before = std::pair(group_, ranks_);
    group_ = group;
    at_once_ = at_once;
    ranks_ = map_.ranks(group);
    rounds(ranks_);
    at_once_ = 1;
    std::tie(group_, ranks_) = before;
  }

  // Until a rank sees a message: the others that wait for one take their turns first. Those that wait for a counter in
  // shared memory sleep.
  double turn() const {
    const bool leaders_alone = shares_memory_ && group_ != Map::Group::all && at_once_ == 1 && !inside_;
    double waiting = leaders_alone ? 1 : map_.ranks_per_node();
    if (model_.one_machine) waiting = leaders_alone ? map_.nodes() : map_.ranks();
    return wake_ * std::max(1.0, waiting / std::max(1, model_.cores));
  }

  Map::Flows flows(Map::Pattern pattern, Rank distance) {
    if (inside_) {
      const double nodes = map_.nodes();
      return {.messages = nodes * (pattern == Map::Pattern::tree ? (ranks_ + distance - 1) / (2 * distance) : ranks_)};
    }
    const bool whole = group_ == Map::Group::all;
    Map::Flows flows = map_.flows(group_, pattern, distance, whole && pattern == Map::Pattern::tree ? root_ : 0);
    flows.messages *= at_once_;
    flows.leaving *= at_once_;
    flows.climbing *= at_once_;
    if (group_ == Map::Group::nodes_of_rack) flows.messages *= map_.racks();
    return flows;
  }

  // Of one message: the work of both ends, and the time between.
  double sending(const Link& link, double bytes) const {
    const bool copies = bytes <= static_cast<double>(link.eager) || link.wire > 0;
    return model_.operation + link.overhead + (copies ? bytes * link.work : 0);
  }
  double receiving(const Link& link, double bytes) const {
    return model_.operation + link.overhead + bytes * link.work;
  }
  double between(const Link& link, double bytes) const {
    return link.latency + (bytes > static_cast<double>(link.eager) ? link.rendezvous : 0) + bytes * wire(link);
  }
  double wire(const Link& link) const {
    return &link == &model_.rack ? std::max(link.wire, model_.network.wire) : link.wire;
  }
  double hop(const Link& link, double bytes) const {
    return sending(link, bytes) + between(link, bytes) + receiving(link, bytes) + turn();
  }
  // The mean of all messages of a round.
  double mean_hop(const Map::Flows& flows, double bytes) const {
    return (1 - flows.outside) * hop(model_.node, bytes) + (flows.outside - flows.far) * hop(model_.network, bytes) +
           flows.far * hop(model_.rack, bytes);
  }
  double combining(double units) const {
    return units > 0 ? model_.operation + units * unit_bytes_ * model_.reduce : 0;
  }
  // The mean of both ends' work.
  double ends(const Map::Flows& flows, double bytes) const {
    const auto both = [&](const Link& link) { return sending(link, bytes) + receiving(link, bytes); };
    return (1 - flows.outside) * both(model_.node) + (flows.outside - flows.far) * both(model_.network) +
           flows.far * both(model_.rack);
  }

  // What messages of a round meet: a rank sends or receives; it does both; or it does both with the same one.
  enum class Ways : std::uint8_t { one, both, to_each_other };
  void round(const Map::Flows& flows, double units, double times, Ways ways);
  void work(double once, Who who, double times) {
    const double seconds = times * (once + model_.operation);
    now_.time += seconds;
    double busy = map_.ranks();
    if (who == Who::leader) busy = map_.nodes();
    if (who == Who::others) busy = map_.ranks() - map_.nodes();
    if (who != Who::others) now_.leader += seconds;
    if (who != Who::leader) now_.others += seconds;
    now_.work += busy * seconds;
  }
  void add(const Section& section) {
    now_ += section;
    if (group_ == Map::Group::all) now_.others += section.leader;
  }

  Rank root_;
  double unit_bytes_;
  Map& map_;
  const Model& model_;
  Rank ranks_;
  std::int64_t cores_ = 0;  // of all nodes; 0: one for each rank
  bool shares_memory_;
  double wake_ = 0;
  Map::Group group_ = Map::Group::all;
  Rank at_once_ = 1;     // groups
  bool inside_ = false;  // of nodes
  Section now_;
};

// One way, those that send go on to others.
void Price::round(const Map::Flows& flows, double units, double times, Ways ways) {
  const double bytes = units * unit_bytes_;
  const bool one_way = ways == Ways::one;
  const double network = model_.network.wire * (ways == Ways::to_each_other ? model_.network.exchange : 1);
  const double queue = flows.leaving * bytes * network - std::min(1.0, flows.leaving) * bytes * model_.network.wire;
  const double climb = std::max(0.0, flows.climbing - 1) * bytes * model_.rack.wire;
  const double near = hop(model_.node, bytes);
  const double outside = hop(model_.network, bytes);
  const double far = hop(model_.rack, bytes);
  double longest = flows.outside < 1 ? near : 0;
  if (flows.outside > flows.far) longest = std::max(longest, outside);
  if (flows.far > 0) longest = std::max(longest, far);
  double mean = mean_hop(flows, bytes);
  const double work = ends(flows, bytes);
  const Section one{.wire = flows.leaving * bytes * network,
                    .uplink = flows.climbing * bytes * model_.rack.wire,
                    .leader = one_way ? work / 2 : work,
                    .work = flows.messages * work};
  Section all = one.times(times);
  // Repeated, a short hop makes up for a long one, unless both ends of a message wait for each other.
  if (bytes > static_cast<double>(std::max(model_.node.eager, model_.network.eager))) mean = longest;
  // And a rank that was held up in one round seldom is in the next, unless its partners are, from rack to rack.
  const bool all_wait = one_way || flows.outside == 0 || (ways == Ways::to_each_other && flows.far > 0);
  const double first = all_wait ? longest : mean;
  all.time = first + std::max(queue, climb) + (times - 1) * std::max(mean, one.busiest());
  add(all);
}

void Price::star(double units, Way direction, double reduced) {
  if (ranks_ < 2) return;
  const double bytes = units * unit_bytes_;
  const bool whole = group_ == Map::Group::all;
  const double others = ranks_ - 1;
  const double inside = inside_ ? others : whole ? std::min<double>(others, map_.ranks_per_node() - 1) : 0;
  const double outside = others - inside;
  double far = group_ == Map::Group::racks ? others : 0;
  if (whole && map_.racks() > 1) far = outside * (1 - 1.0 / map_.racks());
  const Link& way = far > 0 ? model_.rack : outside > 0 ? model_.network : model_.node;
  const auto end = [&](const Link& link) {
    return direction == Way::out ? sending(link, bytes) : receiving(link, bytes);
  };
  const double work = outside * end(way) + inside * end(model_.node) + others * combining(reduced);
  Section all{.wire = outside * bytes * model_.network.wire,
              .uplink = far * bytes * model_.rack.wire,
              .leader = work,
              .work = 2 * work};
  all.time =
      std::max({work - end(way), all.wire - bytes * wire(way), all.uplink - bytes * wire(way)}) + hop(way, bytes);
  add(all);
}

void Price::all_pairs(double units, Rank at_a_time) {
  if (ranks_ < 2) return;
  const double bytes = units * unit_bytes_;
  const double others = ranks_ - 1;
  const bool whole = group_ == Map::Group::all;
  const double own = whole ? map_.ranks_per_node() : inside_ ? ranks_ : 1;
  const double inside = inside_ ? others : std::min(others, own - 1);
  const double outside = others - inside;
  double far = group_ == Map::Group::racks ? others : 0;
  if (group_ == Map::Group::all || group_ == Map::Group::nodes) far = outside * (1 - 1.0 / map_.racks());
  const auto both = [&](const Link& link) { return sending(link, bytes) + receiving(link, bytes); };
  const double work = inside * both(model_.node) + (outside - far) * both(model_.network) + far * both(model_.rack);
  const double senders = whole ? own : at_once_;
  const Link& way = far > 0 ? model_.rack : outside > 0 ? model_.network : model_.node;
  Section all{.wire = senders * outside * bytes * model_.network.wire,
              .leader = work,
              .work = (whole ? map_.ranks() : map_.nodes() * std::max<double>(senders, 1)) * work};
  if (map_.racks() > 1 && !inside_) {
    const double rack = static_cast<double>(ranks_) / map_.racks();
    all.uplink = at_once_ * rack * (ranks_ - rack) * bytes * model_.rack.wire;
  }
  const double in_turn = others / std::max<double>(1, std::min<double>(at_a_time, others)) * hop(way, bytes);
  all.time = std::max({all.wire + hop(way, bytes) - bytes * wire(way), all.uplink + hop(way, bytes),
                       work + between(way, bytes), in_turn});
  add(all);
}

void Price::chain(double units, const Chain& chain) {
  if (ranks_ < 2) return;
  const double bytes = units * unit_bytes_;
  const Map::Flows one = flows(Map::Pattern::shift, chain.distance);
  const double wires = one.leaving * bytes * model_.network.wire;
  const double work = ends(one, bytes) + combining(chain.reduced);
  // Those that a rank sends to wait for each other, on the average for half of them.
  const double more = (chain.fan - 1) / 2 * std::max(bytes * (one.outside > 0 ? model_.network.wire : 0), work / 2);
  add({.time = chain.hops * (mean_hop(one, bytes) + combining(chain.reduced) + more),
       .wire = chain.fan * wires,
       .uplink = chain.fan * one.climbing * bytes * model_.rack.wire,
       .leader = work + (chain.fan - 1) * work / 2,
       .work = (ranks_ - 1) * at_once_ * work});
}

}  // namespace

Seconds price(const Algorithm& algorithm, const Problem& problem, double unit_bytes, Map& map, const Model& model) {
  Price price(problem, unit_bytes, map, model);
  outline(algorithm, problem, price);
  return price.seconds();
}

}  // namespace quadrille::cost
