#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>

#include "quadrille/collective.hpp"
#include "quadrille/data.hpp"
#include "quadrille/detail/call.hpp"
#include "quadrille/detail/communicator_core.hpp"
#include "quadrille/detail/range_call.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

namespace quadrille {

/// Prefix reductions. A base of Communicator.
class ScanCollectives : public detail::CollectiveFamily<ScanCollectives> {
 public:
  /// Inclusive scan: rank i receives the data of ranks 0 to i, combined element by element.
  ///@{
  void scan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
            const Options& options = {}) {
    core().run(detail::reduction_call(Collective::scan, {input, count, type}, {output, count, type}, op), options);
  }
  Pending iscan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::scan, {input, count, type}, {output, count, type}, op),
                        options);
  }
  Persistent scan_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                       const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::scan, {input, count, type}, {output, count, type}, op),
                       options);
  }
  template <Data Input, WritableData Output, class Op>
  void scan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    core().run(detail::reduction_call(Collective::scan, input, output, std::move(op), {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Pending iscan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::scan, input, output, std::move(op), {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Persistent scan_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::scan, input, output, std::move(op), {}), options);
  }
  ///@}

  /// Exclusive scan: rank i receives the data of ranks 0 to i - 1, combined element by element. The output of rank 0 is
  /// not written.
  ///@{
  void exscan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
              const Options& options = {}) {
    core().run(detail::reduction_call(Collective::exscan, {input, count, type}, {output, count, type}, op), options);
  }
  Pending iexscan(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                  const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::exscan, {input, count, type}, {output, count, type}, op),
                        options);
  }
  Persistent exscan_init(const void* input, void* output, std::int64_t count, MPI_Datatype type, MPI_Op op,
                         const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::exscan, {input, count, type}, {output, count, type}, op),
                       options);
  }
  template <Data Input, WritableData Output, class Op>
  void exscan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    core().run(detail::reduction_call(Collective::exscan, input, output, std::move(op), {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Pending iexscan(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().start(detail::reduction_call(Collective::exscan, input, output, std::move(op), {}), options);
  }
  template <BorrowedData Input, BorrowedWritableData Output, class Op>
  Persistent exscan_init(Input&& input, Output&& output, Op op, const Options& options = {}) {
    return core().init(detail::reduction_call(Collective::exscan, input, output, std::move(op), {}), options);
  }
  ///@}

 protected:
  /// \cond
  ScanCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
