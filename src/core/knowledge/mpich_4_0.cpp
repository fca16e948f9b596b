// MPICH 4.0 with its device ch4: the rules that are compiled in, for collectives that it runs by messages. On
// communicators with several ranks on a node ch4 runs some of them in parts, inside nodes by shared memory.

#include <array>
#include <bit>

#include "knowledge/decisions.hpp"
#include "knowledge/library.hpp"
#include "knowledge/same.hpp"

namespace quadrille::knowledge {

namespace {

// Names are those of MPIR_CVAR_*_INTRA_ALGORITHM. Sizes are of a rank's data or block, of allgather, allgatherv,
// reduce_scatter and reduce_scatter_block of all. Of reduce and allreduce the rules for operations that don't commute
// are those for all that the program defines. The rule of alltoall is written for fewer than 8 ranks, and is taken for
// 8 as well: MPICH compares by <= there.
constexpr std::string_view mpich_rules = R"(
barrier
  rest  dissemination
bcast
  <8    binomial
  pow2  binomial 12289 scatter_recursive_doubling_allgather 524289 scatter_ring_allgather
  rest  binomial 12289 scatter_ring_allgather
reduce
  rest  binomial 2049 reduce_scatter_gather
reduce not commutative
  rest  binomial
allreduce
  rest  smp 1 recursive_doubling 9 reduce_scatter_allgather
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
  rest  brucks 81920 ring
allgatherv
  pow2  recursive_doubling 524288 ring
  rest  brucks 81920 ring
alltoall
  <9    scattered 32769 pairwise
  rest  brucks 257 scattered 32769 pairwise
alltoallv
  rest  scattered
alltoallw
  rest  scattered
reduce_scatter
  rest  recursive_halving 524288 pairwise
reduce_scatter not commutative
  pow2  noncommutative
  rest  recursive_doubling
reduce_scatter_block
  rest  recursive_halving 524288 pairwise
reduce_scatter_block not commutative
  pow2  noncommutative
  rest  recursive_doubling
scan
  rest  recursive_doubling
scan not commutative
  rest  recursive_doubling
exscan
  rest  recursive_doubling
exscan not commutative
  rest  recursive_doubling
)";

constexpr std::array same_as_mpich = {
    Same{Collective::barrier, "dissemination", "dissemination"},
    Same{Collective::bcast, "binomial", "binomial"},
    Same{Collective::bcast, "scatter_recursive_doubling_allgather", "scatter_doubling_all"},
    Same{Collective::bcast, "scatter_ring_allgather", "scatter_ring_all"},
    Same{Collective::reduce, "binomial", "binomial"},
    Same{Collective::reduce, "reduce_scatter_gather", "rabenseifner", 0, true},
    Same{Collective::allreduce, "smp", "recursive_doubling"},  // of no data
    Same{Collective::allreduce, "recursive_doubling", "recursive_doubling"},
    Same{Collective::allreduce, "reduce_scatter_allgather", "rabenseifner"},
    Same{Collective::gather, "binomial", "binomial"},
    Same{Collective::gatherv, "linear", "linear"},
    Same{Collective::scatter, "binomial", "binomial"},
    Same{Collective::scatterv, "linear", "linear"},
    Same{Collective::allgather, "recursive_doubling", "recursive_doubling"},
    Same{Collective::allgather, "brucks", "bruck"},
    Same{Collective::allgather, "ring", "ring"},
    Same{Collective::allgatherv, "recursive_doubling", "recursive_doubling", 0, true},
    Same{Collective::allgatherv, "brucks", "bruck"},
    Same{Collective::allgatherv, "ring", "ring"},
    Same{Collective::alltoall, "brucks", "bruck", 2},
    Same{Collective::alltoall, "scattered", "linear"},
    Same{Collective::alltoall, "pairwise", "pairwise"},
    Same{Collective::alltoall, "pairwise_sendrecv_replace", "linear"},
    Same{Collective::alltoallv, "scattered", "linear"},
    Same{Collective::alltoallv, "pairwise_sendrecv_replace", "linear"},
    Same{Collective::alltoallw, "scattered", "linear"},
    Same{Collective::alltoallw, "pairwise_sendrecv_replace", "linear"},
    Same{Collective::reduce_scatter, "recursive_halving", "recursive_halving"},
    Same{Collective::reduce_scatter, "pairwise", "pairwise"},
    Same{Collective::reduce_scatter, "noncommutative", "permuted_butterfly"},
    Same{Collective::reduce_scatter, "recursive_doubling", "recursive_doubling"},
    Same{Collective::reduce_scatter_block, "recursive_halving", "recursive_halving"},
    Same{Collective::reduce_scatter_block, "pairwise", "pairwise"},
    Same{Collective::reduce_scatter_block, "noncommutative", "permuted_butterfly"},
    Same{Collective::reduce_scatter_block, "recursive_doubling", "recursive_doubling"},
    Same{Collective::scan, "recursive_doubling", "recursive_doubling"},
    Same{Collective::exscan, "recursive_doubling", "recursive_doubling"},
};

std::int64_t bytes_in_rules(const Case& asked) {
  const bool of_all = asked.collective == Collective::allgather || asked.collective == Collective::reduce_scatter_block;
  return of_all ? asked.count_bytes() * asked.ranks : asked.count_bytes();
}

// What ch4 runs in parts, on communicators with several ranks on a node; empty: nothing.
std::string_view in_parts(const Case& asked) {
  if (asked.ranks_per_node <= 1) return {};
  const std::int64_t bytes = asked.count_bytes();
  switch (asked.collective) {
    case Collective::barrier:
    case Collective::scan:
      return "composition_alpha";
    case Collective::bcast:
      if (asked.ranks < 8 || bytes < 12288) return "composition_alpha";
      return is_power_of_two(asked.ranks) && bytes < 524288 ? "composition_beta" : "";
    case Collective::reduce:
      if (!asked.commutative) return {};
      return bytes <= 2048 ? "composition_beta" : "composition_alpha";
    case Collective::allreduce:
      if (asked.nodes == 1) return "composition_gamma";
      return asked.commutative ? "composition_alpha" : "";
    default:
      return {};
  }
}

std::string_view rule_for(const Case& asked) {
  static const Decisions& decisions = *new Decisions(mpich_rules);
  const bool by_definition = asked.collective == Collective::reduce || asked.collective == Collective::allreduce;
  const bool first =
      !traits(asked.collective).reduces || (asked.commutative && (asked.operation >= 0 || !by_definition));
  return decisions.find(asked.collective, first, asked.ranks, bytes_in_rules(asked));
}

std::string_view name_in_mpich(const Case& asked) {
  const std::string_view name = rule_for(asked);
  const bool fewer_than_corners = asked.count < std::bit_floor(static_cast<std::uint32_t>(asked.ranks));
  switch (asked.collective) {
    case Collective::reduce:
      return fewer_than_corners ? "binomial" : name;
    case Collective::allreduce:
      return name == "reduce_scatter_allgather" && fewer_than_corners ? "recursive_doubling" : name;
    case Collective::reduce_scatter:
      // Only for blocks of one size.
      return name == "noncommutative" && asked.largest * asked.ranks != asked.count ? "recursive_doubling" : name;
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      return asked.in_place ? "pairwise_sendrecv_replace" : name;
    default:
      return name;
  }
}

Choice choose_as_mpich(const Case& asked) {
  if (const std::string_view parts = in_parts(asked); !parts.empty()) return {.name = parts, .steps = {}};
  return choice_of_one(same_as_mpich, asked, name_in_mpich(asked));
}

// Its rules are those of 4.0, but for a name.
Choice choose_as_4_2(const Case& asked) {
  Choice choice = choose_as_mpich(asked);
  if (choice.name == "dissemination") choice.name = "k_dissemination";
  return choice;
}

}  // namespace

extern const Library mpich_4_2 = {
    .name = "MPICH 4.2", .policy = "mpich-4.2", .mpi = "MPICH 4.2", .choose = choose_as_4_2};

extern const Library mpich_4_0 = {
    .name = "MPICH 4.0", .policy = "mpich-4.0", .mpi = "MPICH 4.0", .choose = choose_as_mpich};

}  // namespace quadrille::knowledge
