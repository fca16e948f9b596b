#pragma once

namespace quadrille::machine {

// Whose affinity mask to use. A launcher binds each rank to a core or two, so a rank uses the launcher's.
enum class Affinity { launcher, process };

// Processors that this job may use on this node: those in the affinity mask of its launcher, or of the process itself,
// limited by the control group's CPU quota.
double usable_cores(Affinity affinity = Affinity::launcher);
// The same of the machine that an emulated node shares with others.
double cores_of_all_nodes();

// Ranks of this job on this node, from the launcher's environment; `ranks` if that is missing.
int ranks_on_node(int ranks);

// This process's rank in its job, by what the launcher says in the environment; 0: it doesn't say.
int rank_by_launcher();

}  // namespace quadrille::machine
