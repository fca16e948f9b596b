#pragma once

#include <cstdint>
#include <string_view>

namespace quadrille {

/// Options of one call. They must be the same on all ranks, except for `memory` of an alltoallv or alltoallw in place,
/// of alltoallv_in_place and of redistribute.
struct Options {
  /// An algorithm's name as `quadrille list` prints it, with its width where it has one ("bruck:4"). Empty: selected by
  /// the library.
  std::string_view algorithm = {};
  /// Reductions only: evaluate from left to right in rank order, ((r0 op r1) op r2) op ..., so that the result is
  /// reproducible to the bit, whatever the placement of ranks and the size of the data. Fewer algorithms can do this: a
  /// short allreduce takes p steps instead of log2 p; a long one moves no more data than otherwise.
  bool fixed_order = false;
  /// An upper bound, in bytes per rank, on what the call allocates beyond the caller's buffers for scratch and packing;
  /// 0: no bound but that of QUADRILLE_MEMORY. Memory that depends only on the number of ranks is not counted. A call
  /// that would exceed the bound fails on every rank. An all-to-all in place is always bounded: there, 0 means one
  /// hundredth of the data, and at least 64 KiB.
  std::int64_t memory = 0;
};

}  // namespace quadrille
