#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "quadrille/blocks.hpp"
#include "quadrille/collective.hpp"
#include "quadrille/data.hpp"
#include "quadrille/detail/call.hpp"
#include "quadrille/detail/communicator_core.hpp"
#include "quadrille/detail/range_call.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

namespace quadrille {

/// Gather to all ranks. A base of Communicator.
class AllgatherCollectives : public detail::CollectiveFamily<AllgatherCollectives> {
 public:
  /// Gathers a block from each rank on all ranks, in rank order.
  ///@{
  void allgather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                 std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    core().run(
        detail::data_call(Collective::allgather, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  Pending iallgather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                     std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::allgather, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  Persistent allgather_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                            std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::allgather, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  template <Data Input, WritableData Output>
  void allgather(Input&& input, Output&& output, const Options& options = {}) {
    core().run(detail::data_call(Collective::allgather, input, output, {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending iallgather(Input&& input, Output&& output, const Options& options = {}) {
    return core().start(detail::data_call(Collective::allgather, input, output, {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent allgather_init(Input&& input, Output&& output, const Options& options = {}) {
    return core().init(detail::data_call(Collective::allgather, input, output, {}), options);
  }
  ///@}

  /// Gathers blocks of different lengths on all ranks. With ranges the received blocks are contiguous, and `counts` are
  /// their lengths.
  ///@{
  void allgatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                  const Blocks& receive, const Options& options = {}) {
    core().run(
        detail::data_call(Collective::allgatherv, {input, input_count, input_type}, detail::buffer(output, receive)),
        options);
  }
  Pending iallgatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                      const Blocks& receive, const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::allgatherv, {input, input_count, input_type}, detail::buffer(output, receive)),
        options);
  }
  Persistent allgatherv_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                             const Blocks& receive, const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::allgatherv, {input, input_count, input_type}, detail::buffer(output, receive)),
        options);
  }
  template <Data Input, WritableData Output>
  void allgatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts, const Options& options = {}) {
    core().run(detail::data_call(Collective::allgatherv, input, output, {.receive_counts = counts}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending iallgatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts,
                      const Options& options = {}) {
    return core().start(detail::data_call(Collective::allgatherv, input, output, {.receive_counts = counts}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent allgatherv_init(Input&& input, Output&& output, std::span<const std::int64_t> counts,
                             const Options& options = {}) {
    return core().init(detail::data_call(Collective::allgatherv, input, output, {.receive_counts = counts}), options);
  }
  ///@}

 protected:
  /// \cond
  AllgatherCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
