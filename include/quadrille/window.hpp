#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "quadrille/communicator.hpp"
#include "quadrille/detail/export.h"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

namespace quadrille {

/// \cond
namespace detail {
class Exposed;
}
/// \endcond

/// Memory of every rank that the others write and read by themselves, through windows of MPI (remote memory access),
/// and collectives straight into it.
///
///     quadrille::Window window = quadrille::Window::allocate(comm, 1 << 20);
///     auto pending = window.ibcast(0, offset, bytes);  // the range is handed over: it is ready
///     ...                                              // others may write it now
///     pending.wait();                                  // its data is there
///
/// **Ownership of ranges.** A call hands its range over on this rank, and says so to the rank that will write it;
/// from then until the call has completed the program must not touch the range. No rank writes it earlier. So a rank
/// that will be busy calls ibcast early: up to 1 KiB, and in blocking calls, the root waits until a range is ready,
/// never until its rank looks at the data. Longer data of a non-blocking call waits until the receiver has got it. A
/// bcast by the algorithm "one_sided_staged" doesn't wait for that either: short data waits beside the ranks' memory.
/// Whether data arrives while the target computes is up to the MPI: see docs/explanation/windows.md.
///
/// **Calls.** As those of the communicator, to which they belong: all ranks make them in the same order and form, with
/// the same arguments. Those of one window run one after another. Offsets and counts are in bytes, and a range lies at
/// the same offset on every rank. A blocking call may wait inside MPI until its targets have entered MPI; under MPICH
/// so may the start of the others.
///
/// **Where there is no window**, since the MPI makes none, or none whose memory is that of the program
/// (MPI_WIN_UNIFIED), or by QUADRILLE_WINDOWS=0, all ranks agree on plain memory and messages: see transport.
///
/// The destructor is collective, waits for what is pending here, and for all ranks. A persistent operation can't be
/// started after it. The communicator may be destroyed before. One object must not be used by two threads at a time.
class QUADRILLE_EXPORT Window {
 public:
  /// Allocates `bytes` on this rank. Collective; waits for all ranks. A window takes QUADRILLE_STAGING bytes more (64
  /// KiB, but only pages that are used), and 16 bytes for each rank.
  static Window allocate(Communicator& comm, std::int64_t bytes);
  /// The same over memory of the caller, which must outlive the window. The program may not hold an epoch of its own on
  /// it, but it may have windows of its own over the same memory.
  static Window create(Communicator& comm, void* memory, std::int64_t bytes);

  /// What was moved from may only be assigned to or destroyed.
  Window(Window&& other) noexcept;
  /// The same; frees this one first, which is collective.
  Window& operator=(Window&& other) noexcept;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  /// This rank's memory.
  std::byte* data() const;
  /// Its bytes.
  std::int64_t size() const;
  /// The same as elements of a type.
  template <class T>
  std::span<T> as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(size()) / sizeof(T)};
  }
  /// Whether data goes through windows; the same on every rank.
  bool one_sided() const;
  /// By what data goes, for people: "windows of the MPI by osc/rdma", with the component of Open MPI that serves them,
  /// "windows of the MPI" where it does not tell, or "messages, since" and the reason.
  std::string transport() const;

  /// Broadcasts `count` bytes at `offset` of the root's memory to the same place on all ranks. The range must lie in
  /// the memory of every rank. An algorithm of Options that is not for windows goes by messages.
  ///@{
  void bcast(int root, std::int64_t offset, std::int64_t count, const Options& options = {});
  Pending ibcast(int root, std::int64_t offset, std::int64_t count, const Options& options = {});
  Persistent bcast_init(int root, std::int64_t offset, std::int64_t count, const Options& options = {});
  ///@}

  /// Gathers a block of `count` bytes of every rank on all ranks: that of rank r lies at `offset` + r `count`, on rank
  /// r before the call, on every rank after it.
  ///@{
  void allgather(std::int64_t offset, std::int64_t count, const Options& options = {});
  Pending iallgather(std::int64_t offset, std::int64_t count, const Options& options = {});
  Persistent allgather_init(std::int64_t offset, std::int64_t count, const Options& options = {});
  ///@}

  /// Waits until all ranks have called it.
  ///@{
  void barrier(const Options& options = {});
  Pending ibarrier(const Options& options = {});
  Persistent barrier_init(const Options& options = {});
  ///@}

 private:
  explicit Window(std::unique_ptr<detail::Exposed> exposed);

  std::unique_ptr<detail::Exposed> exposed_;
};

}  // namespace quadrille
