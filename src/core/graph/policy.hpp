#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cost/model.hpp"
#include "knowledge/library.hpp"
#include "select/requirements.hpp"

namespace quadrille::graph {

// By which algorithms collectives are run: those of an MPI library, or ours.
struct Policy {
  std::string name;  // as on the command line: "openmpi-4.1"
  // The ground's topology: where the ranks of the call are; null: each is on a node of its own.
  std::function<knowledge::Choice(const Case& asked, const Requirements::Ground& ground)> choose;
  bool knows_nodes = false;     // whether its choice depends on where ranks are
  std::int64_t slot_bytes = 0;  // that each rank has in its node's shared memory
  std::int32_t cores = 0;       // of a node; 0: one for each rank
};

// Our own choice by the price of such a machine. What goes through shared memory is not sent.
Policy quadrille_policy(const cost::Model& model, std::int64_t slot_bytes = 0);
Policy policy_of(const knowledge::Library& library);

// The policy with one algorithm in place of its choice for a collective.
Policy with(Policy policy, Collective collective, const Variant& variant);

}  // namespace quadrille::graph
