#include "interpose/merge_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/mpi.hpp"
#include "interpose/errors.hpp"

namespace quadrille::interpose {

using engine::check;

namespace {

constexpr std::int64_t part = 1 << 30;

void send(const std::string& text, int to, MPI_Comm comm) {
  const auto length = static_cast<std::int64_t>(text.size());
  check(PMPI_Send(&length, 1, MPI_INT64_T, to, 0, comm), "MPI_Send");
  for (std::int64_t at = 0; at < length; at += part) {
    const int bytes = static_cast<int>(std::min(part, length - at));
    check(PMPI_Send(text.data() + at, bytes, MPI_BYTE, to, 0, comm), "MPI_Send");
  }
}

std::string received(int from, MPI_Comm comm) {
  std::int64_t length = 0;
  check(PMPI_Recv(&length, 1, MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  std::string text(static_cast<std::size_t>(length), '\0');
  for (std::int64_t at = 0; at < length; at += part) {
    const int bytes = static_cast<int>(std::min(part, length - at));
    check(PMPI_Recv(text.data() + at, bytes, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE), "MPI_Recv");
  }
  return text;
}

}  // namespace

void merge_over_tree(trace::Trace& trace, int rank, int ranks) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  check(PMPI_Comm_group(MPI_COMM_WORLD, &all), "MPI_Comm_group");
  // The program may have left messages behind on its own.
  check(PMPI_Comm_create(MPI_COMM_WORLD, all, &comm), "MPI_Comm_create");
  for (int distance = 1; distance < ranks; distance *= 2) {
    if ((rank & distance) != 0) {
      send(to_text(trace), rank - distance, comm);
      break;
    }
    if (rank + distance >= ranks) continue;
    const std::string text = received(rank + distance, comm);
    // What can't be read is missing in the file; a rank that ended here would keep others waiting.
    try {
      trace.merge(trace::from_text(text));
    } catch (const std::invalid_argument& error) {
      say(fmt::format("the trace lacks ranks from {} on: {}", rank + distance, error.what()));
    }
  }
  PMPI_Comm_free(&comm);
  PMPI_Group_free(&all);
}

}  // namespace quadrille::interpose
