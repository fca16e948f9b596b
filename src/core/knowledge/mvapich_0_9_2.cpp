// MVAPICH 0.9.2, which nobody uses any more: the other library of Zhang, Zhai, Chen, Zheng: Process mapping for MPI
// collective communications, 2009 (Fig. 4). Its rules are those of MPICH 1.2.5 (intra_fns_new.c 1.21), which it is made
// of, and by which two entries of that table are corrected: the reduce is a binomial tree, and the sizes of an alltoall
// are of all that a rank sends. What it may have of its own for InfiniBand is not known.

#include <array>

#include "knowledge/decisions.hpp"
#include "knowledge/library.hpp"
#include "knowledge/same.hpp"

namespace quadrille::knowledge {

namespace {

// Names are the paper's, where it has them. Sizes are of a rank's data, of alltoall of all its blocks, of
// reduce_scatter of all; of allgatherv they are elements of all blocks.
constexpr std::string_view rules_of_2003 = R"(
barrier
  rest  recursive_doubling
bcast
  <9    binomial 12288 van_de_geijn
  rest  van_de_geijn
reduce
  rest  binomial
reduce not commutative
  rest  binomial
allreduce
  rest  recursive_doubling
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
  rest  recursive_doubling
allgatherv
  rest  recursive_doubling 262145 ring
alltoall
  rest  recursive_doubling 129 isend_irecv 262144 pairwise
alltoallv
  rest  isend_irecv
reduce_scatter
  rest  recursive_doubling 513 pairwise
reduce_scatter not commutative
  rest  recursive_doubling 513 pairwise
scan
  rest  linear
scan not commutative
  rest  linear
)";

// Beyond powers of two recursive doubling hands results on within subtrees, which is not in the catalogue but for
// bcast and reduce_scatter.
constexpr std::array same_in_2003 = {
    Same{Collective::barrier, "recursive_doubling", "recursive_doubling_last"},
    Same{Collective::bcast, "binomial", "binomial"},
    Same{Collective::bcast, "van_de_geijn", "scatter_doubling_all"},
    Same{Collective::reduce, "binomial", "binomial"},
    Same{Collective::allreduce, "recursive_doubling", "recursive_doubling", 0, true},
    Same{Collective::gather, "binomial", "binomial"},
    Same{Collective::gatherv, "linear", "linear"},
    Same{Collective::scatter, "binomial", "binomial"},
    Same{Collective::scatterv, "linear", "linear"},
    Same{Collective::allgather, "recursive_doubling", "recursive_doubling", 0, true},
    Same{Collective::allgatherv, "recursive_doubling", "recursive_doubling", 0, true},
    Same{Collective::allgatherv, "ring", "ring"},
    Same{Collective::alltoall, "isend_irecv", "linear"},
    Same{Collective::alltoall, "pairwise", "pairwise"},
    Same{Collective::alltoallv, "isend_irecv", "linear"},
    Same{Collective::reduce_scatter, "recursive_doubling", "recursive_doubling"},
    Same{Collective::reduce_scatter, "pairwise", "pairwise"},
    Same{Collective::scan, "linear", "linear"},
};

Choice choose_in_2003(const Case& asked) {
  static const Decisions& decisions = *new Decisions(rules_of_2003);
  const bool is_alltoall = asked.collective == Collective::alltoall;
  const std::int64_t size = asked.collective == Collective::allgatherv ? asked.count
                            : is_alltoall                              ? asked.count_bytes() * asked.ranks
                                                                       : asked.count_bytes();
  const bool commutative = asked.commutative || !traits(asked.collective).reduces;
  const std::string_view name = decisions.find(asked.collective, commutative, asked.ranks, size);
  if (!is_alltoall || name != "recursive_doubling") return choice_of_one(same_in_2003, asked, name);
  // Every rank gets all data of all others, as in an allgather of what each of them sends.
  Case whole = asked;
  whole.collective = Collective::allgather;
  whole.count = whole.largest = asked.count * asked.ranks;
  return choice_of_one(same_in_2003, whole, name);
}

}  // namespace

extern const Library mvapich_0_9_2 = {
    .name = "MVAPICH 0.9.2", .policy = "mvapich-0.9.2", .mpi = "", .choose = choose_in_2003, .is_historical = true};

}  // namespace quadrille::knowledge
