#pragma once

#include <mpi.h>

#include <cstdint>
#include <ranges>
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

/// Reduction to a root or to all ranks. A base of Communicator.
class ReduceCollectives : public detail::CollectiveFamily<ReduceCollectives> {
 public:
  /// Combines the data of all ranks, element by element, at the root. `output` is significant at the root only.
  ///@{
  void reduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
              const Options& options = {}) {
    core().run(detail::reduction_call(Collective::reduce, {input, count, type}, {output, count, type}, op, root),
               options);
  }
  Pending ireduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
                  const Options& options = {}) {
    return core().start(
        detail::reduction_call(Collective::reduce, {input, count, type}, {output, count, type}, op, root), options);
  }
  Persistent reduce_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
                         const Options& options = {}) {
    return core().init(
        detail::reduction_call(Collective::reduce, {input, count, type}, {output, count, type}, op, root), options);
  }
  template <Data Input, WritableData Output, class Op>
  void reduce(Input&& input, Output&& output, Op op, int root, const Options& options = {}) {
    core().run(detail::reduction_call(Collective::reduce, input, output, std::move(op), {.root = root}), options);
  }
  /// In place: the root's data becomes the result.
  template <WritableData Range, OperationOn<std::ranges::range_value_t<Range>> Op>
  void reduce(Range&& data, Op op, int root, const Options& options = {}) {
    reduce(data, data, std::move(op), root, options);
  }
  /// One value instead of a range. Returns the result at the root, `mine` elsewhere.
  template <Scalar T, OperationOn<T> Op>
  T reduce(const T& mine, Op op, int root, const Options& options = {}) {
    T all = mine;
    reduce(std::span<const T>(&mine, 1), std::span<T>(&all, 1), std::move(op), root, options);
    return all;
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Pending ireduce(Input&& input, Output&& output, Op op, int root, const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::reduce, input, output, std::move(op), {.root = root}),
                        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Persistent reduce_init(Input&& input, Output&& output, Op op, int root, const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::reduce, input, output, std::move(op), {.root = root}),
                       options);
  }
  ///@}

  /// Combines the data of all ranks, element by element, on all ranks.
  ///@{
  void allreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                 const Options& options = {}) {
    core().run(detail::reduction_call(Collective::allreduce, {input, count, type}, {output, count, type}, op), options);
  }
  Pending iallreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                     const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::allreduce, {input, count, type}, {output, count, type}, op),
                        options);
  }
  Persistent allreduce_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                            const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::allreduce, {input, count, type}, {output, count, type}, op),
                       options);
  }
  template <Data Input, WritableData Output, class Op>
  void allreduce(Input&& input, Output&& output, Op op, const Options& options = {}) {
    core().run(detail::reduction_call(Collective::allreduce, input, output, std::move(op), {}), options);
  }
  /// In place: the data becomes the result.
  template <WritableData Range, OperationOn<std::ranges::range_value_t<Range>> Op>
  void allreduce(Range&& data, Op op, const Options& options = {}) {
    allreduce(data, data, std::move(op), options);
  }
  /// One value instead of a range.
  template <Scalar T, OperationOn<T> Op>
  T allreduce(const T& mine, Op op, const Options& options = {}) {
    T all = mine;
    allreduce(std::span<const T>(&mine, 1), std::span<T>(&all, 1), std::move(op), options);
    return all;
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Pending iallreduce(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::allreduce, input, output, std::move(op), {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Persistent allreduce_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::allreduce, input, output, std::move(op), {}), options);
  }
  ///@}

 protected:
  /// \cond
  ReduceCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
