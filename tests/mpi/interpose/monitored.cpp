// What Open MPI itself counts of a program's messages, to hold a trace against: loaded before the drop-in, under mpirun
// --mca pml_monitoring_enable 2. Its component pml/monitoring reports each message by a function of a library, which
// this one has in place of it. Before MPI_Finalize each rank writes "messages FROM TO:MESSAGES:BYTES ..." to the file
// MONITORED.RANK, as a trace has it; tags of the MPI's own messages, as those inside collectives, are negative.

#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace {

std::mutex mutex;
std::map<int, std::pair<std::int64_t, std::int64_t>> sent;
thread_local bool in_collective = false;

void write() {
  const char* const file = std::getenv("MONITORED");
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!file || sent.empty()) return;
  std::ofstream out(std::string(file) + '.' + std::to_string(rank));
  out << "messages " << rank;
  for (const auto& [to, traffic] : sent) out << ' ' << to << ':' << traffic.first << ':' << traffic.second;
  out << '\n';
}

}  // namespace

extern "C" {

void mca_common_monitoring_record_pml(int rank, std::size_t bytes, int tag) {
  if (tag < 0 || in_collective) return;
  const std::lock_guard guard(mutex);
  ++sent[rank].first;
  sent[rank].second += static_cast<std::int64_t>(bytes);
}

// The linear one starts persistent requests, of which the component says that their tag is 1.
int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  in_collective = true;
  using Function = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
  const int code = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "MPI_Alltoall"))(send, send_count, send_type, receive,
                                                                                receive_count, receive_type, comm);
  in_collective = false;
  return code;
}

int MPI_Finalize() {
  write();
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "MPI_Finalize"))();
}

void mpi_finalize_(MPI_Fint* error) {
  write();
  reinterpret_cast<void (*)(MPI_Fint*)>(dlsym(RTLD_NEXT, "mpi_finalize_"))(error);
}

void ompi_finalize_f(MPI_Fint* error) {
  write();
  reinterpret_cast<void (*)(MPI_Fint*)>(dlsym(RTLD_NEXT, "ompi_finalize_f"))(error);
}
}
