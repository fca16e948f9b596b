#pragma once

#include <string_view>
#include <vector>

#include "engine/mpi.hpp"
#include "select/guide.hpp"

namespace quadrille::engine {

// The rules of tables live as long as the process, the same ones once.
using Rules = std::vector<PlacedRule>;

// The rules of a tuning table under this MPI, read once; null if the path is empty. Warns on stderr if it was measured
// under other MPIs alone. Throws Error, with file and line, for what can't be read.
const Rules* rules_in(std::string_view path);

// Rank 0's, on every rank. Collective.
const Rules* agreed_rules(const Rules* mine, MPI_Comm comm);

}  // namespace quadrille::engine
