#include "bench/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <quadrille/error.hpp>

#include "algorithms/collective.hpp"
#include "api/parameters.hpp"
#include "engine/mpi.hpp"

namespace quadrille::bench {

namespace {

constexpr std::int64_t most_in_int = std::numeric_limits<int>::max();

// The most that an uneven block has.
std::int64_t most_of(std::int64_t mean) {
  return mean / 2 + mean;
}

// Around the mean, the same from a to b as from b to a, so that every rank sends as much as it gets.
int uneven(std::int64_t mean, int a, int b) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b));
  const auto high = static_cast<std::uint64_t>(std::max(a, b));
  const std::uint64_t mixed = (low * 31 + high * 17 + 5) * 2654435761U >> 8U;
  return static_cast<int>(mean / 2 + static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(mean + 1)));
}

std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places;
  std::int64_t next = 0;
  for (int count : counts) {
    places.push_back(static_cast<int>(next));
    next += count;
  }
  return places;
}

}  // namespace

Exercise::Exercise(Collective collective, std::int64_t bytes, int rank, int ranks)
    : collective_(collective), bytes_(bytes), rank_(rank), ranks_(ranks) {
  const Traits of = traits(collective);
  const bool doubles = of.reduces && bytes % 8 == 0;
  if (doubles) type_ = MPI_DOUBLE;
  if (of.reduces) op_ = doubles ? MPI_SUM : MPI_BOR;
  element_ = doubles ? 8 : 1;
  const std::int64_t elements = bytes / element_;
  // What a rank passes in is cut into a block for each, or is one block; so is what it gets.
  const bool cut = of.input == Traits::Side::all && !of.rooted;
  const std::int64_t block = !cut || elements == 0 ? elements : std::max<std::int64_t>(elements / ranks, 1);
  if (cut) bytes_ = block * ranks * element_;
  const bool by_places = of.separate_blocks || of.counts_differ;
  if (block > most_in_int || (by_places && most_of(block) > most_in_int / ranks)) {
    refusal_ = fmt::format("{}, {} bytes: more elements than an int holds, so the MPI's own call can't do it",
                           name(collective), bytes);
    return;
  }
  count_ = static_cast<int>(block);
  find_counts(block);
  const auto side_bytes = [&](Traits::Side side, const std::vector<int>& all_counts) {
    if (!of.moves_data()) return std::int64_t{0};
    if (side != Traits::Side::all || all_counts.empty())
      return element_ * block * (side == Traits::Side::all ? ranks : 1);
    return element_ * std::accumulate(all_counts.begin(), all_counts.end(), std::int64_t{0});
  };
  const std::int64_t least = element_ * most_of(block);
  input_bytes_ = std::max(side_bytes(of.input, of.counts_differ ? receive_counts_ : send_counts_), least);
  output_bytes_ = std::max(side_bytes(of.output, receive_counts_), least);
}

void Exercise::find_counts(std::int64_t block) {
  const Traits of = traits(collective_);
  const auto counts = [&](auto of_peer) {
    std::vector<int> all;
    for (int peer = 0; peer < ranks_; ++peer) all.push_back(of_peer(peer));
    return all;
  };
  if (of.counts_differ) {
    receive_counts_ = counts([&](int peer) { return uneven(block, peer, peer); });
    shares_.emplace(std::vector<std::int64_t>(receive_counts_.begin(), receive_counts_.end()));
  } else if (of.separate_blocks) {
    const bool pairs = of.input == Traits::Side::all && of.output == Traits::Side::all;
    send_counts_ = counts([&](int peer) { return uneven(block, pairs ? rank_ : peer, peer); });
    receive_counts_ = send_counts_;
  }
  send_places_ = places_of(send_counts_);
  receive_places_ = places_of(receive_counts_);
  types_.assign(static_cast<std::size_t>(ranks_), type_);
}

// As the library makes it of a call.
Problem Exercise::problem(const Variant& variant, std::int64_t segment_bytes) const {
  const Traits of = traits(collective_);
  const bool known = of.moves_data() && !of.separate_blocks && !of.counts_differ;
  const std::int64_t unit = of.reduces ? element_ : 1;
  const Problem problem{.ranks = ranks_,
                        .count = known ? count_ * element_ / unit : 0,
                        .shares = shares_ ? &*shares_ : nullptr,
                        .segment = variant.algorithm().segmented ? std::max<std::int64_t>(1, segment_bytes / unit) : 0,
                        .width = variant.width};
  return problem_of(collective_, problem);
}

detail::Call Exercise::call(const void* input, void* output, int root) const {
  const Traits of = traits(collective_);
  detail::UserBuffer in{.address = input, .count = count_, .type = type_};
  detail::UserBuffer out{.address = output, .count = count_, .type = type_};
  if (of.counts_differ) {
    out.counts = receive_counts_.data();
  } else if (of.separate_blocks) {
    const auto with_blocks = [](detail::UserBuffer& buffer, const std::vector<int>& counts,
                                const std::vector<int>& places) {
      buffer.counts = counts.data();
      buffer.displacements = places.data();
    };
    if (of.input == Traits::Side::all) with_blocks(in, send_counts_, send_places_);
    if (of.output == Traits::Side::all) with_blocks(out, receive_counts_, receive_places_);
    if (of.input != Traits::Side::all) in.count = send_counts_[static_cast<std::size_t>(rank_)];
    if (of.output != Traits::Side::all) out.count = receive_counts_[static_cast<std::size_t>(rank_)];
    if (collective_ == Collective::alltoallw) in.types = out.types = types_.data();
  }
  return of.reduces ? detail::reduction_call(collective_, in, out, op_, root)
                    : detail::data_call(collective_, in, out, root);
}

void Exercise::ours(const void* input, void* output, int root, engine::Context& context, const Options& options) const {
  api::run(context, call(input, output, root), options);
}

std::optional<Schedule> Exercise::schedule(const void* input, void* output, int root, engine::Context& context,
                                           const std::string& algorithm) const {
  try {
    const api::CallOptions options{.request = {.variant = api::named(collective_, algorithm)}};
    auto task = api::prepare(context, call(input, output, root), options, api::Handles::borrowed).task;
    if (!task) return std::nullopt;
    // One that serves all counts is built for this one, to be compared with those that are.
    engine::Shape shape = task->shape();
    shape.count *= task->binding().scale;
    context.release(std::move(task));
    return context.built(shape);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void Exercise::native(const void* input, void* output, int root, MPI_Comm comm) const {
  // By the names that api/collectives.def has for them.
  const void* const sendbuf = input;
  void* const recvbuf = output;
  void* const buffer = output;
  const int count = count_;
  const auto own = static_cast<std::size_t>(rank_);
  const int sendcount = send_counts_.empty() ? count : send_counts_[own];
  const int recvcount = receive_counts_.empty() ? count : receive_counts_[own];
  const int* const sendcounts = send_counts_.data();
  const int* const senddispls = send_places_.data();
  const int* const recvcounts = receive_counts_.data();
  const int* const recvdispls = receive_places_.data();
  MPI_Datatype type = type_;
  MPI_Datatype sendtype = type;
  MPI_Datatype recvtype = type;
  const MPI_Datatype* const sendtypes = types_.data();
  const MPI_Datatype* const recvtypes = types_.data();
  MPI_Op op = op_;
  const auto run = [&]() -> int {
    switch (collective_) {
#define QUADRILLE_COLLECTIVE(name, collective, parameters, call) \
  case Collective::collective:                                   \
    return PMPI_##name(QUADRILLE_PASSED(parameters) comm);
#include "api/collectives.def"
    }
    return MPI_ERR_INTERN;
  };
  engine::check(run(), "the MPI's own call");
}

}  // namespace quadrille::bench
