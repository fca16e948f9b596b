#include "select/rules_of_thumb.hpp"

#include <stdexcept>

#include "algorithms/catalogue.hpp"

namespace quadrille {

namespace {

// Below this the latency of a message outweighs its bytes.
constexpr std::int64_t short_bytes = 8192;
// Bruck's detours pay only for blocks that are a message's overhead rather than its contents.
constexpr std::int64_t tiny_bytes = 256;

// A pipeline takes p - 2 + m steps of a segment, a tree log2 p of all m: the pipeline pays once m outgrows p.
bool worth_a_pipeline(const Case& asked, std::int64_t segment) {
  return asked.ranks > 2 && segment > 0 && asked.count_bytes() / segment > asked.ranks;
}

bool is_short(const Case& asked) {
  return asked.count_bytes() <= short_bytes || asked.count < asked.ranks;
}

const char* name_in_fixed_order(const Case& asked, std::int64_t segment) {
  switch (asked.collective) {
    case Collective::allreduce:
      return is_short(asked) ? "pipelined_chain" : "pairwise";
    case Collective::reduce:
      return worth_a_pipeline(asked, segment) ? "pipelined_chain" : "linear";
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return "pairwise";
    default:
      return "linear";
  }
}

const char* name_for(const Case& asked, std::int64_t segment) {
  switch (asked.collective) {
    case Collective::barrier:
      return "dissemination";
    case Collective::bcast:
      return worth_a_pipeline(asked, segment) ? "pipelined_chain" : "binomial";
    case Collective::reduce:
      return is_short(asked) ? "binomial" : "rabenseifner";
    case Collective::allreduce:
      return is_short(asked) ? "recursive_doubling" : "rabenseifner";
    case Collective::gather:
    case Collective::scatter:
      return asked.count_bytes() <= short_bytes ? "binomial" : "linear";
    case Collective::gatherv:
    case Collective::scatterv:
      return "linear";
    case Collective::allgather:
      return asked.count_bytes() <= short_bytes ? "bruck" : "ring";
    case Collective::allgatherv:
      return "ring";
    case Collective::alltoall:
      if (asked.in_place) return "tournament";
      return asked.count_bytes() <= tiny_bytes && asked.ranks > 8 ? "bruck" : "linear";
    case Collective::alltoallv:
    case Collective::alltoallw:
      if (asked.in_place) return asked.nodes == 1 ? "shared_memory" : "tournament";
      return "linear";
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return asked.commutative ? "recursive_halving" : "pairwise";
    case Collective::scan:
    case Collective::exscan:
      return "recursive_doubling";
  }
  return "";
}

// Through shared memory inside nodes. There a rank that computes after a short non-blocking call would keep others from
// the slots that it has not read, where a deposit needs nobody.
bool by_levels(const Case& asked, const Windows& windows) {
  const bool early = asked.form != Form::blocking && asked.count_bytes() <= windows.box;
  return asked.nodes < asked.ranks && !early && (asked.nodes > 1 || windows.shares_memory);
}

}  // namespace

const Algorithm& usual_one_sided(const Case& asked, std::int64_t segment, const Windows& windows) {
  const auto named = [&](std::string_view name) -> const Algorithm& { return *find_algorithm(asked.collective, name); };
  switch (asked.collective) {
    case Collective::barrier:
      return named("one_sided_dissemination");
    case Collective::bcast:
      if (by_levels(asked, windows)) return named("one_sided_hierarchical");
      return named(worth_a_pipeline(asked, segment) ? "one_sided_chain" : "one_sided_binomial");
    case Collective::allgather:
      return named(asked.count_bytes() <= short_bytes ? "one_sided_linear" : "one_sided_ring");
    default:
      throw std::logic_error("there is no such one-sided algorithm");
  }
}

const Algorithm& usual_algorithm(const Case& asked, std::int64_t segment) {
  return *find_algorithm(asked.collective,
                         asked.fixed_order ? name_in_fixed_order(asked, segment) : name_for(asked, segment));
}

}  // namespace quadrille
