#pragma once

#include "quadrille/collective.hpp"
#include "quadrille/detail/call.hpp"
#include "quadrille/detail/communicator_core.hpp"
#include "quadrille/options.hpp"
#include "quadrille/pending.hpp"

namespace quadrille {

/// Barrier synchronisation. A base of Communicator.
class BarrierCollectives : public detail::CollectiveFamily<BarrierCollectives> {
 public:
  /// Returns, or completes, when all ranks have called it.
  ///@{
  void barrier(const Options& options = {}) { core().run(detail::data_call(Collective::barrier, {}, {}), options); }
  Pending ibarrier(const Options& options = {}) {
    return core().start(detail::data_call(Collective::barrier, {}, {}), options);
  }
  Persistent barrier_init(const Options& options = {}) {
    return core().init(detail::data_call(Collective::barrier, {}, {}), options);
  }
  ///@}

 protected:
  /// \cond
  BarrierCollectives() = default;
  /// \endcond
};

}  // namespace quadrille
