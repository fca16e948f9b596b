#include "calls.hpp"

#include <fmt/format.h>

#include <numeric>

namespace quadrille::test {

namespace {

void concatenate(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(right)[i] += 2 * static_cast<double*>(left)[i];
}

std::vector<int> begins(const std::vector<int>& counts, int unit = 1) {
  std::vector<int> all(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) all[i] = all[i - 1] + unit * counts[i - 1];
  return all;
}

std::vector<int> ints(const std::vector<std::int64_t>& counts) {
  return {counts.begin(), counts.end()};
}

}  // namespace

std::vector<std::int64_t> Call::blocks(Rank ranks) const {
  std::vector<std::int64_t> all;
  for (Rank one = 0; one < ranks; ++one) all.push_back(block(one, 0));
  return all;
}

namespace {

// In place MPICH 4.0 copies a block within the buffer by memcpy, and aborts where the two places overlap.
bool aborts([[maybe_unused]] Collective collective, [[maybe_unused]] bool in_place) {
#ifdef MPICH_NUMVERSION
  return collective == Collective::reduce_scatter && in_place;
#else
  return false;
#endif
}

}  // namespace

std::vector<Call> all_calls(Rank ranks) {
  constexpr std::array<std::int64_t, 12> counts = {0, 1, 3, 9, 40, 100, 400, 1500, 5000, 20000, 70000, 524288};
  constexpr std::int64_t most = 2'000'000;  // doubles of a rank
  std::vector<Call> all;
  for (std::size_t i = 0; i < collectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const Traits& of = traits(collective);
    for (const std::int64_t count : counts) {
      if (!of.moves_data() && count > 0) continue;
      if (of.in_blocks() && count * ranks > most) continue;
      for (const Rank root : {Rank{0}, ranks - 1}) {
        if (!of.rooted && root > 0) continue;
        for (const bool commutative : {true, false}) {
          if (!of.reduces && !commutative) continue;
          for (const bool in_place : {false, true}) {
            if (in_place && !(of.may_be_in_place && of.moves_data())) continue;
            if (aborts(collective, in_place)) continue;
            all.push_back({collective, root, count, commutative, in_place});
          }
        }
      }
    }
  }
  return all;
}

std::string text_of(const Call& call) {
  return fmt::format("{} of {} doubles, root {}{}{}", name(call.collective), call.count, call.root,
                     call.commutative ? "" : ", not commutative", call.in_place ? ", in place" : "");
}

World::World() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  MPI_Op_create(concatenate, 0, &not_commutative_);
}

World::~World() {
  MPI_Op_free(&not_commutative_);
}

const void* World::input(const Call& call, bool here) const {
  return call.in_place && here ? MPI_IN_PLACE : in_.data();
}

void World::run(const Call& call) {
  const auto all = static_cast<std::size_t>(2 * call.count * ranks_ + 1);
  in_.assign(all, 1.0);
  out_.assign(all, 1.0);
  const int count = static_cast<int>(call.count);
  const MPI_Op op = call.commutative ? MPI_SUM : not_commutative_;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  const bool at_root = rank_ == call.root;
  switch (call.collective) {
    case Collective::barrier:
      MPI_Barrier(comm);
      return;
    case Collective::bcast:
      MPI_Bcast(in_.data(), count, type, call.root, comm);
      return;
    case Collective::reduce:
      MPI_Reduce(input(call, at_root), out_.data(), count, type, op, call.root, comm);
      return;
    case Collective::allreduce:
      MPI_Allreduce(input(call, true), out_.data(), count, type, op, comm);
      return;
    case Collective::gather:
      MPI_Gather(input(call, at_root), count, type, out_.data(), count, type, call.root, comm);
      return;
    case Collective::scatter:
      MPI_Scatter(in_.data(), count, type, call.in_place && at_root ? MPI_IN_PLACE : out_.data(), count, type,
                  call.root, comm);
      return;
    case Collective::allgather:
      MPI_Allgather(input(call, true), count, type, out_.data(), count, type, comm);
      return;
    case Collective::alltoall:
      MPI_Alltoall(input(call, true), count, type, out_.data(), count, type, comm);
      return;
    case Collective::reduce_scatter_block:
      MPI_Reduce_scatter_block(input(call, true), out_.data(), count, type, op, comm);
      return;
    case Collective::scan:
      MPI_Scan(input(call, true), out_.data(), count, type, op, comm);
      return;
    case Collective::exscan:
      MPI_Exscan(input(call, true), out_.data(), count, type, op, comm);
      return;
    default:
      run_with_counts(call);
  }
}

void World::run_with_counts(const Call& call) {
  const std::vector<int> counts = ints(call.blocks(ranks_));
  const std::vector<int> places = begins(counts);
  std::vector<int> to_each;  // and from each: both are the same
  for (Rank peer = 0; peer < ranks_; ++peer) to_each.push_back(static_cast<int>(call.block(rank_, peer)));
  const std::vector<int> places_of_each = begins(to_each);
  const std::vector<int> bytes_of_each = begins(to_each, sizeof(double));
  const std::vector<MPI_Datatype> types(to_each.size(), MPI_DOUBLE);
  const int mine = counts[static_cast<std::size_t>(rank_)];
  const MPI_Op op = call.commutative ? MPI_SUM : not_commutative_;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  const bool at_root = rank_ == call.root;
  switch (call.collective) {
    case Collective::gatherv:
      MPI_Gatherv(input(call, at_root), mine, type, out_.data(), counts.data(), places.data(), type, call.root, comm);
      return;
    case Collective::scatterv:
      MPI_Scatterv(in_.data(), counts.data(), places.data(), type,
                   call.in_place && at_root ? MPI_IN_PLACE : out_.data(), mine, type, call.root, comm);
      return;
    case Collective::allgatherv:
      MPI_Allgatherv(input(call, true), mine, type, out_.data(), counts.data(), places.data(), type, comm);
      return;
    case Collective::alltoallv:
      MPI_Alltoallv(input(call, true), to_each.data(), places_of_each.data(), type, out_.data(), to_each.data(),
                    places_of_each.data(), type, comm);
      return;
    case Collective::alltoallw:
      MPI_Alltoallw(input(call, true), to_each.data(), bytes_of_each.data(), types.data(), out_.data(), to_each.data(),
                    bytes_of_each.data(), types.data(), comm);
      return;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter(input(call, true), out_.data(), counts.data(), type, op, comm);
      return;
    default:
      MPI_Abort(comm, 1);
  }
}

}  // namespace quadrille::test
