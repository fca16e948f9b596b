// MPICH 1.2.7 of 2005, which nobody uses any more: one of the two libraries of Zhang, Zhai, Chen, Zheng: Process
// mapping for MPI collective communications, 2009 (Fig. 4), by its source (intra_fns_new.c 1.36), from which that table
// differs: Bruck's alltoall is taken from 8 ranks on, as in the paper's own example, and direct messages have no lower
// bound; a reduction by halves takes predefined operations, not commutative ones, and an element for each corner;
// allgatherv looks at all blocks; and reduce_scatter and scan are not in it.

#include <array>
#include <bit>

#include "knowledge/decisions.hpp"
#include "knowledge/library.hpp"
#include "knowledge/same.hpp"

namespace quadrille::knowledge {

namespace {

// Names are the paper's, where it has them. Sizes are of a rank's data or block, of allgather, allgatherv and
// reduce_scatter of all. Of reduce and allreduce the rules for operations that don't commute are those for all that the
// program defines.
constexpr std::string_view rules_of_2005 = R"(
barrier
  rest  recursive_doubling
bcast
  <8    binomial
  pow2  binomial 12288 van_de_geijn 524288 ring
  rest  binomial 12288 ring
reduce
  rest  binomial 2049 rabenseifner
reduce not commutative
  rest  binomial
allreduce
  rest  recursive_doubling 2049 rabenseifner
allreduce not commutative
  rest  recursive_doubling
gather
  rest  binomial
gatherv
  rest  linear
scatter
  rest  binomial
scatterv
  rest  linear
allgather
  pow2  recursive_doubling 524288 ring
  rest  bruck 81920 ring
allgatherv
  pow2  recursive_doubling 524288 ring
  rest  bruck 81920 ring
alltoall
  <8    isend_irecv 32769 pairwise
  rest  bruck 257 isend_irecv 32769 pairwise
alltoallv
  rest  isend_irecv
reduce_scatter
  rest  recursive_halving 524288 pairwise
reduce_scatter not commutative
  rest  recursive_doubling 512 pairwise
scan
  rest  linear
scan not commutative
  rest  linear
)";

constexpr std::array same_in_2005 = {
    Same{Collective::barrier, "recursive_doubling", "recursive_doubling_last"},
    Same{Collective::bcast, "binomial", "binomial"},
    Same{Collective::bcast, "van_de_geijn", "scatter_doubling_all"},
    Same{Collective::bcast, "ring", "scatter_ring_all"},
    Same{Collective::reduce, "binomial", "binomial"},
    Same{Collective::reduce, "rabenseifner", "rabenseifner", 0, true},
    Same{Collective::allreduce, "recursive_doubling", "recursive_doubling"},
    Same{Collective::allreduce, "rabenseifner", "rabenseifner"},
    Same{Collective::gather, "binomial", "binomial"},
    Same{Collective::gatherv, "linear", "linear"},
    Same{Collective::scatter, "binomial", "binomial"},
    Same{Collective::scatterv, "linear", "linear"},
    Same{Collective::allgather, "recursive_doubling", "recursive_doubling"},
    Same{Collective::allgather, "bruck", "bruck"},
    Same{Collective::allgather, "ring", "ring"},
    Same{Collective::allgatherv, "recursive_doubling", "recursive_doubling", 0, true},
    Same{Collective::allgatherv, "bruck", "bruck"},
    Same{Collective::allgatherv, "ring", "ring"},
    Same{Collective::alltoall, "bruck", "bruck", 2},
    Same{Collective::alltoall, "isend_irecv", "linear"},
    Same{Collective::alltoall, "pairwise", "pairwise"},
    Same{Collective::alltoallv, "isend_irecv", "linear"},
    Same{Collective::reduce_scatter, "recursive_halving", "recursive_halving"},
    Same{Collective::reduce_scatter, "recursive_doubling", "recursive_doubling"},
    Same{Collective::reduce_scatter, "pairwise", "pairwise"},
    Same{Collective::scan, "linear", "linear"},
};

std::string_view rule_of_2005(const Case& asked) {
  static const Decisions& decisions = *new Decisions(rules_of_2005);
  const bool predefined = asked.collective == Collective::reduce || asked.collective == Collective::allreduce;
  const bool first = !traits(asked.collective).reduces || (predefined ? asked.operation >= 0 : asked.commutative);
  const bool of_all = asked.collective == Collective::allgather;
  return decisions.find(asked.collective, first, asked.ranks, asked.count_bytes() * (of_all ? asked.ranks : 1));
}

Choice choose_in_2005(const Case& asked) {
  std::string_view name = rule_of_2005(asked);
  const bool has_fewer_than_corners = asked.count < std::bit_floor(static_cast<std::uint32_t>(asked.ranks));
  if (name == "rabenseifner" && has_fewer_than_corners) {
    name = asked.collective == Collective::reduce ? "binomial" : "recursive_doubling";
  }
  return choice_of_one(same_in_2005, asked, name);
}

}  // namespace

extern const Library mpich_1_2_7 = {
    .name = "MPICH 1.2.7", .policy = "mpich-1.2.7", .mpi = "", .choose = choose_in_2005, .is_historical = true};

}  // namespace quadrille::knowledge
