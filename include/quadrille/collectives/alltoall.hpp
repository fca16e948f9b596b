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

/// Complete exchange. A base of Communicator.
class AlltoallCollectives : public detail::CollectiveFamily<AlltoallCollectives> {
 public:
  /// Sends a block to each rank and receives one from each, in rank order. In place, the call takes no more memory than
  /// Options::memory.
  ///@{
  void alltoall(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    core().run(
        detail::data_call(Collective::alltoall, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  Pending ialltoall(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                    std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::alltoall, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  Persistent alltoall_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                           std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::alltoall, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  template <Data Input, WritableData Output>
  void alltoall(Input&& input, Output&& output, const Options& options = {}) {
    core().run(detail::data_call(Collective::alltoall, input, output, {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending ialltoall(Input&& input, Output&& output, const Options& options = {}) {
    return core().start(detail::data_call(Collective::alltoall, input, output, {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent alltoall_init(Input&& input, Output&& output, const Options& options = {}) {
    return core().init(detail::data_call(Collective::alltoall, input, output, {}), options);
  }
  ///@}

  /// alltoall with blocks of different lengths; with ranges they are contiguous.
  ///
  /// In place (MPI_IN_PLACE as input, where `send` is ignored and may be {}; or one object as both ranges, on
  /// every rank) the blocks that two ranks exchange have equal lengths; datatypes may have gaps. The call takes no more
  /// memory than Options::memory, at least 256 bytes, which may differ between ranks. For other counts see
  /// InPlaceCollectives::alltoallv_in_place.
  ///@{
  void alltoallv(const void* input, const Blocks& send, void* output, const Blocks& receive,
                 const Options& options = {}) {
    core().run(detail::data_call(Collective::alltoallv, detail::buffer(input, send), detail::buffer(output, receive)),
               options);
  }
  Pending ialltoallv(const void* input, const Blocks& send, void* output, const Blocks& receive,
                     const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::alltoallv, detail::buffer(input, send), detail::buffer(output, receive)),
        options);
  }
  Persistent alltoallv_init(const void* input, const Blocks& send, void* output, const Blocks& receive,
                            const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::alltoallv, detail::buffer(input, send), detail::buffer(output, receive)),
        options);
  }
  template <Data Input, WritableData Output>
  void alltoallv(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                 std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    core().run(detail::data_call(Collective::alltoallv, input, output,
                                 {.send_counts = send_counts, .receive_counts = receive_counts}),
               options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Pending ialltoallv(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                     std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    return core().start(detail::data_call(Collective::alltoallv, input, output,
                                          {.send_counts = send_counts, .receive_counts = receive_counts}),
                        options);
  }
  template <BorrowedData Input, BorrowedWritableData Output>
  Persistent alltoallv_init(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                            std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    return core().init(detail::data_call(Collective::alltoallv, input, output,
                                         {.send_counts = send_counts, .receive_counts = receive_counts}),
                       options);
  }
  ///@}

  /// alltoallv with a datatype for each block; in place, too.
  ///@{
  void alltoallw(const void* input, const TypedBlocks& send, void* output, const TypedBlocks& receive,
                 const Options& options = {}) {
    core().run(detail::data_call(Collective::alltoallw, detail::buffer(input, send), detail::buffer(output, receive)),
               options);
  }
  Pending ialltoallw(const void* input, const TypedBlocks& send, void* output, const TypedBlocks& receive,
                     const Options& options = {}) {
    return core().start(
        detail::data_call(Collective::alltoallw, detail::buffer(input, send), detail::buffer(output, receive)),
        options);
  }
  Persistent alltoallw_init(const void* input, const TypedBlocks& send, void* output, const TypedBlocks& receive,
                            const Options& options = {}) {
    return core().init(
        detail::data_call(Collective::alltoallw, detail::buffer(input, send), detail::buffer(output, receive)),
        options);
  }
  ///@}

 protected:
  /// \cond
  AlltoallCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
