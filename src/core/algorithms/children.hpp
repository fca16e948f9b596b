#pragma once

#include "patterns/trees.hpp"
#include "schedule/builder.hpp"

namespace quadrille {

// Calls send(child) for each child, and has it sent when the one before has been: the first child, which has the most
// ranks below it, would wait for all of them if its message shared the wire with theirs.
template <class Send>
void send_in_turn(Builder& builder, const patterns::Tree& tree, const Send& send) {
  builder.in_order([&] {
    for (const Rank child : tree.children) send(child);
  });
}

}  // namespace quadrille
