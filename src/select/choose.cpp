#include "select/choose.hpp"

#include "algorithms/catalogue.hpp"

namespace quadrille {

namespace {

// Below this the latency of a message outweighs its bytes.
constexpr std::int64_t short_bytes = 8192;

const char* name_for(const Occasion& occasion) {
  switch (occasion.collective) {
    case Collective::barrier:
      return "dissemination";
    case Collective::bcast: {
      // A chain takes p - 2 + m steps of a segment, a tree log2 p of all m: the chain pays once m outgrows p.
      const bool long_enough = occasion.segment > 0 && occasion.bytes / occasion.segment > occasion.ranks;
      return long_enough && occasion.ranks > 2 ? "pipelined_chain" : "binomial";
    }
    case Collective::allreduce:
      return occasion.bytes <= short_bytes || occasion.count < occasion.ranks ? "recursive_doubling" : "rabenseifner";
    case Collective::alltoallv:
      return "linear";
  }
  return "";
}

}  // namespace

const Algorithm& choose(const Occasion& occasion) {
  return *find_algorithm(occasion.collective, name_for(occasion));
}

}  // namespace quadrille
