#pragma once

#include <functional>
#include <string>

#include "cost/model.hpp"
#include "knowledge/library.hpp"

namespace quadrille::graph {

// By which algorithms collectives are run: those of an MPI library, or ours.
struct Policy {
  std::string name;  // as on the command line: "openmpi-4.1"
  std::function<knowledge::Choice(const Case& asked)> choose;
};

// Our own choice by the price of such a machine, with each rank on a node of its own: what is sent by messages, no
// shared memory.
Policy quadrille_policy(const cost::Model& model);
Policy policy_of(const knowledge::Library& library);

// The policy with one algorithm in place of its choice for a collective.
Policy with(Policy policy, Collective collective, const Variant& variant);

}  // namespace quadrille::graph
