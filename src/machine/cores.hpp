#pragma once

namespace quadrille::machine {

// Processors this job may keep busy on this node: those its launcher may run on, no more than the control group's
// share of time allows.
double usable_cores();

// Ranks of this job on this node, as the launcher says; `ranks` where it does not.
int ranks_on_node(int ranks);

}  // namespace quadrille::machine
