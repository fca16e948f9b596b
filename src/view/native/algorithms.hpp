#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quadrille::native {

enum class Library : std::uint8_t { openmpi, mpich };
std::string_view name(Library library);
std::optional<Library> library_named(std::string_view text);

// What an algorithm requires of a call.
struct Needs {
  bool commutative = false;   // an operation that commutes
  bool built_in = false;      // an operation of MPI, and as many elements as the largest power of two among the ranks
  bool two_buffers = false;   // not MPI_IN_PLACE
  bool parent = false;        // a communicator that MPICH knows the nodes of
  bool power_of_two = false;  // of ranks
  bool two_ranks = false;

  bool can_run_on(int ranks) const;
};

// An algorithm of the MPI itself.
struct Algorithm {
  std::string collective;
  std::string name;          // as the MPI calls it; with a segment size: pipeline:32768
  int number = 0;            // Open MPI's
  std::int64_t segment = 0;  // Open MPI's, in bytes; 0: no segments
  Needs needs = {};
  std::vector<std::string> parameters = {};  // MPICH's, which a rule must set: k=2
};

// Open MPI's trees that are chains: how many, in all its settings and rules.
inline constexpr int chains = 4;

// Collectives whose algorithms a rule file can choose by size, and which have several. Without Open MPI's gather and
// scatter: it takes their size from arguments that are not significant on every rank, so a rule that depends on the
// size may hang. Nor its scan and exscan, of which it ignores the count.
const std::vector<std::string>& tunable_collectives(Library library);

// The algorithms of a collective. Of Open MPI by the output of `ompi_info --param coll tuned --level 9 --parsable`, or,
// without it, those of version 4.1, with each segment size where they have segments; of MPICH by the bytes of its
// library, or, without them, those of versions 4.0 and 4.2.
std::vector<Algorithm> openmpi_algorithms(std::string_view collective, std::string_view info,
                                          const std::vector<std::int64_t>& segments);
std::vector<Algorithm> mpich_algorithms(std::string_view collective, std::string_view library);

// An algorithm in MPICH's file of rules, and in its library, which reads that.
std::string mpich_rule_name(const Algorithm& algorithm);

// The environment variables that make the MPI use the algorithm for every call of its collective.
std::vector<std::pair<std::string, std::string>> forcing(Library library, const Algorithm& algorithm);

}  // namespace quadrille::native
