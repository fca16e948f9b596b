// Preloaded, it makes the last element of some results wrong. The kernels must notice.

#include <mpi.h>

#include <cstdint>

namespace {

int spoil(int code, void* data, std::int64_t count, MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  if (count > 0) static_cast<unsigned char*>(data)[count * bytes - 1] ^= 0x40U;  // zero becomes two
  return code;
}

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

}  // namespace

extern "C" {

// Not maxima: by those the kernels find out whether an error was noticed on any rank.
int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return spoil(PMPI_Allreduce(send, receive, count, type, op, comm), receive, op == MPI_SUM ? count : 0, type);
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
                  MPI_Comm comm) {
  const int code = PMPI_Allgather(send, send_count, send_type, receive, count, type, comm);
  return spoil(code, receive, std::int64_t{count} * ranks_of(comm), type);
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count, MPI_Datatype type,
                 MPI_Comm comm) {
  const int code = PMPI_Alltoall(send, send_count, send_type, receive, count, type, comm);
  return spoil(code, receive, std::int64_t{count} * ranks_of(comm), type);
}
}
