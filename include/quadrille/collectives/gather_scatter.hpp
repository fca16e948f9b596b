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

/// Gather to a root, and scatter from it. A base of Communicator.
class GatherScatterCollectives : public detail::CollectiveFamily<GatherScatterCollectives> {
 public:
  /// Gathers a block from each rank at the root, in rank order. `output` is significant at the root only; as a range it
  /// holds all blocks.
  ///@{
  void gather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
              std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    core().run(detail::data_call(Collective::gather, {input, input_count, input_type},
                                 {output, output_count, output_type}, root),
               options);
  }
  Pending igather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                  std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return core().start(detail::data_call(Collective::gather, {input, input_count, input_type},
                                          {output, output_count, output_type}, root),
                        options);
  }
  Persistent gather_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                         std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return core().init(detail::data_call(Collective::gather, {input, input_count, input_type},
                                         {output, output_count, output_type}, root),
                       options);
  }
  template <Data Input, WritableData Output>
  void gather(Input&& input, Output&& output, int root, const Options& options = {}) {
    core().run(detail::data_call(Collective::gather, input, output, {.root = root}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending igather(Input&& input, Output&& output, int root, const Options& options = {}) {
    return core().start(detail::data_call(Collective::gather, input, output, {.root = root}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent gather_init(Input&& input, Output&& output, int root, const Options& options = {}) {
    return core().init(detail::data_call(Collective::gather, input, output, {.root = root}), options);
  }
  ///@}

  /// Gathers blocks of different lengths. `receive`, or `counts` of contiguous blocks, is significant at the root only.
  ///@{
  void gatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
               const Blocks& receive, int root, const Options& options = {}) {
    core().run(
        detail::data_call(Collective::gatherv, {input, input_count, input_type}, detail::buffer(output, receive), root),
        options);
  }
  Pending igatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                   const Blocks& receive, int root, const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::gatherv, {input, input_count, input_type}, detail::buffer(output, receive), root),
        options);
  }
  Persistent gatherv_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                          const Blocks& receive, int root, const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::gatherv, {input, input_count, input_type}, detail::buffer(output, receive), root),
        options);
  }
  template <Data Input, WritableData Output>
  void gatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts, int root,
               const Options& options = {}) {
    core().run(detail::data_call(Collective::gatherv, input, output, {.root = root, .receive_counts = counts}),
               options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending igatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts, int root,
                   const Options& options = {}) {
    return core().start(detail::data_call(Collective::gatherv, input, output, {.root = root, .receive_counts = counts}),
                        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent gatherv_init(Input&& input, Output&& output, std::span<const std::int64_t> counts, int root,
                          const Options& options = {}) {
    return core().init(detail::data_call(Collective::gatherv, input, output, {.root = root, .receive_counts = counts}),
                       options);
  }
  ///@}

  /// Scatters the root's blocks, one to each rank, in rank order. `input` is significant at the root only; as a range
  /// it holds all blocks.
  ///@{
  void scatter(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
               std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    core().run(detail::data_call(Collective::scatter, {input, input_count, input_type},
                                 {output, output_count, output_type}, root),
               options);
  }
  Pending iscatter(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                   std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return core().start(detail::data_call(Collective::scatter, {input, input_count, input_type},
                                          {output, output_count, output_type}, root),
                        options);
  }
  Persistent scatter_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                          std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return core().init(detail::data_call(Collective::scatter, {input, input_count, input_type},
                                         {output, output_count, output_type}, root),
                       options);
  }
  template <Data Input, WritableData Output>
  void scatter(Input&& input, Output&& output, int root, const Options& options = {}) {
    core().run(detail::data_call(Collective::scatter, input, output, {.root = root}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending iscatter(Input&& input, Output&& output, int root, const Options& options = {}) {
    return core().start(detail::data_call(Collective::scatter, input, output, {.root = root}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent scatter_init(Input&& input, Output&& output, int root, const Options& options = {}) {
    return core().init(detail::data_call(Collective::scatter, input, output, {.root = root}), options);
  }
  ///@}

  /// Scatters blocks of different lengths. `send`, or `counts` of contiguous blocks, is significant at the root only.
  ///@{
  void scatterv(const void* input, const Blocks& send, void* output, std::int64_t output_count,
                MPI_Datatype output_type, int root, const Options& options = {}) {
    core().run(
        detail::data_call(Collective::scatterv, detail::buffer(input, send), {output, output_count, output_type}, root),
        options);
  }
  Pending iscatterv(const void* input, const Blocks& send, void* output, std::int64_t output_count,
                    MPI_Datatype output_type, int root, const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::scatterv, detail::buffer(input, send), {output, output_count, output_type}, root),
        options);
  }
  Persistent scatterv_init(const void* input, const Blocks& send, void* output, std::int64_t output_count,
                           MPI_Datatype output_type, int root, const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::scatterv, detail::buffer(input, send), {output, output_count, output_type}, root),
        options);
  }
  template <Data Input, WritableData Output>
  void scatterv(Input&& input, std::span<const std::int64_t> counts, Output&& output, int root,
                const Options& options = {}) {
    core().run(detail::data_call(Collective::scatterv, input, output, {.root = root, .send_counts = counts}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending iscatterv(Input&& input, std::span<const std::int64_t> counts, Output&& output, int root,
                    const Options& options = {}) {
    return core().start(detail::data_call(Collective::scatterv, input, output, {.root = root, .send_counts = counts}),
                        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent scatterv_init(Input&& input, std::span<const std::int64_t> counts, Output&& output, int root,
                           const Options& options = {}) {
    return core().init(detail::data_call(Collective::scatterv, input, output, {.root = root, .send_counts = counts}),
                       options);
  }
  ///@}

 protected:
  /// \cond
  GatherScatterCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
