// Open MPI's component pml/monitoring, enabled by pml_monitoring_enable=2, reports each message by a function of a
// library of its own, which this program has in place of it. What a rank sends to itself is left out: in its pairwise
// alltoallv Open MPI 5.0 sends its own block so.

#include <mpi.h>

#include "recorder.hpp"

namespace {

std::map<quadrille::Rank, quadrille::knowledge::Traffic> recorded;
bool records = false;

}  // namespace

extern "C" __attribute__((visibility("default"))) void mca_common_monitoring_record_pml(int rank, std::size_t bytes,
                                                                                        int) {
  if (!records) return;
  quadrille::knowledge::Traffic& to = recorded[rank];
  ++to.messages;
  to.bytes += static_cast<std::int64_t>(bytes);
}

namespace quadrille::test {

bool can_record() {
  return true;
}

void start_recording() {
  recorded.clear();
  records = true;
}

std::map<Rank, knowledge::Traffic> stop_recording() {
  records = false;
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  recorded.erase(own);
  return recorded;
}

}  // namespace quadrille::test
