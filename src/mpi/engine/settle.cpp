// How a communicator's ranks find out where they are, and get memory to share.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <quadrille/error.hpp>
#include <utility>

#include "engine/context.hpp"
#include "engine/places.hpp"
#include "engine/private_communicator.hpp"
#include "machine/cores.hpp"
#include "machine/load.hpp"
#include "meet/meeting.hpp"

namespace quadrille::engine {

using meet::Meeting;

// Collective.
void Context::settle(MPI_Comm parent) {
  topology_.emplace(ranks_, std::vector<std::vector<std::int32_t>>{});
  if (ranks_ == 1) return;
  Meeting::Own own{.rank = rank_,
                   .ranks = ranks_,
                   .processes = processes_of(parent),
                   .machine = machine::identity(),
                   .cores = std::max(1, static_cast<int>(machine::usable_cores())),
                   .all_cores = std::max(1, static_cast<int>(machine::cores_of_all_nodes())),
                   .oversubscribed = process_.crowded()};
  try {
    own.place = process_.place();
  } catch (const Error& error) {
    own.trouble = error.what();
  }
  Meeting::Result result;
  meet_ranks(std::move(own), result);
  if (!result.refusal.empty()) throw NotMade(MPI_ERR_ARG, result.refusal);
  const Topology& topology = topology_.emplace(std::move(result.topology).value());
  const bool several_nodes = topology.domains(topology.levels() - 1) > 1;
  crowded_ = result.oversubscribed;
  cost::Model& model = settings_.model;
  model.one_machine |= result.one_machine && several_nodes;
  if (model.cores == 0) model.cores = model.one_machine ? result.all_cores : result.cores;
  if (settings_.offloads() && several_nodes) gather_leaders();
  if (!node_memory_) return;
  node_memory_->settle(result.shares_memory);
  if (result.shares_memory) {
    ground_.ground.node = node_memory_->ground();
    return;
  }
  node_memory_.reset();
  static std::atomic<bool> warned = false;
  if (rank_ != 0 || warned.exchange(true)) return;
  fmt::print(stderr,
             "quadrille: ranks of a node can't share memory and send messages instead (rank {}: {}); "
             "QUADRILLE_SHARED=0 spares the attempt\n",
             result.without, result.because);
}

void Context::meet_ranks(Meeting::Own own, Meeting::Result& result) {
  const auto memory_on = [this](const Topology& topology, bool oversubscribed) -> NodeMemory& {
    if (!node_memory_) node_memory_.emplace(topology, rank_, settings_.shared_bytes(oversubscribed), oversubscribed);
    return *node_memory_;
  };
  Meeting::Memory memory;
  if (settings_.shared != 0) {
    memory.create = [&](const Topology& topology, bool oversubscribed) -> std::optional<Meeting::Address> {
      const shared::Segment::Address made = memory_on(topology, oversubscribed).create();
      if (!node_memory_->trouble().empty()) return std::nullopt;
      return Meeting::Address{made.process, made.descriptor};
    };
    memory.open = [&](const Topology& topology, bool oversubscribed, const std::optional<Meeting::Address>& first) {
      NodeMemory& own_memory = memory_on(topology, oversubscribed);
      if (first) own_memory.open({.process = (*first)[0], .descriptor = (*first)[1]});
      return own_memory.trouble();
    };
  }
  const Case asked{.collective = Collective::barrier, .ranks = ranks_};
  const auto task = prepare(asked, {}, [&] {
    return std::make_unique<Meeting>(std::move(own), std::move(memory), process_.places(), result);
  });
  start(*task);
  // What a callback throws is for those who wait for collectives of their own.
  wait_quietly(*task);
  if (task->state() == Ordered::State::failed) std::rethrow_exception(task->error());
}

// The first rank of each node. Collective.
void Context::gather_leaders() {
  const int nodes = topology_->levels() - 1;
  const bool leads = topology_->domain(nodes, rank_)[0] == rank_;
  check_made(PMPI_Comm_split(comm_, leads ? 0 : MPI_UNDEFINED, rank_, &leaders_), "MPI_Comm_split");
  if (leads) check(PMPI_Comm_set_errhandler(leaders_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  ground_.ground.leaders = leaders_;
}

}  // namespace quadrille::engine
