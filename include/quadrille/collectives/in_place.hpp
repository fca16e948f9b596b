#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "quadrille/blocks.hpp"
#include "quadrille/data.hpp"
#include "quadrille/detail/communicator_core.hpp"
#include "quadrille/detail/in_place_exchange.hpp"
#include "quadrille/detail/rows.hpp"
#include "quadrille/exchange.hpp"
#include "quadrille/options.hpp"

namespace quadrille {

/// All-to-all within the memory of the data itself, with any counts. A base of Communicator.
///
/// An error on one rank, in an argument or for lack of memory, is thrown on all ranks, before any data has moved.
class InPlaceCollectives : public detail::CollectiveFamily<InPlaceCollectives> {
 public:
  /// All-to-all within one buffer, with any counts and displacements. Blocks to be sent may overlap blocks to be
  /// received in any way; blocks of one direction must not overlap each other. Only blocks to be received are written.
  /// Elements must not overlap: the extent of a datatype must be at least its true extent. A datatype may have gaps,
  /// which are not written, and may differ between ranks if the size is the same.
  ///
  /// Allocates at most Options::memory bytes, which may differ between ranks; the default is one hundredth of the data,
  /// at least 64 KiB. One element and 64 bytes are enough, with gaps 192 bytes, but slow: the rank with the least
  /// memory for gaps limits the messages of all.
  ///@{
  template <WritableData Output>
  ExchangeResult alltoallv_in_place(Output&& data, const Parts& send, const Parts& receive,
                                    const Options& options = {}) {
    return core().run(detail::in_place_exchange(data, send, receive), options);
  }
  template <BorrowedWritableData Output>
  PendingExchange ialltoallv_in_place(Output&& data, const Parts& send, const Parts& receive,
                                      const Options& options = {}) {
    return core().start(detail::in_place_exchange(data, send, receive), options);
  }
  template <BorrowedWritableData Output>
  PersistentExchange alltoallv_in_place_init(Output&& data, const Parts& send, const Parts& receive,
                                             const Options& options = {}) {
    return core().init(detail::in_place_exchange(data, send, receive), options);
  }
  ExchangeResult alltoallv_in_place(void* data, const Parts& send, const Parts& receive, MPI_Datatype type,
                                    const Options& options = {}) {
    return core().run(detail::in_place_exchange(data, send, receive, type), options);
  }
  PendingExchange ialltoallv_in_place(void* data, const Parts& send, const Parts& receive, MPI_Datatype type,
                                      const Options& options = {}) {
    return core().start(detail::in_place_exchange(data, send, receive, type), options);
  }
  PersistentExchange alltoallv_in_place_init(void* data, const Parts& send, const Parts& receive, MPI_Datatype type,
                                             const Options& options = {}) {
    return core().init(detail::in_place_exchange(data, send, receive, type), options);
  }
  ///@}

  /// Sends the elements of a vector to other ranks and replaces them by those received, ordered by source; elements of
  /// one source keep their order. The vector gets the length of what it receives. Several vectors, as in
  /// std::tie(positions, velocities), must have equal lengths; element i of each goes to the same rank.
  ///
  /// `counts` are the numbers of elements for each rank: the first counts[0] elements go to rank 0, and so on.
  ///
  /// Reserve capacity for what is received before the call. If a vector's capacity is not enough, all of its new memory
  /// counts against Options::memory (by default one hundredth of the data, at least 64 KiB); if that is exceeded, the
  /// call fails on all ranks, and the error says how much to reserve. After an error the elements are unchanged, but a
  /// vector may have more capacity, and other addresses.
  ///
  /// The non-blocking forms use the vectors, and not only their elements, until completion. With a progress thread,
  /// their allocators may be called in that thread.
  ///@{
  template <ResizableData Vector>
  ExchangeResult redistribute(Vector& data, std::span<const std::int64_t> counts, const Options& options = {}) {
    return redistribute(std::tie(data), counts, options);
  }
  template <ResizableData... Vector>
  ExchangeResult redistribute(const std::tuple<Vector&...>& vectors, std::span<const std::int64_t> counts,
                              const Options& options = {}) {
    return core().run(detail::redistribution(vectors, counts), options);
  }
  template <ResizableData Vector>
  PendingExchange iredistribute(Vector& data, std::span<const std::int64_t> counts, const Options& options = {}) {
    return iredistribute(std::tie(data), counts, options);
  }
  template <ResizableData... Vector>
  PendingExchange iredistribute(const std::tuple<Vector&...>& vectors, std::span<const std::int64_t> counts,
                                const Options& options = {}) {
    return core().start(detail::redistribution(vectors, counts), options);
  }
  ///@}

  /// redistribute by a function: `rank_of(element)`, or `rank_of(element of the first vector, of the second, ...)`,
  /// returns an element's destination. It is called several times for each element, during this call only; what it
  /// throws is thrown on this rank alone. The call sorts the vectors by destination first, and leaves them sorted if it
  /// then fails.
  ///@{
  template <ResizableData Vector, class RankOf>
  requires detail::RankFunction<RankOf, Vector> ExchangeResult redistribute(Vector& data, RankOf rank_of,
                                                                            const Options& options = {}) {
    return redistribute(std::tie(data), std::move(rank_of), options);
  }
  template <ResizableData... Vector, class RankOf>
  requires detail::RankFunction<RankOf, Vector...> ExchangeResult redistribute(const std::tuple<Vector&...>& vectors,
                                                                               RankOf rank_of,
                                                                               const Options& options = {}) {
    std::vector<std::int64_t> counts;
    return core().run(sorted(vectors, rank_of, options, counts), options);
  }
  template <ResizableData Vector, class RankOf>
  requires detail::RankFunction<RankOf, Vector> PendingExchange iredistribute(Vector& data, RankOf rank_of,
                                                                              const Options& options = {}) {
    return iredistribute(std::tie(data), std::move(rank_of), options);
  }
  template <ResizableData... Vector, class RankOf>
  requires detail::RankFunction<RankOf, Vector...> PendingExchange iredistribute(const std::tuple<Vector&...>& vectors,
                                                                                 RankOf rank_of,
                                                                                 const Options& options = {}) {
    std::vector<std::int64_t> counts;
    return core().start(sorted(vectors, rank_of, options, counts), options);
  }
  ///@}

 protected:
  /// \cond
  InPlaceCollectives() = default;
  /// \endcond

 private:
  // Sorts the vectors by destination, and fills in the counts, which the result refers to.
  template <class RankOf, class... Vector>
  detail::InPlaceExchange sorted(const std::tuple<Vector&...>& vectors, RankOf& rank_of, const Options& options,
                                 std::vector<std::int64_t>& counts) {
    detail::Rows<RankOf, Vector...> rows(vectors, rank_of);
    const std::optional<int> no_rank = rows.count(core().size(), counts);
    detail::InPlaceExchange exchange = detail::redistribution(vectors, counts);
    if (no_rank) exchange.no_rank = *no_rank;
    if (exchange.counts_fit && !no_rank) {
      exchange.sort_bytes = rows.sort(core().size(), core().in_place_budget(rows.bytes(), options));
    }
    return exchange;
  }
};

}  // namespace quadrille
