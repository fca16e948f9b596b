#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "quadrille/collective.hpp"
#include "quadrille/data.hpp"
#include "quadrille/detail/call.hpp"
#include "quadrille/detail/communicator_core.hpp"
#include "quadrille/detail/range_call.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

namespace quadrille {

/// Broadcast. A base of Communicator.
class BcastCollectives : public detail::CollectiveFamily<BcastCollectives> {
 public:
  /// Broadcasts the data of the root to all ranks. All ranks pass the same amount of data.
  ///@{
  void bcast(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    core().run(detail::data_call(Collective::bcast, {}, {data, count, type}, root), options);
  }
  Pending ibcast(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    return core().start(detail::data_call(Collective::bcast, {}, {data, count, type}, root), options);
  }
  Persistent bcast_init(void* data, std::int64_t count, MPI_Datatype type, int root, const Options& options = {}) {
    return core().init(detail::data_call(Collective::bcast, {}, {data, count, type}, root), options);
  }
  template <WritableData Output>
  void bcast(Output&& data, int root, const Options& options = {}) {
    core().run(detail::data_call(Collective::bcast, {}, detail::buffer(data), root), options);
  }
  /// One value instead of a range.
  template <Scalar T>
  void bcast(T& value, int root, const Options& options = {}) {
    bcast(std::span<T>(&value, 1), root, options);
  }
  template <BorrowedWritableData Output>
  Pending ibcast(Output&& data, int root, const Options& options = {}) {
    return core().start(detail::data_call(Collective::bcast, {}, detail::buffer(data), root), options);
  }
  template <BorrowedWritableData Output>
  Persistent bcast_init(Output&& data, int root, const Options& options = {}) {
    return core().init(detail::data_call(Collective::bcast, {}, detail::buffer(data), root), options);
  }
  ///@}

 protected:
  /// \cond
  BcastCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
