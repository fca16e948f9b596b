#include "interpose/neighbours.hpp"

#include <algorithm>

#include "engine/mpi.hpp"

namespace quadrille::interpose {

using engine::check;

std::vector<int> neighbours_sent_to(MPI_Comm comm, int rank) {
  std::vector<int> neighbours;
  int topology = MPI_UNDEFINED;
  check(PMPI_Topo_test(comm, &topology), "MPI_Topo_test");
  if (topology == MPI_CART) {
    int dimensions = 0;
    check(PMPI_Cartdim_get(comm, &dimensions), "MPI_Cartdim_get");
    neighbours.resize(2 * static_cast<std::size_t>(dimensions));
    for (std::size_t i = 0; i < neighbours.size(); i += 2) {
      check(PMPI_Cart_shift(comm, static_cast<int>(i / 2), 1, &neighbours[i], &neighbours[i + 1]), "MPI_Cart_shift");
    }
  } else if (topology == MPI_GRAPH) {
    int degree = 0;
    check(PMPI_Graph_neighbors_count(comm, rank, &degree), "MPI_Graph_neighbors_count");
    neighbours.resize(static_cast<std::size_t>(degree));
    check(PMPI_Graph_neighbors(comm, rank, degree, neighbours.data()), "MPI_Graph_neighbors");
  } else if (topology == MPI_DIST_GRAPH) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    check(PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
    std::vector<int> sources(static_cast<std::size_t>(in));
    std::vector<int> weights(static_cast<std::size_t>(std::max(in, out)));
    std::vector<int> more(weights.size());
    neighbours.resize(static_cast<std::size_t>(out));
    check(PMPI_Dist_graph_neighbors(comm, in, sources.data(), weighted ? weights.data() : MPI_UNWEIGHTED, out,
                                    neighbours.data(), weighted ? more.data() : MPI_UNWEIGHTED),
          "MPI_Dist_graph_neighbors");
  }
  return neighbours;
}

}  // namespace quadrille::interpose
