#pragma once

namespace quadrille::machine {

// Of a rank the launcher's count: it binds each rank to a core or two.
enum class Whose { launchers, own };

// Processors this job may keep busy on this node: those its launcher, or the process itself, may run on, no more than
// the control group's share of time allows.
double usable_cores(Whose whose = Whose::launchers);

// Ranks of this job on this node, as the launcher says; `ranks` where it does not.
int ranks_on_node(int ranks);

}  // namespace quadrille::machine
