#pragma once

// Quadrille: collective communication on top of MPI.
//
//   quadrille::Communicator comm(MPI_COMM_WORLD);
//   comm.allreduce(mine, sum, std::plus{});
//
// Compile and link with the MPI that the program uses: quadrille::openmpi or quadrille::mpich in CMake.
//
// Progress. A pending collective advances in every call of this library that waits or tests, on whatever communicator,
// under every MPI; it does not advance inside MPI's own calls, nor while the program computes. So a program must not
// block in MPI (say, in MPI_Recv) for something that another rank does only after a collective still pending here.
//
// Threads. Calls may come from several threads if MPI was initialised with MPI_THREAD_MULTIPLE; calls on one
// communicator must then be ordered among the threads alike on every rank, as MPI asks of its own collectives.
//
// Errors. Every call throws quadrille::Error, and passes on what a reduction's function throws; such a function must
// not call this library or MPI. Other ranks hear of neither: a collective that fails on one may leave them waiting.
// What all ranks get wrong alike is refused on all of them, before a byte has moved, and the communicator goes on. What
// only some get wrong (another root, another count) can't be seen by the others: QUADRILLE_CHECK=1 finds it. If a
// collective fails in the middle, as when a rank sends more than another expects, its communicator refuses all further
// work. Such an error is MPI's first: under MPICH it goes to the error handler of MPI_COMM_WORLD, which ends the
// program unless it was set to MPI_ERRORS_RETURN.

#include <mpi.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "quadrille/error.hpp"
#include "quadrille/export.hpp"

namespace quadrille {

namespace engine {
class Context;
class Task;
}  // namespace engine

// How one call is to be served. The same on every rank.
struct Options {
  std::string_view algorithm = {};  // a name that `quadrille list` shows; empty: chosen for the call
};

// A range of elements that lie one after another and can be sent as they are.
template <class Range>
concept Data = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>;
// The same, of elements that stay when the call has returned: a named range or a view, not a temporary.
template <class Range>
concept LastingData = Data<Range> && std::ranges::borrowed_range<Range>;
template <class Range>
concept WritableData = Data<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

template <class Range>
concept LastingWritableData = WritableData<Range> && std::ranges::borrowed_range<Range>;

// Whether a op b is b op a, for elements of type T. Where it isn't, or isn't known, operands are combined in rank
// order, which leaves fewer algorithms. To be specialised for operations of your own.
template <class Op, class T>
inline constexpr bool commutative = false;
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

// A collective that was made ready, and the communicator it belongs to, which lives at least as long.
class QUADRILLE_EXPORT Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<engine::Context> context, std::unique_ptr<engine::Task> task);
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  // Waits, since the collective uses the caller's memory.
  ~Handle();

  void start();
  bool test();
  void wait();

 private:
  void finish() noexcept;

  std::shared_ptr<engine::Context> context_;
  engine::Task* task_ = nullptr;  // owned
};

// right = left op right, for so many elements.
using Combine = std::function<void(const void* left, void* right, std::int64_t count)>;

template <class T, class Op>
Combine combine(Op op) {
  return [op = std::move(op)](const void* left, void* right, std::int64_t count) mutable {
    const T* a = static_cast<const T*>(left);
    T* b = static_cast<T*>(right);
    for (std::int64_t i = 0; i < count; ++i) b[i] = static_cast<T>(op(a[i], b[i]));
  };
}

template <class Range>
std::int64_t bytes(Range&& range) {
  return static_cast<std::int64_t>(std::ranges::size(range) * sizeof(std::ranges::range_value_t<Range>));
}

}  // namespace detail

// A collective on its way. The caller's memory belongs to it until it is done; its types and operations may be freed
// right after the call that started it.
class [[nodiscard]] Pending {
 public:
  explicit Pending(detail::Handle handle) : handle_(std::move(handle)) { handle_.start(); }

  // Advances all pending collectives of this process; returns whether this one is done.
  bool test() { return handle_.test(); }
  // The destructor waits as well, but has nowhere to report an error.
  void wait() { handle_.wait(); }

 private:
  detail::Handle handle_;
};

// A collective that is set up once and run as often as wanted. Making one moves no data; all ranks make it, and start
// it, in the same order as their other collectives on that communicator.
class [[nodiscard]] Persistent {
 public:
  explicit Persistent(detail::Handle handle) : handle_(std::move(handle)) {}

  void start() { handle_.start(); }
  bool test() { return handle_.test(); }
  void wait() { handle_.wait(); }

 private:
  detail::Handle handle_;
};

// The collectives on the ranks of an MPI communicator. Each comes in three forms: blocking, `i...` returns at once,
// `..._init` makes it persistent; and each takes ranges, or addresses with a count and a type of MPI.
//
// Copies share one private communicator, which is freed with the last of them and of their pending and persistent
// collectives, or by MPI_Finalize.
class QUADRILLE_EXPORT Communicator {
 public:
  // Collective over `comm`, an intracommunicator, which may be freed afterwards. What the environment says
  // (QUADRILLE_CHECK, QUADRILLE_MEMORY, ...; see the manual) is taken from rank 0.
  explicit Communicator(MPI_Comm comm);

  int rank() const;
  int size() const;
  // The most memory that this process has needed at one time beyond the caller's buffers, for scratch and packing.
  static std::int64_t peak_bytes();

  void barrier(const Options& options = {}) { run(barrier_handle(options)); }
  Pending ibarrier(const Options& options = {}) { return Pending(barrier_handle(options)); }
  Persistent barrier_init(const Options& options = {}) { return Persistent(barrier_handle(options)); }

  void bcast(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    run(bcast_handle(data, count, type, root, options));
  }
  Pending ibcast(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    return Pending(bcast_handle(data, count, type, root, options));
  }
  Persistent bcast_init(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    return Persistent(bcast_handle(data, count, type, root, options));
  }
  template <WritableData Range>
  void bcast(Range&& data, int root, const Options& options = {}) {
    bcast(std::ranges::data(data), detail::bytes(data), MPI_BYTE, root, options);
  }
  template <LastingWritableData Range>
  Pending ibcast(Range&& data, int root, const Options& options = {}) {
    return ibcast(std::ranges::data(data), detail::bytes(data), MPI_BYTE, root, options);
  }
  template <LastingWritableData Range>
  Persistent bcast_init(Range&& data, int root, const Options& options = {}) {
    return bcast_init(std::ranges::data(data), detail::bytes(data), MPI_BYTE, root, options);
  }

  // `input` may be MPI_IN_PLACE.
  void allreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                 const Options& options = {}) {
    run(allreduce_handle(input, output, count, type, op, options, false));
  }
  Pending iallreduce(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                     const Options& options = {}) {
    return Pending(allreduce_handle(input, output, count, type, op, options, true));
  }
  Persistent allreduce_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                            const Options& options = {}) {
    return Persistent(allreduce_handle(input, output, count, type, op, options, true));
  }
  // `op` combines two elements: std::plus{}, or any function of two elements that is associative.
  template <Data Input, WritableData Output, class Op>
  void allreduce(Input&& input, Output&& output, Op op, const Options& options = {}) {
    run(allreduce_ranges(input, output, std::move(op), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Pending iallreduce(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Pending(allreduce_ranges(input, output, std::move(op), options));
  }
  template <LastingData Input, LastingWritableData Output, class Op>
  Persistent allreduce_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return Persistent(allreduce_ranges(input, output, std::move(op), options));
  }

  // Displacements count extents of the type, as in MPI; null: the blocks lie one after another.
  struct Blocks {
    const std::int64_t* counts;
    const std::int64_t* displacements;
    MPI_Datatype type;
  };
  void alltoallv(const void* input, const Blocks& send, void* output, const Blocks& receive,
                 const Options& options = {}) {
    run(alltoallv_handle(input, send, output, receive, options));
  }
  Pending ialltoallv(const void* input, const Blocks& send, void* output, const Blocks& receive,
                     const Options& options = {}) {
    return Pending(alltoallv_handle(input, send, output, receive, options));
  }
  Persistent alltoallv_init(const void* input, const Blocks& send, void* output, const Blocks& receive,
                            const Options& options = {}) {
    return Persistent(alltoallv_handle(input, send, output, receive, options));
  }
  // Blocks one after another, in the order of ranks; counts are elements, one for each rank.
  template <Data Input, WritableData Output>
  void alltoallv(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                 std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    run(alltoallv_ranges(input, send_counts, output, receive_counts, options));
  }
  template <LastingData Input, LastingWritableData Output>
  Pending ialltoallv(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                     std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    return Pending(alltoallv_ranges(input, send_counts, output, receive_counts, options));
  }
  template <LastingData Input, LastingWritableData Output>
  Persistent alltoallv_init(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                            std::span<const std::int64_t> receive_counts, const Options& options = {}) {
    return Persistent(alltoallv_ranges(input, send_counts, output, receive_counts, options));
  }

 private:
  static void run(detail::Handle handle) {
    handle.start();
    handle.wait();
  }

  detail::Handle barrier_handle(const Options& options);
  detail::Handle bcast_handle(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options);
  detail::Handle allreduce_handle(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                                  const Options& options, bool keep_handles);
  // A reduction by a function of elements of so many bytes.
  struct Elements {
    std::int64_t count;
    std::int64_t bytes;
  };
  detail::Handle allreduce_handle(const void* input, void* output, Elements elements, detail::Combine combine,
                                  bool commutative, const Options& options);
  detail::Handle alltoallv_handle(const void* input, const Blocks& send, void* output, const Blocks& receive,
                                  const Options& options);
  // Blocks of elements of so many bytes, one after another; the sizes are what the ranges hold.
  struct Packed {
    const void* address;
    std::int64_t count;
    std::span<const std::int64_t> counts;
  };
  detail::Handle alltoallv_handle(const Packed& input, const Packed& output, std::int64_t element_bytes,
                                  const Options& options);
  [[noreturn]] static void refuse_lengths(std::int64_t input, std::int64_t output);

  template <class Input, class Output, class Op>
  detail::Handle allreduce_ranges(Input&& input, Output&& output, Op op, const Options& options) {
    using T = std::ranges::range_value_t<Output>;
    static_assert(std::is_same_v<std::ranges::range_value_t<Input>, T>, "input and output hold different types");
    static_assert(std::is_invocable_r_v<T, Op, T, T>, "the operation must take two elements and return one");
    const auto count = static_cast<std::int64_t>(std::ranges::size(output));
    if (static_cast<std::int64_t>(std::ranges::size(input)) != count) {
      refuse_lengths(static_cast<std::int64_t>(std::ranges::size(input)), count);
    }
    const void* from = std::ranges::data(input);
    void* to = std::ranges::data(output);
    return allreduce_handle(from == to ? MPI_IN_PLACE : from, to, {count, sizeof(T)}, detail::combine<T>(std::move(op)),
                            commutative<Op, T>, options);
  }

  template <class Input, class Output>
  detail::Handle alltoallv_ranges(Input&& input, std::span<const std::int64_t> send_counts, Output&& output,
                                  std::span<const std::int64_t> receive_counts, const Options& options) {
    using T = std::ranges::range_value_t<Output>;
    static_assert(std::is_same_v<std::ranges::range_value_t<Input>, T>, "input and output hold different types");
    return alltoallv_handle(
        {std::ranges::data(input), static_cast<std::int64_t>(std::ranges::size(input)), send_counts},
        {std::ranges::data(output), static_cast<std::int64_t>(std::ranges::size(output)), receive_counts}, sizeof(T),
        options);
  }

  std::shared_ptr<engine::Context> context_;
};

}  // namespace quadrille
