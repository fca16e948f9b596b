#pragma once

/// \file
/// Quadrille: collective communication on top of MPI.
///
///     quadrille::Communicator comm(MPI_COMM_WORLD);
///     comm.allreduce(mine, sum, std::plus{});
///
/// Compile and link with the MPI that the program uses: quadrille::openmpi or quadrille::mpich in CMake.
///
/// **Progress.** A pending collective advances in every call of this library that waits or tests, on whatever
/// communicator, under every MPI; it does not advance inside MPI's own calls, nor while the program computes, unless
/// QUADRILLE_PROGRESS=1 gives it a thread of its own. So a program without that must not block in MPI (say, in
/// MPI_Recv) for something that another rank does only after a collective still pending here.
///
/// **Threads.** Calls may come from several threads if MPI was initialised with MPI_THREAD_MULTIPLE; calls on one
/// communicator must then be ordered among the threads alike on every rank, as MPI asks of its own collectives.
///
/// **Errors.** Every call throws quadrille::Error, and passes on what a reduction's function throws; such a function
/// must not call this library or MPI. Other ranks hear of neither: a collective that fails on one may leave them
/// waiting. What all ranks get wrong alike is refused on all of them, before a byte has moved, and the communicator
/// goes on. What only some get wrong (another root, another count) can't be seen by the others: QUADRILLE_CHECK=1 finds
/// it. If a collective fails in the middle, as when a rank sends more than another expects, its communicator refuses
/// all further work. Such an error is MPI's first: under MPICH it goes to the error handler of MPI_COMM_WORLD, which
/// ends the program unless it was set to MPI_ERRORS_RETURN.

#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "quadrille/call.hpp"
#include "quadrille/collective.hpp"
#include "quadrille/error.hpp"
#include "quadrille/export.hpp"
#include "quadrille/in_place.hpp"
#include "quadrille/pending.hpp"

/// Everything that a program uses, but for the interface of C.
namespace quadrille {

/// How one call is to be served. The same on every rank, but for the memory of an alltoallv or alltoallw in place.
struct Options {
  /// A name that `quadrille list` shows, with its width where it has one ("bruck:4"); empty: chosen for the call.
  std::string_view algorithm = {};
  /// Of a reduction: the result is the fold from left to right in rank order, ((r0 op r1) op r2) op ..., to the bit,
  /// whatever the placement or the size of the data. Fewer algorithms can do that: expect a small allreduce to take p
  /// steps in place of log2 p, and a large one to move as much as ever.
  bool fixed_order = false;
  /// Bytes a rank that the call may take beyond the caller's buffers, for scratch and packing; 0: no bound but that of
  /// QUADRILLE_MEMORY. What depends on the number of ranks alone is not counted. A call that can't keep to it is
  /// refused on every rank. In place, an all-to-all is always bound: 0 is a hundredth of the data there, but at least
  /// 64 KiB.
  std::int64_t memory = 0;
};

/// A range of elements that lie one after another and can be sent as they are.
template <class Range>
concept Data = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;
/// The same, of elements that stay when the call has returned: a named range or a view, not a temporary.
template <class Range>
concept LastingData = Data<Range> && std::ranges::borrowed_range<Range>;
/// Data that can be written.
template <class Range>
concept WritableData = Data<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;
/// Data that can be written and stays when the call has returned.
template <class Range>
concept LastingWritableData = WritableData<Range> && std::ranges::borrowed_range<Range>;

/// Whether a op b is b op a, for elements of type T. Where it isn't, or isn't known, operands are combined in rank
/// order, which leaves fewer algorithms. To be specialised for operations of your own.
template <class Op, class T>
inline constexpr bool commutative = false;
/// \cond
template <class T, class U>
inline constexpr bool commutative<std::plus<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::multiplies<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::bit_and<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::bit_or<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::bit_xor<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::logical_and<U>, T> = std::is_arithmetic_v<T>;
template <class T, class U>
inline constexpr bool commutative<std::logical_or<U>, T> = std::is_arithmetic_v<T>;

namespace detail {

template <class T, class Op>
Combine combine(Op op) {
  return [op = std::move(op)](const void* left, void* right, std::int64_t count) mutable {
    const T* a = static_cast<const T*>(left);
    T* b = static_cast<T*>(right);
    for (std::int64_t i = 0; i < count; ++i) b[i] = static_cast<T>(op(a[i], b[i]));
  };
}

template <class Range>
UserBuffer buffer(Range&& range) {
  return {.address = std::ranges::data(range),
          .count = static_cast<std::int64_t>(std::ranges::size(range)),
          .element_bytes = sizeof(std::ranges::range_value_t<Range>)};
}

}  // namespace detail
/// \endcond

/// Blocks of different sizes of one type. Displacements count extents of the type, as in MPI; null: the blocks lie one
/// after another.
struct Blocks {
  const std::int64_t* counts;         ///< elements of each rank's block
  const std::int64_t* displacements;  ///< where each begins
  MPI_Datatype type;                  ///< of elements

  /// \cond
  detail::UserBuffer at(const void* address) const {
    return {.address = address, .type = type, .counts = counts, .displacements = displacements};
  }
  /// \endcond
};

/// Blocks with a type each. Displacements count bytes, as in MPI_Alltoallw.
struct TypedBlocks {
  const std::int64_t* counts;         ///< elements of each rank's block
  const std::int64_t* displacements;  ///< where each begins
  const MPI_Datatype* types;          ///< of each block's elements

  /// \cond
  detail::UserBuffer at(const void* address) const {
    return {.address = address, .counts = counts, .displacements = displacements, .types = types};
  }
  /// \endcond
};

/// The collectives on the ranks of an MPI communicator. Each comes in three forms: blocking, `i...` returns at once,
/// `..._init` makes it persistent; and each takes ranges, or addresses with a count and a type of MPI. Arguments mean
/// what they mean to MPI, and MPI_IN_PLACE may stand where MPI allows it; with ranges, data is in place where input and
/// output begin at the addresses that MPI_IN_PLACE would stand for. Counts of gather, scatter, allgather and alltoall
/// are those of one block. A range for a buffer that MPI calls not significant on this rank may be empty.
///
/// An operation on ranges combines two elements: std::plus{}, or any function of two elements that is associative.
///
/// Copies share one private communicator, which is freed with the last of them and of their pending and persistent
/// collectives, or by MPI_Finalize.
class QUADRILLE_EXPORT Communicator {
 public:
  /// Collective over `comm`, an intracommunicator, which may be freed afterwards. What the environment says
  /// (QUADRILLE_CHECK, QUADRILLE_MEMORY, ...; see the manual) is taken from rank 0.
  explicit Communicator(MPI_Comm comm);

  /// This process among those of the communicator.
  int rank() const;
  /// How many they are.
  int size() const;
  /// The most memory that this process has needed at one time beyond the caller's buffers, for scratch and packing.
  static std::int64_t peak_bytes();

  /// Nobody returns before everybody has called.
  ///@{
  void barrier(const Options& options = {}) { run(detail::moved(Collective::barrier, {}, {}), options); }
  Pending ibarrier(const Options& options = {}) {
    return Pending(prepare(detail::moved(Collective::barrier, {}, {}), options));
  }
  Persistent barrier_init(const Options& options = {}) {
    return Persistent(prepare(detail::moved(Collective::barrier, {}, {}), options));
  }
  ///@}

  /// Everybody gets what the root has.
  ///@{
  void bcast(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    run(detail::moved(Collective::bcast, {}, {data, count, type}, root), options);
  }
  Pending ibcast(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    return Pending(prepare(detail::moved(Collective::bcast, {}, {data, count, type}, root), options));
  }
  Persistent bcast_init(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    return Persistent(prepare(detail::moved(Collective::bcast, {}, {data, count, type}, root), options));
  }
  template <WritableData Output>
  void bcast(Output&& data, int root, const Options& options = {}) {
    run(detail::moved(Collective::bcast, {}, detail::buffer(data), root), options);
  }
  template <LastingWritableData Output>
  Pending ibcast(Output&& data, int root, const Options& options = {}) {
    return Pending(prepare(detail::moved(Collective::bcast, {}, detail::buffer(data), root), options));
  }
  template <LastingWritableData Output>
  Persistent bcast_init(Output&& data, int root, const Options& options = {}) {
    return Persistent(prepare(detail::moved(Collective::bcast, {}, detail::buffer(data), root), options));
  }
  ///@}

  /// The root gets the data of all ranks, combined element by element.
  ///@{
  void reduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
              const Options& options = {}) {
    run(detail::reduced(Collective::reduce, {input, count, type}, {output, count, type}, op, root), options);
  }
  Pending ireduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
                  const Options& options = {}) {
    return Pending(
        prepare(detail::reduced(Collective::reduce, {input, count, type}, {output, count, type}, op, root), options));
  }
  Persistent reduce_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op, int root,
                         const Options& options = {}) {
    return Persistent(
        prepare(detail::reduced(Collective::reduce, {input, count, type}, {output, count, type}, op, root), options));
  }
  template <Data Input, WritableData Output, class Op>
  void reduce(Input&& input, Output&& output, Op op, int root, const Options& options = {}) {
    run(reduction(Collective::reduce, input, output, std::move(op), {.root = root}), options);
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending ireduce(Input&& input, Output&& output, Op op, int root, const Options& options = {}) {
    return Pending(prepare(reduction(Collective::reduce, input, output, std::move(op), {.root = root}), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent reduce_init(Input&& input, Output&& output, Op op, int root, const Options& options = {}) {
    return Persistent(prepare(reduction(Collective::reduce, input, output, std::move(op), {.root = root}), options));
  }
  ///@}

  /// Everybody gets the data of all ranks, combined element by element.
  ///@{
  void allreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                 const Options& options = {}) {
    run(detail::reduced(Collective::allreduce, {input, count, type}, {output, count, type}, op), options);
  }
  Pending iallreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                     const Options& options = {}) {
    return Pending(
        prepare(detail::reduced(Collective::allreduce, {input, count, type}, {output, count, type}, op), options));
  }
  Persistent allreduce_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                            const Options& options = {}) {
    return Persistent(
        prepare(detail::reduced(Collective::allreduce, {input, count, type}, {output, count, type}, op), options));
  }
  template <Data Input, WritableData Output, class Op>
  void allreduce(Input&& input, Output&& output, Op op, const Options& options = {}) {
    run(reduction(Collective::allreduce, input, output, std::move(op), {}), options);
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending iallreduce(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Pending(prepare(reduction(Collective::allreduce, input, output, std::move(op), {}), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent allreduce_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Persistent(prepare(reduction(Collective::allreduce, input, output, std::move(op), {}), options));
  }
  ///@}

  /// The root gets the blocks of all ranks, in rank order.
  ///@{
  void gather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
              std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    run(detail::moved(Collective::gather, {input, input_count, input_type}, {output, output_count, output_type}, root),
        options);
  }
  Pending igather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                  std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return Pending(prepare(
        detail::moved(Collective::gather, {input, input_count, input_type}, {output, output_count, output_type}, root),
        options));
  }
  Persistent gather_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                         std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return Persistent(prepare(
        detail::moved(Collective::gather, {input, input_count, input_type}, {output, output_count, output_type}, root),
        options));
  }
  template <Data Input, WritableData Output>
  void gather(Input&& input, Output&& output, int root, const Options& options = {}) {
    run(gathering(Collective::gather, input, output, {.root = root}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending igather(Input&& input, Output&& output, int root, const Options& options = {}) {
    return Pending(prepare(gathering(Collective::gather, input, output, {.root = root}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent gather_init(Input&& input, Output&& output, int root, const Options& options = {}) {
    return Persistent(prepare(gathering(Collective::gather, input, output, {.root = root}), options));
  }
  ///@}

  /// The same with blocks of different sizes; `receive` matters at the root.
  ///@{
  void gatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
               const Blocks& receive, int root, const Options& options = {}) {
    run(detail::moved(Collective::gatherv, {input, input_count, input_type}, receive.at(output), root), options);
  }
  Pending igatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                   const Blocks& receive, int root, const Options& options = {}) {
    return Pending(prepare(
        detail::moved(Collective::gatherv, {input, input_count, input_type}, receive.at(output), root), options));
  }
  Persistent gatherv_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                          const Blocks& receive, int root, const Options& options = {}) {
    return Persistent(prepare(
        detail::moved(Collective::gatherv, {input, input_count, input_type}, receive.at(output), root), options));
  }
  template <Data Input, WritableData Output>
  void gatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts, int root,
               const Options& options = {}) {
    run(gathering(Collective::gatherv, input, output, {.root = root, .receive = counts}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending igatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts, int root,
                   const Options& options = {}) {
    return Pending(prepare(gathering(Collective::gatherv, input, output, {.root = root, .receive = counts}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent gatherv_init(Input&& input, Output&& output, std::span<const std::int64_t> counts, int root,
                          const Options& options = {}) {
    return Persistent(
        prepare(gathering(Collective::gatherv, input, output, {.root = root, .receive = counts}), options));
  }
  ///@}

  /// Everybody gets its block of what the root has.
  ///@{
  void scatter(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
               std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    run(detail::moved(Collective::scatter, {input, input_count, input_type}, {output, output_count, output_type}, root),
        options);
  }
  Pending iscatter(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                   std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return Pending(prepare(
        detail::moved(Collective::scatter, {input, input_count, input_type}, {output, output_count, output_type}, root),
        options));
  }
  Persistent scatter_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                          std::int64_t output_count, MPI_Datatype output_type, int root, const Options& options = {}) {
    return Persistent(prepare(
        detail::moved(Collective::scatter, {input, input_count, input_type}, {output, output_count, output_type}, root),
        options));
  }
  template <Data Input, WritableData Output>
  void scatter(Input&& input, Output&& output, int root, const Options& options = {}) {
    run(scattering(Collective::scatter, input, output, {.root = root}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending iscatter(Input&& input, Output&& output, int root, const Options& options = {}) {
    return Pending(prepare(scattering(Collective::scatter, input, output, {.root = root}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent scatter_init(Input&& input, Output&& output, int root, const Options& options = {}) {
    return Persistent(prepare(scattering(Collective::scatter, input, output, {.root = root}), options));
  }
  ///@}

  /// The same with blocks of different sizes; `send` matters at the root.
  ///@{
  void scatterv(const void* input, const Blocks& send, void* output, std::int64_t output_count,
                MPI_Datatype output_type, int root, const Options& options = {}) {
    run(detail::moved(Collective::scatterv, send.at(input), {output, output_count, output_type}, root), options);
  }
  Pending iscatterv(const void* input, const Blocks& send, void* output, std::int64_t output_count,
                    MPI_Datatype output_type, int root, const Options& options = {}) {
    return Pending(prepare(
        detail::moved(Collective::scatterv, send.at(input), {output, output_count, output_type}, root), options));
  }
  Persistent scatterv_init(const void* input, const Blocks& send, void* output, std::int64_t output_count,
                           MPI_Datatype output_type, int root, const Options& options = {}) {
    return Persistent(prepare(
        detail::moved(Collective::scatterv, send.at(input), {output, output_count, output_type}, root), options));
  }
  template <Data Input, WritableData Output>
  void scatterv(Input&& input, std::span<const std::int64_t> counts, Output&& output, int root,
                const Options& options = {}) {
    run(scattering(Collective::scatterv, input, output, {.root = root, .send = counts}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending iscatterv(Input&& input, std::span<const std::int64_t> counts, Output&& output, int root,
                    const Options& options = {}) {
    return Pending(prepare(scattering(Collective::scatterv, input, output, {.root = root, .send = counts}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent scatterv_init(Input&& input, std::span<const std::int64_t> counts, Output&& output, int root,
                           const Options& options = {}) {
    return Persistent(
        prepare(scattering(Collective::scatterv, input, output, {.root = root, .send = counts}), options));
  }
  ///@}

  /// Everybody gets the blocks of all ranks, in rank order.
  ///@{
  void allgather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                 std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    run(detail::moved(Collective::allgather, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  Pending iallgather(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                     std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return Pending(prepare(
        detail::moved(Collective::allgather, {input, input_count, input_type}, {output, output_count, output_type}),
        options));
  }
  Persistent allgather_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                            std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return Persistent(prepare(
        detail::moved(Collective::allgather, {input, input_count, input_type}, {output, output_count, output_type}),
        options));
  }
  template <Data Input, WritableData Output>
  void allgather(Input&& input, Output&& output, const Options& options = {}) {
    run(gathering(Collective::allgather, input, output, {}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending iallgather(Input&& input, Output&& output, const Options& options = {}) {
    return Pending(prepare(gathering(Collective::allgather, input, output, {}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent allgather_init(Input&& input, Output&& output, const Options& options = {}) {
    return Persistent(prepare(gathering(Collective::allgather, input, output, {}), options));
  }
  ///@}

  /// The same with blocks of different sizes.
  ///@{
  void allgatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                  const Blocks& receive, const Options& options = {}) {
    run(detail::moved(Collective::allgatherv, {input, input_count, input_type}, receive.at(output)), options);
  }
  Pending iallgatherv(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                      const Blocks& receive, const Options& options = {}) {
    return Pending(
        prepare(detail::moved(Collective::allgatherv, {input, input_count, input_type}, receive.at(output)), options));
  }
  Persistent allgatherv_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                             const Blocks& receive, const Options& options = {}) {
    return Persistent(
        prepare(detail::moved(Collective::allgatherv, {input, input_count, input_type}, receive.at(output)), options));
  }
  template <Data Input, WritableData Output>
  void allgatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts, const Options& options = {}) {
    run(gathering(Collective::allgatherv, input, output, {.receive = counts}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending iallgatherv(Input&& input, Output&& output, std::span<const std::int64_t> counts,
                      const Options& options = {}) {
    return Pending(prepare(gathering(Collective::allgatherv, input, output, {.receive = counts}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent allgatherv_init(Input&& input, Output&& output, std::span<const std::int64_t> counts,
                             const Options& options = {}) {
    return Persistent(prepare(gathering(Collective::allgatherv, input, output, {.receive = counts}), options));
  }
  ///@}

  /// Everybody has a block for everybody.
  ///@{
  void alltoall(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    run(detail::moved(Collective::alltoall, {input, input_count, input_type}, {output, output_count, output_type}),
        options);
  }
  Pending ialltoall(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                    std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return Pending(prepare(
        detail::moved(Collective::alltoall, {input, input_count, input_type}, {output, output_count, output_type}),
        options));
  }
  Persistent alltoall_init(const void* input, std::int64_t input_count, MPI_Datatype input_type, void* output,
                           std::int64_t output_count, MPI_Datatype output_type, const Options& options = {}) {
    return Persistent(prepare(
        detail::moved(Collective::alltoall, {input, input_count, input_type}, {output, output_count, output_type}),
        options));
  }
  template <Data Input, WritableData Output>
  void alltoall(Input&& input, Output&& output, const Options& options = {}) {
    run(exchange(Collective::alltoall, input, output, {}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending ialltoall(Input&& input, Output&& output, const Options& options = {}) {
    return Pending(prepare(exchange(Collective::alltoall, input, output, {}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent alltoall_init(Input&& input, Output&& output, const Options& options = {}) {
    return Persistent(prepare(exchange(Collective::alltoall, input, output, {}), options));
  }
  ///@}

  /// The same with blocks of different sizes. In place (MPI_IN_PLACE as input, beside which `send` may be {}; or one
  /// range twice) two ranks swap blocks of one size, within the options' memory, which is 256 bytes at least and may
  /// differ from rank to rank; types may have gaps. For other counts see alltoallv_in_place.
  ///@{
  void alltoallv(const void* input, const Blocks& send, void* output, const Blocks& receive,
                 const Options& options = {}) {
    run(detail::moved(Collective::alltoallv, send.at(input), receive.at(output)), options);
  }
  Pending ialltoallv(const void* input, const Blocks& send, void* output, const Blocks& receive,
                     const Options& options = {}) {
    return Pending(prepare(detail::moved(Collective::alltoallv, send.at(input), receive.at(output)), options));
  }
  Persistent alltoallv_init(const void* input, const Blocks& send, void* output, const Blocks& receive,
                            const Options& options = {}) {
    return Persistent(prepare(detail::moved(Collective::alltoallv, send.at(input), receive.at(output)), options));
  }
  template <Data Input, WritableData Output>
  void alltoallv(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                 std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    run(exchange(Collective::alltoallv, input, output, {.send = send_counts, .receive = receive_counts}), options);
  }
  template <LastingData Input, LastingWritableData Output>
  Pending ialltoallv(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                     std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    return Pending(prepare(
        exchange(Collective::alltoallv, input, output, {.send = send_counts, .receive = receive_counts}), options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent alltoallv_init(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                            std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    return Persistent(prepare(
        exchange(Collective::alltoallv, input, output, {.send = send_counts, .receive = receive_counts}), options));
  }
  ///@}

  /// The same with a type for each block; in place, too.
  ///@{
  void alltoallw(const void* input, const TypedBlocks& send, void* output, const TypedBlocks& receive,
                 const Options& options = {}) {
    run(detail::moved(Collective::alltoallw, send.at(input), receive.at(output)), options);
  }
  Pending ialltoallw(const void* input, const TypedBlocks& send, void* output, const TypedBlocks& receive,
                     const Options& options = {}) {
    return Pending(prepare(detail::moved(Collective::alltoallw, send.at(input), receive.at(output)), options));
  }
  Persistent alltoallw_init(const void* input, const TypedBlocks& send, void* output, const TypedBlocks& receive,
                            const Options& options = {}) {
    return Persistent(prepare(detail::moved(Collective::alltoallw, send.at(input), receive.at(output)), options));
  }
  ///@}

  /// All-to-all within one buffer, with any counts and displacements: parts to be sent may lie over parts to be
  /// received in any way; those of one direction must be apart from each other. Takes `memory` bytes of the options,
  /// which may differ from rank to rank, by default a hundredth of the data but at least 64 KiB; with as little as one
  /// element (and 64 bytes) it gets there, if slowly. Only parts to be received are written. Whatever is wrong on one
  /// rank is thrown on all of them, before anything has moved. Elements of MPI's types must have no gaps.
  ///@{
  template <WritableData Output>
  Moved alltoallv_in_place(Output&& data, const Parts& send, const Parts& receive, const Options& options = {}) {
    return move(within(data, send, receive), options);
  }
  template <LastingWritableData Output>
  PendingMove ialltoallv_in_place(Output&& data, const Parts& send, const Parts& receive, const Options& options = {}) {
    return prepare<PendingMove>(within(data, send, receive), options);
  }
  template <LastingWritableData Output>
  PersistentMove alltoallv_in_place_init(Output&& data, const Parts& send, const Parts& receive,
                                         const Options& options = {}) {
    return prepare<PersistentMove>(within(data, send, receive), options);
  }
  Moved alltoallv_in_place(void* data, const Parts& send, const Parts& receive, MPI_Datatype type,
                           const Options& options = {}) {
    return move(within(data, send, receive, type), options);
  }
  PendingMove ialltoallv_in_place(void* data, const Parts& send, const Parts& receive, MPI_Datatype type,
                                  const Options& options = {}) {
    return prepare<PendingMove>(within(data, send, receive, type), options);
  }
  PersistentMove alltoallv_in_place_init(void* data, const Parts& send, const Parts& receive, MPI_Datatype type,
                                         const Options& options = {}) {
    return prepare<PersistentMove>(within(data, send, receive, type), options);
  }
  ///@}

  /// Moves elements to other ranks, and has those of other ranks in their place, ordered by source; what one source
  /// sends keeps its order. The vector becomes as long as what it receives: reserve as much before the call. Where its
  /// capacity is not enough, all of the new memory counts against the options' `memory` (by default a hundredth of the
  /// data, at least 64 KiB); if that is not enough either, every rank throws, nothing has moved, and the error says
  /// what to reserve. So it is with any mistake of one rank; but a vector may have more capacity then, and other
  /// addresses. Without waiting, vectors belong to the call until it is done, and a progress thread, if there is one,
  /// may be the one that uses their allocators. Several vectors (std::tie(positions, velocities)) are
  /// moved alike: element i of each.
  ///@{
  /// `counts`: how many of its elements go to each rank, the first ones to rank 0 and so on.
  template <GrowingData Vector>
  Moved redistribute(Vector& data, std::span<const std::int64_t> counts, const Options& options = {}) {
    return redistribute(std::tie(data), counts, options);
  }
  template <GrowingData... Vector>
  Moved redistribute(const std::tuple<Vector&...>& vectors, std::span<const std::int64_t> counts,
                     const Options& options = {}) {
    return move(detail::move_of(vectors, counts), options);
  }
  template <GrowingData Vector>
  PendingMove iredistribute(Vector& data, std::span<const std::int64_t> counts, const Options& options = {}) {
    return iredistribute(std::tie(data), counts, options);
  }
  template <GrowingData... Vector>
  PendingMove iredistribute(const std::tuple<Vector&...>& vectors, std::span<const std::int64_t> counts,
                            const Options& options = {}) {
    return prepare<PendingMove>(detail::move_of(vectors, counts), options);
  }
  /// `rank_of(element)`, of several vectors `rank_of(element of the first, element of the second, ...)`: where it goes;
  /// asked several times for each, and what it throws others don't hear of. The vectors need not be ordered: the call
  /// orders them first, also where it is refused then.
  template <GrowingData Vector, class RankOf>
  requires detail::Ranks<RankOf, Vector> Moved redistribute(Vector& data, RankOf rank_of, const Options& options = {}) {
    return redistribute(std::tie(data), std::move(rank_of), options);
  }
  template <GrowingData... Vector, class RankOf>
  requires detail::Ranks<RankOf, Vector...> Moved redistribute(const std::tuple<Vector&...>& vectors, RankOf rank_of,
                                                               const Options& options = {}) {
    std::vector<std::int64_t> counts;
    return move(ordered(vectors, rank_of, options, counts), options);
  }
  template <GrowingData Vector, class RankOf>
  requires detail::Ranks<RankOf, Vector> PendingMove iredistribute(Vector& data, RankOf rank_of,
                                                                   const Options& options = {}) {
    return iredistribute(std::tie(data), std::move(rank_of), options);
  }
  template <GrowingData... Vector, class RankOf>
  requires detail::Ranks<RankOf, Vector...> PendingMove iredistribute(const std::tuple<Vector&...>& vectors,
                                                                      RankOf rank_of, const Options& options = {}) {
    std::vector<std::int64_t> counts;
    return prepare<PendingMove>(ordered(vectors, rank_of, options, counts), options);
  }
  ///@}

  /// Every rank gets its share of the data of all ranks, combined; `counts` are the elements of each share.
  ///@{
  void reduce_scatter(const void* input, void* output, const std::int64_t* counts, MPI_Datatype type, MPI_Op op,
                      const Options& options = {}) {
    run(detail::reduced(Collective::reduce_scatter, {.address = input, .type = type},
                        {.address = output, .type = type, .counts = counts}, op),
        options);
  }
  Pending ireduce_scatter(const void* input, void* output, const std::int64_t* counts, MPI_Datatype type, MPI_Op op,
                          const Options& options = {}) {
    return Pending(prepare(detail::reduced(Collective::reduce_scatter, {.address = input, .type = type},
                                           {.address = output, .type = type, .counts = counts}, op),
                           options));
  }
  Persistent reduce_scatter_init(const void* input, void* output, const std::int64_t* counts, MPI_Datatype type,
                                 MPI_Op op, const Options& options = {}) {
    return Persistent(prepare(detail::reduced(Collective::reduce_scatter, {.address = input, .type = type},
                                              {.address = output, .type = type, .counts = counts}, op),
                              options));
  }
  template <Data Input, WritableData Output, class Op>
  void reduce_scatter(Input&& input, Output&& output, std::span<const std::int64_t> counts, Op op,
                      const Options& options = {}) {
    run(reduction(Collective::reduce_scatter, input, output, std::move(op), {.receive = counts}), options);
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending ireduce_scatter(Input&& input, Output&& output, std::span<const std::int64_t> counts, Op op,
                          const Options& options = {}) {
    return Pending(
        prepare(reduction(Collective::reduce_scatter, input, output, std::move(op), {.receive = counts}), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent reduce_scatter_init(Input&& input, Output&& output, std::span<const std::int64_t> counts, Op op,
                                 const Options& options = {}) {
    return Persistent(
        prepare(reduction(Collective::reduce_scatter, input, output, std::move(op), {.receive = counts}), options));
  }
  ///@}

  /// The same with shares of one size.
  ///@{
  void reduce_scatter_block(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                            const Options& options = {}) {
    run(detail::reduced(Collective::reduce_scatter_block, {input, count, type}, {output, count, type}, op), options);
  }
  Pending ireduce_scatter_block(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                                const Options& options = {}) {
    return Pending(prepare(
        detail::reduced(Collective::reduce_scatter_block, {input, count, type}, {output, count, type}, op), options));
  }
  Persistent reduce_scatter_block_init(const void* input, void* output, std::int64_t count, MPI_Datatype type,
                                       MPI_Op op, const Options& options = {}) {
    return Persistent(prepare(
        detail::reduced(Collective::reduce_scatter_block, {input, count, type}, {output, count, type}, op), options));
  }
  template <Data Input, WritableData Output, class Op>
  void reduce_scatter_block(Input&& input, Output&& output, Op op, const Options& options = {}) {
    run(reduction(Collective::reduce_scatter_block, input, output, std::move(op), {}), options);
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending ireduce_scatter_block(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Pending(prepare(reduction(Collective::reduce_scatter_block, input, output, std::move(op), {}), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent reduce_scatter_block_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Persistent(prepare(reduction(Collective::reduce_scatter_block, input, output, std::move(op), {}), options));
  }
  ///@}

  /// Every rank gets the data of all ranks up to itself, combined.
  ///@{
  void scan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
            const Options& options = {}) {
    run(detail::reduced(Collective::scan, {input, count, type}, {output, count, type}, op), options);
  }
  Pending iscan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                const Options& options = {}) {
    return Pending(
        prepare(detail::reduced(Collective::scan, {input, count, type}, {output, count, type}, op), options));
  }
  Persistent scan_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                       const Options& options = {}) {
    return Persistent(
        prepare(detail::reduced(Collective::scan, {input, count, type}, {output, count, type}, op), options));
  }
  template <Data Input, WritableData Output, class Op>
  void scan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    run(reduction(Collective::scan, input, output, std::move(op), {}), options);
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending iscan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Pending(prepare(reduction(Collective::scan, input, output, std::move(op), {}), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent scan_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Persistent(prepare(reduction(Collective::scan, input, output, std::move(op), {}), options));
  }
  ///@}

  /// The same without its own; the output of rank 0 is left alone.
  ///@{
  void exscan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
              const Options& options = {}) {
    run(detail::reduced(Collective::exscan, {input, count, type}, {output, count, type}, op), options);
  }
  Pending iexscan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                  const Options& options = {}) {
    return Pending(
        prepare(detail::reduced(Collective::exscan, {input, count, type}, {output, count, type}, op), options));
  }
  Persistent exscan_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                         const Options& options = {}) {
    return Persistent(
        prepare(detail::reduced(Collective::exscan, {input, count, type}, {output, count, type}, op), options));
  }
  template <Data Input, WritableData Output, class Op>
  void exscan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    run(reduction(Collective::exscan, input, output, std::move(op), {}), options);
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending iexscan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Pending(prepare(reduction(Collective::exscan, input, output, std::move(op), {}), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent exscan_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Persistent(prepare(reduction(Collective::exscan, input, output, std::move(op), {}), options));
  }
  ///@}

 private:
  // What a call on ranges has besides them.
  struct Details {
    int root = 0;
    std::span<const std::int64_t> send = {};
    std::span<const std::int64_t> receive = {};
    bool same = false;  // input and output are one range, empty or not
  };

  void run(const detail::Call& call, const Options& options);
  detail::Handle prepare(const detail::Call& call, const Options& options);
  Moved move(const detail::Move& move, const Options& options);
  detail::Handle prepare(const detail::Move& move, const Options& options, const std::shared_ptr<Moved>& moved);
  // What a move of so many bytes may take.
  std::int64_t budget_for(std::int64_t bytes, const Options& options) const;

  template <class Form>
  Form prepare(const detail::Move& move, const Options& options) {
    auto moved = std::make_shared<Moved>();
    return Form(prepare(move, options, moved), moved);
  }
  template <class Output>
  static detail::Move within(Output& data, const Parts& send, const Parts& receive) {
    const detail::UserBuffer buffer = detail::buffer(data);
    return {.send = send,
            .receive = receive,
            .arrays = {{std::ranges::data(data), buffer.element_bytes}},
            .elements = buffer.count};
  }
  static detail::Move within(void* data, const Parts& send, const Parts& receive, MPI_Datatype type) {
    return {.send = send, .receive = receive, .arrays = {{data, 0}}, .type = type};
  }
  // Vectors whose elements have been ordered by the rank they are for, and the counts of those.
  template <class RankOf, class... Vector>
  detail::Move ordered(const std::tuple<Vector&...>& vectors, RankOf& rank_of, const Options& options,
                       std::vector<std::int64_t>& counts) const {
    detail::Rows<RankOf, Vector...> rows(vectors, rank_of);
    const std::optional<int> nobody = rows.count(size(), counts);
    detail::Move move = detail::move_of(vectors, counts);
    if (nobody) move.nobody = *nobody;
    if (move.covered && !nobody) move.taken = rows.order(size(), budget_for(rows.bytes(), options));
    return move;
  }

  // Calls on ranges: their lengths are held against one another, and data in place is found by its address.
  detail::Call gathering(Collective collective, detail::UserBuffer input, detail::UserBuffer output,
                         const Details& details) const;
  detail::Call scattering(Collective collective, detail::UserBuffer input, detail::UserBuffer output,
                          const Details& details) const;
  detail::Call exchange(Collective collective, detail::UserBuffer input, detail::UserBuffer output,
                        const Details& details) const;
  detail::Call reduction(Collective collective, detail::UserBuffer input, detail::UserBuffer output,
                         detail::Combine combine, bool commutative, const Details& details) const;

  template <class Input, class Output>
  static void same_elements() {
    static_assert(std::is_same_v<std::ranges::range_value_t<Input>, std::ranges::range_value_t<Output>>,
                  "input and output hold different types");
  }
  template <class Input, class Output>
  detail::Call gathering(Collective collective, Input& input, Output& output, const Details& details) const {
    same_elements<Input, Output>();
    return gathering(collective, detail::buffer(input), detail::buffer(output), details);
  }
  template <class Input, class Output>
  detail::Call scattering(Collective collective, Input& input, Output& output, const Details& details) const {
    same_elements<Input, Output>();
    return scattering(collective, detail::buffer(input), detail::buffer(output), details);
  }
  template <class Input, class Output>
  detail::Call exchange(Collective collective, Input& input, Output& output, const Details& details) const {
    same_elements<Input, Output>();
    Details all = details;
    all.same = static_cast<const void*>(std::addressof(input)) == static_cast<const void*>(std::addressof(output));
    return exchange(collective, detail::buffer(input), detail::buffer(output), all);
  }
  template <class Input, class Output, class Op>
  detail::Call reduction(Collective collective, Input& input, Output& output, Op op, const Details& details) const {
    using T = std::ranges::range_value_t<Output>;
    same_elements<Input, Output>();
    static_assert(std::is_invocable_r_v<T, Op, T, T>, "the operation must take two elements and return one");
    return reduction(collective, detail::buffer(input), detail::buffer(output), detail::combine<T>(std::move(op)),
                     quadrille::commutative<Op, T>, details);
  }

  std::shared_ptr<engine::Context> context_;
};

}  // namespace quadrille
