#include "select/choose.hpp"

#include "algorithms/catalogue.hpp"

namespace quadrille {

namespace {

// Below this the latency of a message outweighs its bytes.
constexpr std::int64_t short_bytes = 8192;
// Bruck's detours pay only for blocks that are a message's overhead rather than its contents.
constexpr std::int64_t tiny_bytes = 256;

// A pipeline takes p - 2 + m steps of a segment, a tree log2 p of all m: the pipeline pays once m outgrows p.
bool worth_a_pipeline(const Occasion& occasion) {
  return occasion.ranks > 2 && occasion.segment > 0 && occasion.bytes / occasion.segment > occasion.ranks;
}

bool is_short(const Occasion& occasion) {
  return occasion.bytes <= short_bytes || occasion.count < occasion.ranks;
}

const char* name_in_fixed_order(const Occasion& occasion) {
  switch (occasion.collective) {
    case Collective::allreduce:
      return is_short(occasion) ? "pipelined_chain" : "pairwise";
    case Collective::reduce:
      return worth_a_pipeline(occasion) ? "pipelined_chain" : "linear";
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return "pairwise";
    default:
      return "linear";
  }
}

const char* name_for(const Occasion& occasion) {
  switch (occasion.collective) {
    case Collective::barrier:
      return "dissemination";
    case Collective::bcast:
      return worth_a_pipeline(occasion) ? "pipelined_chain" : "binomial";
    case Collective::reduce:
      return is_short(occasion) ? "binomial" : "rabenseifner";
    case Collective::allreduce:
      return is_short(occasion) ? "recursive_doubling" : "rabenseifner";
    case Collective::gather:
    case Collective::scatter:
      return occasion.bytes <= short_bytes ? "binomial" : "linear";
    case Collective::gatherv:
    case Collective::scatterv:
      return "linear";
    case Collective::allgather:
      return occasion.bytes <= short_bytes ? "bruck" : "ring";
    case Collective::allgatherv:
      return "ring";
    case Collective::alltoall:
      if (occasion.in_place) return "tournament";
      return occasion.bytes <= tiny_bytes && occasion.ranks > 8 ? "bruck" : "linear";
    case Collective::alltoallv:
    case Collective::alltoallw:
      return occasion.in_place ? "tournament" : "linear";
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return occasion.commutative ? "recursive_halving" : "pairwise";
    case Collective::scan:
    case Collective::exscan:
      return "recursive_doubling";
  }
  return "";
}

}  // namespace

const Algorithm& choose(const Occasion& occasion) {
  return *find_algorithm(occasion.collective,
                         occasion.fixed_order ? name_in_fixed_order(occasion) : name_for(occasion));
}

}  // namespace quadrille
