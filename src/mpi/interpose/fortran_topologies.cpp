// Grids and graphs of Fortran programs whose functions call PMPI_ names: each is made the call of C that it stands for.
// Of Open MPI those are all; of MPICH those of the module mpi_f08.

#include <mpi.h>
#include <quadrille/detail/export.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#ifdef OPEN_MPI
extern "C" {
// Fortran's constants are places. Missing where Open MPI was built without Fortran.
// NOLINTBEGIN(readability-identifier-naming): Open MPI's names.
[[gnu::weak]] extern int mpi_fortran_unweighted_;
[[gnu::weak]] extern int mpi_fortran_weights_empty_;
// NOLINTEND(readability-identifier-naming)
}
#else
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): MPICH's names, as its compiler makes them.
[[gnu::weak]] extern int __mpi_f08_link_constants_MOD_mpi_unweighted;
[[gnu::weak]] extern int __mpi_f08_link_constants_MOD_mpi_weights_empty;
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}
#endif

namespace quadrille::interpose {

namespace {

const int* weights_of(const MPI_Fint* weights) {
#ifdef OPEN_MPI
  const int* const unweighted = &mpi_fortran_unweighted_;
  const int* const empty = &mpi_fortran_weights_empty_;
#else
  const int* const unweighted = &__mpi_f08_link_constants_MOD_mpi_unweighted;
  const int* const empty = &__mpi_f08_link_constants_MOD_mpi_weights_empty;
#endif
  if (weights == unweighted) return MPI_UNWEIGHTED;
  return weights == empty ? MPI_WEIGHTS_EMPTY : weights;
}

int truth(MPI_Fint logical) {
  return logical != 0 ? 1 : 0;
}

// Makes the call, which leaves a communicator.
template <class Call>
void create(MPI_Fint* comm, MPI_Fint* error, const Call& call) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code = call(&made);
  if (code == MPI_SUCCESS) *comm = PMPI_Comm_c2f(made);
  if (error) *error = code;
}

}  // namespace

// A function under the names that programs reach it by.
#ifdef OPEN_MPI
#define QUADRILLE_FORTRAN_TOPOLOGY(name, parameters, body) \
  QUADRILLE_EXPORT void mpi_##name##_ parameters body QUADRILLE_EXPORT void mpi_##name##_f08_ parameters body
#else
#define QUADRILLE_FORTRAN_TOPOLOGY(name, parameters, body) QUADRILLE_EXPORT void mpi_##name##_f08_ parameters body
#endif

// NOLINTBEGIN(readability-function-size,bugprone-macro-parentheses): MPI's parameters are as many as they are.
extern "C" {

QUADRILLE_FORTRAN_TOPOLOGY(cart_create,
                           (const MPI_Fint* comm, const MPI_Fint* dimensions, const MPI_Fint* extents,
                            const MPI_Fint* periods, const MPI_Fint* reorder, MPI_Fint* grid, MPI_Fint* error),
                           {
                             std::vector<int> periodic(static_cast<std::size_t>(std::max(*dimensions, 0)));
                             std::transform(periods, periods + periodic.size(), periodic.begin(), truth);
                             create(grid, error, [&](MPI_Comm* made) {
                               return MPI_Cart_create(PMPI_Comm_f2c(*comm), *dimensions, extents, periodic.data(),
                                                      truth(*reorder), made);
                             });
                           })

QUADRILLE_FORTRAN_TOPOLOGY(graph_create,
                           (const MPI_Fint* comm, const MPI_Fint* nodes, const MPI_Fint* index, const MPI_Fint* edges,
                            const MPI_Fint* reorder, MPI_Fint* graph, MPI_Fint* error),
                           {
                             create(graph, error, [&](MPI_Comm* made) {
                               return MPI_Graph_create(PMPI_Comm_f2c(*comm), *nodes, index, edges, truth(*reorder),
                                                       made);
                             });
                           })

QUADRILLE_FORTRAN_TOPOLOGY(dist_graph_create,
                           (const MPI_Fint* comm, const MPI_Fint* nodes, const MPI_Fint* sources,
                            const MPI_Fint* degrees, const MPI_Fint* destinations, const MPI_Fint* weights,
                            const MPI_Fint* info, const MPI_Fint* reorder, MPI_Fint* graph, MPI_Fint* error),
                           {
                             create(graph, error, [&](MPI_Comm* made) {
                               return MPI_Dist_graph_create(PMPI_Comm_f2c(*comm), *nodes, sources, degrees,
                                                            destinations, weights_of(weights), PMPI_Info_f2c(*info),
                                                            truth(*reorder), made);
                             });
                           })

QUADRILLE_FORTRAN_TOPOLOGY(dist_graph_create_adjacent,
                           (const MPI_Fint* comm, const MPI_Fint* indegree, const MPI_Fint* sources,
                            const MPI_Fint* source_weights, const MPI_Fint* outdegree, const MPI_Fint* destinations,
                            const MPI_Fint* destination_weights, const MPI_Fint* info, const MPI_Fint* reorder,
                            MPI_Fint* graph, MPI_Fint* error),
                           {
                             create(graph, error, [&](MPI_Comm* made) {
                               return MPI_Dist_graph_create_adjacent(PMPI_Comm_f2c(*comm), *indegree, sources,
                                                                     weights_of(source_weights), *outdegree,
                                                                     destinations, weights_of(destination_weights),
                                                                     PMPI_Info_f2c(*info), truth(*reorder), made);
                             });
                           })

}  // extern "C"
// NOLINTEND(readability-function-size,bugprone-macro-parentheses)

}  // namespace quadrille::interpose
