#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <utility>

#include "quadrille/collective.hpp"
#include "quadrille/data.hpp"
#include "quadrille/detail/call.hpp"
#include "quadrille/detail/communicator_core.hpp"
#include "quadrille/detail/range_call.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

namespace quadrille {

/// Reduction whose result is scattered. A base of Communicator.
class ReduceScatterCollectives : public detail::CollectiveFamily<ReduceScatterCollectives> {
 public:
  /// Combines the data of all ranks, element by element, and scatters the result: rank i receives block i, of
  /// `counts[i]` elements.
  ///@{
  void reduce_scatter(const void* input, void* output, const std::int64_t* counts, MPI_Datatype type, MPI_Op op,
                      const Options& options = {}) {
    core().run(detail::reduction_call(Collective::reduce_scatter, {.address = input, .type = type},
                                      {.address = output, .type = type, .counts = counts}, op),
               options);
  }
  Pending ireduce_scatter(const void* input, void* output, const std::int64_t* counts, MPI_Datatype type, MPI_Op op,
                          const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::reduce_scatter, {.address = input, .type = type},
                                               {.address = output, .type = type, .counts = counts}, op),
                        options);
  }
  Persistent reduce_scatter_init(const void* input, void* output, const std::int64_t* counts, MPI_Datatype type,
                                 MPI_Op op, const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::reduce_scatter, {.address = input, .type = type},
                                              {.address = output, .type = type, .counts = counts}, op),
                       options);
  }
  template <Data Input, WritableData Output, class Op>
  void reduce_scatter(Input&& input, Output&& output, std::span<const std::int64_t> counts, Op op,
                      const Options& options = {}) {
    core().run(
        detail::reduction_call(Collective::reduce_scatter, input, output, std::move(op), {.receive_counts = counts}),
        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Pending ireduce_scatter(Input&& input, Output&& output, std::span<const std::int64_t> counts, Op op,
                          const Options& options = {}) {
    return core().start(
        detail::reduction_call(Collective::reduce_scatter, input, output, std::move(op), {.receive_counts = counts}),
        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Persistent reduce_scatter_init(Input&& input, Output&& output, std::span<const std::int64_t> counts, Op op,
                                 const Options& options = {}) {
    return core().init(
        detail::reduction_call(Collective::reduce_scatter, input, output, std::move(op), {.receive_counts = counts}),
        options);
  }
  ///@}

  /// reduce_scatter with blocks of equal length; `count` is that of one block.
  ///@{
  void reduce_scatter_block(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                            const Options& options = {}) {
    core().run(
        detail::reduction_call(Collective::reduce_scatter_block, {input, count, type}, {output, count, type}, op),
        options);
  }
  Pending ireduce_scatter_block(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                                const Options& options = {}) {
    return core().start(
        detail::reduction_call(Collective::reduce_scatter_block, {input, count, type}, {output, count, type}, op),
        options);
  }
  Persistent reduce_scatter_block_init(const void* input, void* output, std::int64_t count, MPI_Datatype type,
                                       MPI_Op op, const Options& options = {}) {
    return core().init(
        detail::reduction_call(Collective::reduce_scatter_block, {input, count, type}, {output, count, type}, op),
        options);
  }
  template <Data Input, WritableData Output, class Op>
  void reduce_scatter_block(Input&& input, Output&& output, Op op, const Options& options = {}) {
    core().run(detail::reduction_call(Collective::reduce_scatter_block, input, output, std::move(op), {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Pending ireduce_scatter_block(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::reduce_scatter_block, input, output, std::move(op), {}),
                        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Persistent reduce_scatter_block_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::reduce_scatter_block, input, output, std::move(op), {}),
                       options);
  }
  ///@}

 protected:
  /// \cond
  ReduceScatterCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
