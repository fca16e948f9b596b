#include "against_mpi/call.hpp"

#include <sched.h>

#include <algorithm>
#include <numeric>

#include "algorithms/collective.hpp"

namespace quadrille::test {

namespace {

constexpr std::ptrdiff_t margin = 64;

std::vector<std::byte> memory_for(std::int64_t elements, MPI_Datatype type, std::ptrdiff_t& first) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 1;
  if (type != MPI_DATATYPE_NULL) MPI_Type_get_extent(type, &lower, &extent);
  first = margin - std::min<MPI_Aint>(lower, 0);
  return std::vector<std::byte>(static_cast<std::size_t>((elements + 1) * std::max<MPI_Aint>(extent, 1) + 4 * margin));
}

void fill(std::vector<std::byte>& bytes, std::uint64_t seed) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::byte& byte : bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::byte>(state >> 56U);
  }
}

std::vector<int> narrow(const std::vector<std::int64_t>& wide) {
  return {wide.begin(), wide.end()};
}

std::vector<int> in_bytes(const std::vector<std::int64_t>& displacements, MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  std::vector<int> bytes;
  for (std::int64_t one : displacements) bytes.push_back(static_cast<int>(one * extent));
  return bytes;
}

std::vector<std::int64_t> wide(const std::vector<int>& narrow) {
  return {narrow.begin(), narrow.end()};
}

// Waits for MPI's own call without keeping the others from their cores, as MPICH's blocking calls would.
void wait_kindly(MPI_Request& request) {
  for (int done = 0; !done; sched_yield()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

#if defined(MPICH_VERSION)
#define CALL_MPI(blocking, nonblocking, ...)   \
  do {                                         \
    MPI_Request request = MPI_REQUEST_NULL;    \
    MPI_I##nonblocking(__VA_ARGS__, &request); \
    wait_kindly(request);                      \
  } while (false)
#else
#define CALL_MPI(blocking, nonblocking, ...) MPI_##blocking(__VA_ARGS__)
#endif

}  // namespace

Row row_of(std::vector<std::int64_t> counts) {
  Row row{std::move(counts), {}};
  std::int64_t next = 0;
  for (std::int64_t count : row.counts) {
    row.displacements.push_back(next);
    next += count + 1;
  }
  return row;
}

bool Call::in_place_here() const {
  return in_place && (!traits(collective).rooted || rank == root);
}

Memory::Memory(const Call& call) {
  const Traits of = traits(call.collective);
  const std::int64_t shares =
      std::accumulate(call.receives.counts.begin(), call.receives.counts.end(), std::int64_t{0});
  const auto elements = [&](Traits::Side side, const Row& row, std::int64_t one) {
    if (of.counts_differ) return shares;
    if (side == Traits::Side::all) return of.separate_blocks ? row.elements() : one * call.ranks;
    return one;
  };
  const std::int64_t inputs = elements(of.input, call.sends, call.count);
  const std::int64_t outputs = elements(of.output, call.receives, call.received());
  // In place the output holds the input, or the other way round.
  input_bytes = memory_for(std::max(inputs, outputs), call.types.send, first_input);
  output_bytes = memory_for(std::max(inputs * call.types.factor, outputs), call.types.receive, first_output);
  fill(input_bytes, static_cast<std::uint64_t>(call.rank) * 2 + 1);
  fill(output_bytes, static_cast<std::uint64_t>(call.rank) * 2 + 2);
}

void* Memory::input() {
  return input_bytes.data() + first_input;
}

void* Memory::output() {
  return output_bytes.data() + first_output;
}

void by_mpi(const Call& call, Memory& memory, MPI_Comm comm) {
  const bool scatters = call.collective == Collective::scatter || call.collective == Collective::scatterv;
  const void* in = call.in_place_here() && !scatters ? MPI_IN_PLACE : memory.input();
  void* out = call.in_place_here() && scatters ? MPI_IN_PLACE : memory.output();
  const auto n = static_cast<int>(call.count);
  const auto m = static_cast<int>(call.received());
  const MPI_Datatype type = call.types.receive;
  const MPI_Datatype sent = call.types.send;
  const std::vector<int> sends = narrow(call.sends.counts);
  const std::vector<int> receives = narrow(call.receives.counts);
  const std::vector<int> from = narrow(call.sends.displacements);
  const std::vector<int> to = narrow(call.receives.displacements);
  switch (call.collective) {
    case Collective::barrier: {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibarrier(comm, &request);
      wait_kindly(request);
      break;
    }
    case Collective::bcast:
      CALL_MPI(Bcast, bcast, call.rank == call.root ? memory.output() : out, m, type, call.root, comm);
      break;
    case Collective::reduce:
      CALL_MPI(Reduce, reduce, in, out, n, type, call.op, call.root, comm);
      break;
    case Collective::allreduce:
      CALL_MPI(Allreduce, allreduce, in, out, n, type, call.op, comm);
      break;
    case Collective::gather:
      CALL_MPI(Gather, gather, in, n, sent, out, m, type, call.root, comm);
      break;
    case Collective::gatherv:
      CALL_MPI(Gatherv, gatherv, in, n, sent, out, receives.data(), to.data(), type, call.root, comm);
      break;
    case Collective::scatter:
      CALL_MPI(Scatter, scatter, in, n, sent, out, m, type, call.root, comm);
      break;
    case Collective::scatterv:
      CALL_MPI(Scatterv, scatterv, in, sends.data(), from.data(), sent, out, m, type, call.root, comm);
      break;
    case Collective::allgather:
      CALL_MPI(Allgather, allgather, in, n, sent, out, m, type, comm);
      break;
    case Collective::allgatherv:
      CALL_MPI(Allgatherv, allgatherv, in, n, sent, out, receives.data(), to.data(), type, comm);
      break;
    case Collective::alltoall:
      CALL_MPI(Alltoall, alltoall, in, n, sent, out, m, type, comm);
      break;
    case Collective::alltoallv:
      CALL_MPI(Alltoallv, alltoallv, in, sends.data(), from.data(), sent, out, receives.data(), to.data(), type, comm);
      break;
    case Collective::alltoallw: {
      const std::vector<MPI_Datatype> send_types(sends.size(), sent);
      const std::vector<MPI_Datatype> receive_types(receives.size(), type);
      const std::vector<int> from_bytes = in_bytes(call.sends.displacements, sent);
      const std::vector<int> to_bytes = in_bytes(call.receives.displacements, type);
      CALL_MPI(Alltoallw, alltoallw, in, sends.data(), from_bytes.data(), send_types.data(), out, receives.data(),
               to_bytes.data(), receive_types.data(), comm);
      break;
    }
    case Collective::reduce_scatter:
      CALL_MPI(Reduce_scatter, reduce_scatter, in, out, receives.data(), type, call.op, comm);
      break;
    case Collective::reduce_scatter_block: {
      // In two calls: MPICH 4.0's own loses data where the type's lower bound is not 0 and the operation does not
      // commute.
      Memory all = memory;
      CALL_MPI(Reduce, reduce, call.in_place ? memory.output() : in, all.output(), n * call.ranks, type, call.op, 0,
               comm);
      CALL_MPI(Scatter, scatter, all.output(), n, type, out, n, type, 0, comm);
      break;
    }
    case Collective::scan:
      CALL_MPI(Scan, scan, in, out, n, type, call.op, comm);
      break;
    case Collective::exscan:
      CALL_MPI(Exscan, exscan, in, out, n, type, call.op, comm);
      break;
  }
}

void by_us(const Call& call, Memory& memory, Communicator& comm, const Options& options) {
  const bool scatters = call.collective == Collective::scatter || call.collective == Collective::scatterv;
  const void* in = call.in_place_here() && !scatters ? MPI_IN_PLACE : memory.input();
  void* out = call.in_place_here() && scatters ? MPI_IN_PLACE : memory.output();
  const std::int64_t n = call.count;
  const std::int64_t m = call.received();
  const MPI_Datatype type = call.types.receive;
  const MPI_Datatype sent = call.types.send;
  const Blocks sends{call.sends.counts.data(), call.sends.displacements.data(), sent};
  const Blocks receives{call.receives.counts.data(), call.receives.displacements.data(), type};
  switch (call.collective) {
    case Collective::barrier:
      return comm.barrier(options);
    case Collective::bcast:
      return comm.bcast(memory.output(), m, type, call.root, options);
    case Collective::reduce:
      return comm.reduce(in, out, n, type, call.op, call.root, options);
    case Collective::allreduce:
      return comm.allreduce(in, out, n, type, call.op, options);
    case Collective::gather:
      return comm.gather(in, n, sent, out, m, type, call.root, options);
    case Collective::gatherv:
      return comm.gatherv(in, n, sent, out, receives, call.root, options);
    case Collective::scatter:
      return comm.scatter(in, n, sent, out, m, type, call.root, options);
    case Collective::scatterv:
      return comm.scatterv(in, sends, out, m, type, call.root, options);
    case Collective::allgather:
      return comm.allgather(in, n, sent, out, m, type, options);
    case Collective::allgatherv:
      return comm.allgatherv(in, n, sent, out, receives, options);
    case Collective::alltoall:
      return comm.alltoall(in, n, sent, out, m, type, options);
    case Collective::alltoallv:
      return comm.alltoallv(in, sends, out, receives, options);
    case Collective::alltoallw: {
      const std::vector<MPI_Datatype> send_types(call.sends.counts.size(), sent);
      const std::vector<MPI_Datatype> receive_types(call.receives.counts.size(), type);
      const std::vector<std::int64_t> from_bytes = wide(in_bytes(call.sends.displacements, sent));
      const std::vector<std::int64_t> to_bytes = wide(in_bytes(call.receives.displacements, type));
      return comm.alltoallw(in, {call.sends.counts.data(), from_bytes.data(), send_types.data()}, out,
                            {call.receives.counts.data(), to_bytes.data(), receive_types.data()}, options);
    }
    case Collective::reduce_scatter:
      return comm.reduce_scatter(in, out, call.receives.counts.data(), type, call.op, options);
    case Collective::reduce_scatter_block:
      return comm.reduce_scatter_block(in, out, n, type, call.op, options);
    case Collective::scan:
      return comm.scan(in, out, n, type, call.op, options);
    case Collective::exscan:
      return comm.exscan(in, out, n, type, call.op, options);
  }
}

}  // namespace quadrille::test
