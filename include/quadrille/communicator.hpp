#pragma once

#include <mpi.h>

#include <cstdint>

#include "quadrille/collectives/allgather.hpp"
#include "quadrille/collectives/alltoall.hpp"
#include "quadrille/collectives/barrier.hpp"
#include "quadrille/collectives/bcast.hpp"
#include "quadrille/collectives/gather_scatter.hpp"
#include "quadrille/collectives/in_place.hpp"
#include "quadrille/collectives/reduce.hpp"
#include "quadrille/collectives/reduce_scatter.hpp"
#include "quadrille/collectives/scan.hpp"
#include "quadrille/detail/communicator_core.hpp"

namespace quadrille {

/// The collectives on the ranks of an MPI communicator; its base classes document them, a family each.
///
/// **Calls.** All ranks must make the same collective calls on a communicator in the same order, with matching
/// arguments. Each collective has three forms: blocking; non-blocking (`i...`), which returns a Pending; and persistent
/// (`..._init`), which returns a Persistent. Each takes ranges, or addresses with counts and datatypes of MPI.
/// Arguments have MPI's meaning and order, and MPI_IN_PLACE may be used where MPI allows it. Counts of gather, scatter,
/// allgather and alltoall are those of one block.
///
/// **Ranges.** Input and output hold elements of one trivially copyable type. Data is in place if input and output
/// begin at the addresses that MPI_IN_PLACE stands for. A range for a buffer that is not significant on this rank may
/// be empty. An operation on ranges is an associative function of two elements, such as std::plus{}; it is copied, and
/// is called in whatever thread advances the collective. See quadrille::commutative for operations of your own.
///
/// **Ownership.** Buffers remain the caller's. Copies of a Communicator share one private MPI communicator, which is
/// freed with the last of the copies and of their pending and persistent collectives, or by MPI_Finalize.
class Communicator : public BarrierCollectives,
                     public BcastCollectives,
                     public GatherScatterCollectives,
                     public AllgatherCollectives,
                     public AlltoallCollectives,
                     public InPlaceCollectives,
                     public ReduceCollectives,
                     public ReduceScatterCollectives,
                     public ScanCollectives {
 public:
  /// Collective over `comm`, an intracommunicator, which may be freed afterwards. Environment variables
  /// (QUADRILLE_CHECK, QUADRILLE_MEMORY, ...; see the manual) are those of its rank 0.
  explicit Communicator(MPI_Comm comm) : core_(comm) {}

  /// The rank of this process in the communicator.
  int rank() const { return core_.rank(); }
  /// The number of ranks.
  int size() const { return core_.size(); }
  /// The most memory, in bytes, that this process has allocated at one time beyond the callers' buffers, for scratch
  /// and packing, over all communicators.
  static std::int64_t peak_bytes() { return detail::CommunicatorCore::peak_bytes(); }

 private:
  /// \cond
  template <class Family>
  friend class detail::CollectiveFamily;
  friend class Window;
  /// \endcond

  detail::CommunicatorCore core_;
};

/// \cond
template <class Family>
detail::CommunicatorCore& detail::CollectiveFamily<Family>::core() {
  return static_cast<Communicator&>(static_cast<Family&>(*this)).core_;
}
/// \endcond

}  // namespace quadrille
