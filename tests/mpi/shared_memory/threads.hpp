#pragma once

#include <cstdint>
#include <string>

namespace quadrille::shared {

// Ranks as threads of this process, over the memory protocol that ranks of a node use as processes, so that a thread
// sanitizer can see all of it: so many rounds of every hierarchical collective, long and short, with rotating roots,
// each on data of its own. Returns what went wrong; empty: nothing.
std::string run_threads(int ranks, std::int64_t rounds);

}  // namespace quadrille::shared
