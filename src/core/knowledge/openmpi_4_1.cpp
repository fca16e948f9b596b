// Open MPI 4.1 and, but for its han, 5.0: the fixed decisions of its component tuned, which runs the collectives of a
// communicator unless another component has a higher priority (han, adapt), and those of basic for what tuned leaves
// out.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "knowledge/decisions.hpp"
#include "knowledge/library.hpp"
#include "knowledge/same.hpp"

namespace quadrille::knowledge {

namespace {

// Names are those of coll_tuned_*_algorithm. Sizes are of a rank's data or block, of reduce_scatter of all, of
// allgatherv the mean.
constexpr std::string_view rules = R"(
allreduce not commutative
  <4    recursive_doubling 131072 basic_linear
  <8    recursive_doubling
  <16   recursive_doubling 1048576 nonoverlapping
  <128  recursive_doubling
  <256  nonoverlapping 131072 recursive_doubling 524288 nonoverlapping
  <512  nonoverlapping 4096 recursive_doubling 524288 nonoverlapping
  rest  nonoverlapping 2048 recursive_doubling
allreduce
  <4    ring 8 recursive_doubling 4096 ring 8192 recursive_doubling 16384 ring 65536 segmented_ring 262144
        rabenseifner
  <8    ring 16 recursive_doubling 8192 rabenseifner
  <16   recursive_doubling 8192 rabenseifner
  <32   segmented_ring 64 recursive_doubling 4096 rabenseifner
  <64   segmented_ring 128 rabenseifner
  <128  recursive_doubling 262144 rabenseifner
  <256  nonoverlapping 131072 recursive_doubling 262144 rabenseifner
  <512  nonoverlapping 4096 rabenseifner
  <2048 nonoverlapping 2048 recursive_doubling 16384 rabenseifner
  <4096 nonoverlapping 2048 segmented_ring 4096 recursive_doubling 16384 rabenseifner
  rest  nonoverlapping 2048 segmented_ring 16384 recursive_doubling 32768 rabenseifner
alltoall
  =2    pairwise 2 two_proc 4 pairwise 16 two_proc 64 pairwise 256 two_proc 4096 pairwise 32768 linear_sync 262144
        two_proc 1048576 pairwise
  <8    linear_sync 8192 linear 16384 linear_sync 65536 linear 524288 pairwise 1048576 linear
  <16   linear_sync 262144 linear
  <32   linear_sync 4 modified_bruck 512 linear_sync 8192 linear 32768 linear_sync 262144 linear 524288 linear_sync
  <64   modified_bruck 512 linear 524288 linear_sync
  <128  modified_bruck 1024 linear 2048 linear_sync 4096 linear 262144 pairwise
  <256  modified_bruck 1024 linear_sync 2048 linear 262144 pairwise
  <512  modified_bruck 1024 linear_sync 8192 linear 32768 pairwise
  <1024 modified_bruck 512 linear_sync 8192 linear 16384 linear_sync 131072 linear 262144 pairwise
  <2048 modified_bruck 512 linear_sync 1024 linear 2048 linear_sync 16384 linear 262144 linear_sync
  <4096 modified_bruck 1024 linear_sync 4096 linear 8192 linear_sync 131072 linear
  rest  modified_bruck 2048 linear_sync 8192 linear 16384 linear_sync 32768 linear 65536 linear_sync
alltoallv
  <4    pairwise
  <64   basic_linear
  <128  pairwise
  <256  basic_linear
  <1024 pairwise
  rest  basic_linear
barrier
  <4    recursive_doubling
  <8    linear
  <64   recursive_doubling
  <256  bruck
  <512  tree
  <1024 bruck
  <4096 tree
  rest  bruck
bcast
  <4    pipeline 32 binary_tree 256 pipeline 512 knomial 1024 basic_linear 32768 binary_tree 131072 chain 262144
        basic_linear 524288 binomial 1048576 binary_tree
  <8    binary_tree 64 binomial 128 binary_tree 2048 binomial 8192 basic_linear 1048576 chain
  <16   knomial 8 binary_tree 64 knomial 4096 binary_tree 16384 binomial 32768 basic_linear
  <32   knomial 4096 binomial 1048576 scatter_allgather
  <64   binomial 2048 knomial
  <128  knomial
  <256  binomial 2 binary_tree 16384 basic_linear 32768 binary_tree 65536 knomial
  <1024 knomial 16384 split_binary_tree 32768 knomial
  <2048 knomial 524288 scatter_allgather
  <4096 knomial 262144 scatter_allgather
  rest  knomial 8192 binary_tree 16384 knomial 262144 scatter_allgather
reduce not commutative
  <4    in-order_binary 8 linear
  <8    linear
  <16   in-order_binary 1024 linear 8192 in-order_binary 16384 linear 262144 in-order_binary
  <128  in-order_binary
  <256  in-order_binary 512 linear 1024 in-order_binary
  rest  in-order_binary
reduce
  <4    rabenseifner 8 binary 16 pipeline 32 linear 262144 pipeline 524288 chain 1048576 pipeline
  <8    binary 4096 chain 65536 binomial 262144 linear 524288 binomial 1048576 linear
  <16   binary 8192 binomial
  <32   binary 4096 binomial
  <256  binomial
  <512  binomial 8192 in-order_binary 16384 binomial
  <2048 binomial
  <4096 binomial 512 in-order_binary 1024 binomial 8192 in-order_binary 16384 binomial
  rest  binomial 16 in-order_binary 32 binomial 1024 in-order_binary 2048 binomial 8192 in-order_binary 16384
        binomial
reduce_scatter not commutative
  rest  non-overlapping
reduce_scatter
  <4    ring 65536 butterfly 131072 ring
  <8    non-overlapping 8 recursive_halving 262144 ring
  <32   recursive_halving 262144 ring
  <64   non-overlapping 64 recursive_halving 2048 butterfly 524288 ring
  <128  non-overlapping 256 recursive_halving 512 butterfly 2048 recursive_halving 4096 butterfly
  <256  non-overlapping 256 recursive_halving 512 butterfly
  <512  non-overlapping 256 recursive_halving 1024 butterfly
  <1024 non-overlapping 512 recursive_halving 2048 butterfly 8192 recursive_halving 16384 butterfly
  <2048 non-overlapping 512 recursive_halving 4096 butterfly 16384 recursive_halving 32768 butterfly
  <4096 non-overlapping 512 recursive_halving 4096 butterfly
  rest  non-overlapping 1024 recursive_halving 8192 butterfly
reduce_scatter_block not commutative
  rest  basic_linear
reduce_scatter_block
  <4    recursive_doubling 4 butterfly 8 recursive_halving 16 butterfly 128 recursive_halving 256 butterfly 4096
        recursive_halving 8192 butterfly 131072 basic_linear
  <8    recursive_halving 8 recursive_doubling 32 butterfly 256 recursive_halving 8192 butterfly 16384
        recursive_halving 1048576 basic_linear
  <16   basic_linear 4 recursive_halving 32 butterfly 128 recursive_halving 524288 basic_linear 4194304 butterfly
  <32   basic_linear 32 recursive_halving 524288 basic_linear 2097152 recursive_halving 4194304 butterfly
  rest  recursive_halving 4 basic_linear 16 butterfly 65536 basic_linear 262144 butterfly
allgather
  =2    two_proc
  <32   recursive_doubling
  <64   recursive_doubling 1024 neighbor 65536 ring
  <128  recursive_doubling 512 neighbor 65536 ring
  <256  recursive_doubling 512 neighbor 131072 ring 524288 neighbor 1048576 ring
  <512  recursive_doubling 32 bruck 128 recursive_doubling 1024 neighbor 131072 ring 524288 neighbor 1048576 ring
  <1024 recursive_doubling 64 bruck 256 recursive_doubling 2048 neighbor
  <2048 recursive_doubling 4 bruck 8 recursive_doubling 16 bruck 32 recursive_doubling 256 bruck 512
        recursive_doubling 4096 neighbor
  <4096 bruck 32 recursive_doubling 128 bruck 512 recursive_doubling 4096 neighbor
  rest  recursive_doubling 2 bruck 8 recursive_doubling 16 bruck 512 recursive_doubling 4096 neighbor
allgatherv
  =2    ring 2048 two_proc 4096 ring 8192 two_proc
  <8    default 256 neighbor 4096 ring 8192 neighbor 16384 bruck 262144 neighbor
  <16   default 1024 bruck
  <32   default 128 bruck 262144 ring
  <64   default 256 bruck 8192 ring
  <128  default 256 bruck 4096 ring
  <256  bruck 1024 neighbor 65536 ring
  <512  bruck 1024 ring
  <1024 bruck 512 default 1024 bruck 4096 neighbor 1048576 ring
  rest  bruck 4096 neighbor
gather
  <4    linear_sync 2 basic_linear 4 binomial 32768 basic_linear 65536 binomial 131072 linear_sync
  <8    binomial 1024 basic_linear 8192 binomial 32768 basic_linear 262144 linear_sync
  <256  binomial
  <512  binomial 2048 basic_linear 8192 binomial
  rest  binomial
scatter
  <4    linear_nb 2 basic_linear 131072 linear_nb 262144 basic_linear
  <8    binomial 2048 basic_linear 4096 binomial 8192 basic_linear 32768 linear_nb 1048576 basic_linear
  <16   binomial 16384 linear_nb 1048576 basic_linear
  <32   binomial 16384 basic_linear 32768 linear_nb
  <64   binomial 512 linear_nb 8192 binomial 16384 linear_nb
  rest  binomial 512 linear_nb
gatherv
  rest  linear
scatterv
  rest  linear
alltoallw
  rest  linear
scan
  rest  linear
scan not commutative
  rest  linear
exscan
  rest  linear
exscan not commutative
  rest  linear
)";

constexpr std::array same = {
    Same{Collective::barrier, "recursive_doubling", "recursive_doubling_last"},
    Same{Collective::barrier, "linear", "linear"},
    Same{Collective::barrier, "bruck", "dissemination"},
    Same{Collective::barrier, "tree", "tree"},
    Same{Collective::bcast, "basic_linear", "linear"},
    Same{Collective::bcast, "chain", "pipelined_chain"},  // the fixed decisions ask for one chain
    Same{Collective::bcast, "pipeline", "pipelined_chain"},
    Same{Collective::bcast, "split_binary_tree", "split_binary"},
    Same{Collective::bcast, "binary_tree", "interleaved_binary"},
    Same{Collective::bcast, "binomial", "doubling_binomial"},
    Same{Collective::bcast, "knomial", "knomial", 4},
    Same{Collective::bcast, "scatter_allgather", "scatter_doubling_all"},
    Same{Collective::reduce, "linear", "linear"},
    Same{Collective::reduce, "chain", "descending_chain"},
    Same{Collective::reduce, "pipeline", "descending_chain"},
    Same{Collective::reduce, "binary", "interleaved_binary"},
    Same{Collective::reduce, "binomial", "binomial"},
    Same{Collective::reduce, "in-order_binary", "post_order_binary"},
    Same{Collective::reduce, "rabenseifner", "rabenseifner", 0, true},
    Same{Collective::allreduce, "recursive_doubling", "recursive_doubling"},
    Same{Collective::allreduce, "ring", "ring"},
    Same{Collective::allreduce, "rabenseifner", "rabenseifner_by_halves"},
    Same{Collective::gather, "basic_linear", "linear"},
    Same{Collective::gather, "binomial", "binomial"},
    Same{Collective::gather, "linear_sync", "linear_sync"},
    Same{Collective::gatherv, "linear", "linear"},
    Same{Collective::scatter, "basic_linear", "linear"},
    Same{Collective::scatter, "linear_nb", "linear"},
    Same{Collective::scatter, "binomial", "binomial"},
    Same{Collective::scatterv, "linear", "linear"},
    Same{Collective::allgather, "bruck", "bruck"},
    Same{Collective::allgather, "recursive_doubling", "recursive_doubling"},
    Same{Collective::allgather, "ring", "ring"},
    Same{Collective::allgather, "neighbor", "neighbour_exchange"},
    Same{Collective::allgather, "two_proc", "ring"},
    Same{Collective::allgatherv, "bruck", "bruck"},
    Same{Collective::allgatherv, "ring", "ring"},
    Same{Collective::allgatherv, "neighbor", "neighbour_exchange"},
    Same{Collective::allgatherv, "two_proc", "ring"},
    Same{Collective::alltoall, "linear", "linear"},
    Same{Collective::alltoall, "basic_inplace", "linear"},
    Same{Collective::alltoall, "pairwise", "pairwise"},
    Same{Collective::alltoall, "modified_bruck", "bruck", 2},
    Same{Collective::alltoall, "linear_sync", "linear"},
    Same{Collective::alltoall, "two_proc", "pairwise"},
    Same{Collective::alltoallv, "basic_linear", "linear"},
    Same{Collective::alltoallv, "basic_inplace", "linear"},
    Same{Collective::alltoallv, "pairwise", "pairwise"},
    Same{Collective::alltoallw, "linear", "linear"},
    Same{Collective::alltoallw, "basic_inplace", "linear"},
    Same{Collective::reduce_scatter, "recursive_halving", "recursive_halving"},
    Same{Collective::reduce_scatter, "ring", "ring"},
    Same{Collective::reduce_scatter, "butterfly", "butterfly"},
    Same{Collective::reduce_scatter_block, "recursive_halving", "recursive_halving"},
    Same{Collective::reduce_scatter_block, "recursive_doubling", "recursive_doubling"},
    Same{Collective::reduce_scatter_block, "butterfly", "butterfly"},
    Same{Collective::reduce_scatter_block, "butterfly_pof2", "permuted_butterfly"},
    Same{Collective::scan, "linear", "linear"},
    Same{Collective::exscan, "linear", "linear"},
};

Variant variant_for(Collective collective, std::string_view theirs, Rank ranks) {
  Variant variant = variant_that_is(same, collective, theirs, ranks);
  // The fixed decisions ask for no segments.
  if (variant && variant.algorithm().segmented) variant.segment = std::numeric_limits<std::int64_t>::max();
  return variant;
}

std::int64_t bytes_of(const Case& asked) {
  return asked.collective == Collective::allgatherv ? asked.count_bytes() / asked.ranks : asked.count_bytes();
}

// Of algorithms that give each rank, or each corner of a hypercube, a part of the data.
std::string_view with_fewer_elements_than_parts(std::string_view name, const Case& asked) {
  const std::int64_t corners = std::bit_floor(static_cast<std::uint32_t>(asked.ranks));
  if (name == "ring" && asked.count < asked.ranks) return "recursive_doubling";
  if (name == "rabenseifner" && asked.count < corners) {
    return asked.collective == Collective::reduce ? "linear" : "basic_linear";
  }
  return name.starts_with("scatter_allgather") && asked.count < asked.ranks ? "basic_linear" : name;
}

// What an algorithm that can't run the call leaves it to.
std::string_view instead_of(std::string_view name, const Case& asked) {
  switch (asked.collective) {
    case Collective::bcast:
    case Collective::reduce:
      return with_fewer_elements_than_parts(name, asked);
    case Collective::allreduce:
      // Without a size of segments all data is one, and there are fewer than ranks.
      return with_fewer_elements_than_parts(name == "segmented_ring" ? "ring" : name, asked);
    case Collective::gather:
      // Without data all of them send nothing, but for the signals that it would not come to.
      return asked.count == 0 ? "basic_linear" : name;
    case Collective::allgather:
      if (name == "recursive_doubling" && !is_power_of_two(asked.ranks)) return "bruck";
      [[fallthrough]];
    case Collective::allgatherv:
      return name == "neighbor" && asked.ranks % 2 != 0 ? "ring" : name;
    case Collective::reduce_scatter_block:
      return name == "butterfly" && is_power_of_two(asked.ranks) ? "butterfly_pof2" : name;
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      return asked.in_place ? "basic_inplace" : name;
    default:
      return name;
  }
}

std::string_view name_of(const Case& asked) {
  static const Decisions& decisions = *new Decisions(rules);
  const bool commutative = asked.commutative || !traits(asked.collective).reduces;
  return instead_of(decisions.find(asked.collective, commutative, asked.ranks, bytes_of(asked)), asked);
}

// Collectives that another one is made of, with rank 0 as their root.
Step part(const Case& whole, Collective collective, std::int64_t count, std::string_view theirs = "") {
  Case asked = whole;
  asked.collective = collective;
  asked.root = 0;
  asked.in_place = false;
  asked.count = asked.largest = count;
  return {asked, variant_for(collective, theirs.empty() ? name_of(asked) : theirs, asked.ranks)};
}

std::vector<Step> steps_of(const Case& asked, std::string_view name) {
  switch (asked.collective) {
    case Collective::allreduce:
      if (name == "basic_linear") {
        return {part(asked, Collective::reduce, asked.count, "linear"),
                part(asked, Collective::bcast, asked.count, "basic_linear")};
      }
      if (name == "nonoverlapping") {
        return {part(asked, Collective::reduce, asked.count), part(asked, Collective::bcast, asked.count)};
      }
      break;
    case Collective::reduce_scatter:
      if (name == "non-overlapping") {
        return {part(asked, Collective::reduce, asked.count),
                part(asked, Collective::scatterv, asked.count / asked.ranks)};
      }
      break;
    case Collective::reduce_scatter_block:
      if (name == "basic_linear") {
        return {part(asked, Collective::reduce, asked.count * asked.ranks),
                part(asked, Collective::scatter, asked.count)};
      }
      break;
    case Collective::allgatherv:
      if (name == "default") {
        // All blocks are one element of a datatype.
        Case element = asked;
        element.unit_bytes = asked.count_bytes();
        return {part(asked, Collective::gatherv, asked.count / asked.ranks),
                part(element, Collective::bcast, asked.count > 0 ? 1 : 0)};
      }
      break;
    default:
      break;
  }
  Case one = asked;
  one.in_place = false;  // the messages are the same
  return {{one, variant_for(asked.collective, name, asked.ranks)}};
}

Choice choose(const Case& asked) {
  const std::string_view name = name_of(asked);
  Choice choice{.name = name, .steps = steps_of(asked, name)};
  const bool all_known = std::all_of(choice.steps.begin(), choice.steps.end(),
                                     [](const Step& step) { return static_cast<bool>(step.variant); });
  if (!all_known) choice.steps.clear();
  return choice;
}

// Its tuned decides as that of 4.1. On several nodes of several ranks its han runs most collectives, of which nothing
// is known here.
Choice choose_as_5_0(const Case& asked) {
  if (asked.nodes > 1 && asked.ranks_per_node > 1) return {.name = "han", .steps = {}};
  return choose(asked);
}

}  // namespace

extern const Library openmpi_4_1 = {
    .name = "Open MPI 4.1", .policy = "openmpi-4.1", .mpi = "Open MPI v4.1.", .choose = choose};

extern const Library openmpi_5_0 = {
    .name = "Open MPI 5.0", .policy = "openmpi-5.0", .mpi = "Open MPI v5.0.", .choose = choose_as_5_0};

}  // namespace quadrille::knowledge
