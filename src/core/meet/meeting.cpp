#include "meet/meeting.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithms/catalogue.hpp"
#include "compose/compose.hpp"
#include "meet/words.hpp"

namespace quadrille::meet {

namespace {

constexpr Rank nobody = -1;

// The lower one of two ranks, if any.
Rank lower(Rank one, Rank other) {
  return one == nobody || other == nobody ? std::max(one, other) : std::min(one, other);
}

std::shared_ptr<const Program> program(const Variant& variant, const Problem& problem) {
  return std::make_shared<const Program>(build(variant.algorithm(), problem));
}

}  // namespace

Meeting::Meeting(Own own, Memory memory, Places& places, Result& result)
    : own_(std::move(own)), memory_(std::move(memory)), places_(places), result_(result) {
  mine_ = {.least_machine = own_.machine,
           .greatest_machine = own_.machine,
           .troubled = own_.trouble.empty() ? nobody : own_.rank,
           .cores = own_.cores,
           .all_cores = own_.all_cores,
           .all_known = !own_.processes.empty() && places_.know(own_.processes),
           .oversubscribed = own_.oversubscribed};
  told_ = {.node_low = static_cast<std::uint32_t>(own_.place.node),
           .node_high = static_cast<std::uint32_t>(own_.place.node >> 32U),
           .rack = own_.place.rack};
}

void Meeting::merge_circumstances(const void* left, void* right, std::int64_t) {
  const auto& other = *static_cast<const Circumstances*>(left);
  auto& all = *static_cast<Circumstances*>(right);
  all.least_machine = std::min(all.least_machine, other.least_machine);
  all.greatest_machine = std::max(all.greatest_machine, other.greatest_machine);
  all.troubled = lower(all.troubled, other.troubled);
  all.cores = std::min(all.cores, other.cores);
  all.all_cores = std::min(all.all_cores, other.all_cores);
  all.all_known &= other.all_known;
  all.oversubscribed |= other.oversubscribed;
}

void Meeting::merge_ranks(const void* left, void* right, std::int64_t) {
  auto& all = *static_cast<Rank*>(right);
  all = lower(all, *static_cast<const Rank*>(left));
}

bool Meeting::next(Phase& phase) {
  const Problem one_word{.rank = own_.rank, .ranks = own_.ranks, .count = 1};
  switch (step_) {
    case Step::nothing:
      phase = merge_words(program(merging_words(), one_word), mine_, all_, merge_circumstances);
      step_ = Step::agreed;
      return true;
    case Step::agreed:
      return after_agreement(phase);
    case Step::placed:
      return after_places(phase);
    case Step::addressed: {
      const auto address = word_.there ? std::optional(word_.address) : std::nullopt;
      trouble_ = memory_.open(*result_.topology, all_.oversubscribed, address);
      without_ = trouble_.empty() ? nobody : own_.rank;
      phase = merge_words(vote(), without_, lowest_without_, merge_ranks);
      step_ = Step::voted;
      return true;
    }
    case Step::voted:
      result_.without = lowest_without_;
      result_.shares_memory = lowest_without_ == nobody;
      step_ = result_.shares_memory ? Step::done : Step::explained;
      if (!result_.shares_memory) phase = says(lowest_without_, trouble_);
      return !result_.shares_memory;
    case Step::explained:
      (result_.without == nobody ? result_.refusal : result_.because) = text_.data();
      step_ = Step::done;
      return false;
    case Step::done:
      return false;
  }
  return false;
}

bool Meeting::after_agreement(Phase& phase) {
  result_.one_machine = all_.least_machine == all_.greatest_machine;
  result_.cores = all_.cores;
  result_.all_cores = all_.all_cores;
  result_.oversubscribed = all_.oversubscribed;
  if (all_.troubled != nobody) {
    step_ = Step::explained;
    phase = says(all_.troubled, own_.trouble);
    return true;
  }
  step_ = Step::placed;
  if (all_.all_known) return after_places(phase);
  const Problem problem{.rank = own_.rank, .ranks = own_.ranks, .count = sizeof(Told)};
  phase = gather_words(program(gathering_words(), problem), told_, heard_);
  return true;
}

bool Meeting::after_places(Phase& phase) {
  std::vector<Place> heard;
  heard.reserve(heard_.size());
  for (const Told& one : std::exchange(heard_, {})) {
    heard.push_back({.node = std::uint64_t{one.node_high} << 32U | one.node_low, .rack = one.rack});
  }
  if (own_.processes.empty()) {
    result_.topology = topology_of(heard);
  } else {
    if (!all_.all_known) places_.learn(own_.processes, heard);
    result_.topology = places_.topology(own_.processes);
  }
  step_ = memory_.create ? Step::addressed : Step::done;
  if (!memory_.create) return false;
  phase = inside_nodes();
  return true;
}

Phase Meeting::says(Rank rank, const std::string& text) {
  if (rank == own_.rank) std::copy_n(text.begin(), std::min(text.size(), text_.size() - 1), text_.begin());
  const Problem problem{.rank = own_.rank, .ranks = own_.ranks, .root = rank, .count = sizeof text_};
  return spread_word(program(spreading_a_word(), problem), text_);
}

// An allreduce by way of the first rank of each node: the fewer messages between nodes, the better.
std::shared_ptr<const Program> Meeting::vote() const {
  const Topology& topology = *result_.topology;
  const int nodes = topology.levels() - 1;
  const Group node = topology.domain(nodes, own_.rank);
  Problem problem = problem_of(Collective::allreduce, {.rank = own_.rank, .ranks = own_.ranks, .count = 1});
  problem.root = node[0];
  const auto by = [](Collective collective, const char* name) {
    return variant_named(collective, name).algorithm().build;
  };
  Builder builder(own_.rank, own_.ranks, Unit::elements);
  compose::on(builder, node, 0, problem, by(Collective::reduce, "binomial"));
  problem.input = problem.output;
  problem.in_place = true;
  const Group first = Group::of(topology.first_of_domains(nodes));
  compose::on(builder, first, 1, problem, merging_words().algorithm().build);
  compose::on(builder, node, 2, problem, by(Collective::bcast, "binomial"));
  return std::make_shared<const Program>(builder.finish());
}

// The first rank of each node says to the others of it where its memory is.
Phase Meeting::inside_nodes() {
  const Topology& topology = *result_.topology;
  const Group node = topology.domain(topology.levels() - 1, own_.rank);
  if (node[0] == own_.rank) {
    const auto address = memory_.create(topology, all_.oversubscribed);
    word_ = {address.value_or(Address{}), address.has_value()};
  }
  Builder builder(own_.rank, own_.ranks, Unit::bytes);
  builder.within(node, 0, [&] {
    const Problem part{.rank = builder.rank(), .ranks = node.size(), .count = sizeof word_};
    spreading_a_word().algorithm().build(builder, problem_of(Collective::bcast, part));
  });
  return spread_word(std::make_shared<const Program>(builder.finish()), word_);
}

}  // namespace quadrille::meet
