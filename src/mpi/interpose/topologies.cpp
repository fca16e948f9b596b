// Grids and graphs of ranks. Where the program allows that its ranks are reordered and the user asks for it, MPI's own
// function is called on a communicator in which ranks that are neighbours are near.

#include <mpi.h>
#include <quadrille/detail/export.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <quadrille/error.hpp>
#include <span>
#include <vector>

#include "engine/mpi.hpp"
#include "graph/graph.hpp"
#include "interpose/dropin.hpp"
#include "interpose/errors.hpp"
#include "interpose/next.hpp"
#include "placement/phases.hpp"
#include "reorder/reorder.hpp"

namespace quadrille::interpose {

namespace {

using engine::check;
using placement::Sent;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

// Calls create(comm, reorder), which is MPI's function, on the communicator that is reordered for what traffic()
// returns, or on the program's own where that is not asked for, or something is wrong with it, which is for MPI to
// report.
template <class TrafficOf, class Create>
int create_on_reordered(MPI_Comm comm, int reorder, const TrafficOf& traffic, const Create& create) {
  const DropIn& drop_in = DropIn::get();
  try {
    if (reorder == 0 || !drop_in.reorders(comm)) return create(comm, reorder);
    MPI_Comm made = reorder::renumbered(comm, reorder::new_rank(comm, traffic(), drop_in.model()));
    const int code = create(made, 0);
    PMPI_Comm_free(&made);
    return code;
  } catch (const Error& error) {
    if (error.code() == MPI_ERR_RANK) return create(comm, reorder);
    return report_error(comm, error.code(), error.what());
  } catch (const std::exception& error) {
    return report_error(comm, MPI_ERR_INTERN, error.what());
  }
}

// All of it on rank 0, as every rank passes the same arguments. Of a grid that is none, or has more places than there
// are ranks, nothing.
reorder::Traffic traffic_of_grid(MPI_Comm comm, int dimensions, const int extents[], const int periods[]) {
  reorder::Traffic traffic{.unit = reorder::Traffic::Unit::weights};
  int ranks = 0;
  check(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  std::int64_t places = 1;
  for (int i = 0; i < dimensions; ++i) {
    places *= extents[i];
    if (places <= 0 || places > ranks) return traffic;
  }
  if (rank_in(comm) != 0) return traffic;
  const std::vector<bool> periodic(periods, periods + dimensions);
  traffic.sent = placement::sent_of(graph::grid({extents, static_cast<std::size_t>(dimensions)}, periodic, 1));
  return traffic;
}

// Likewise.
reorder::Traffic traffic_of_graph(MPI_Comm comm, int nodes, const int index[], const int edges[]) {
  reorder::Traffic traffic{.unit = reorder::Traffic::Unit::weights};
  if (rank_in(comm) != 0) return traffic;
  for (int node = 0, edge = 0; node < nodes; ++node) {
    for (; edge < index[node]; ++edge) traffic.sent.push_back({node, edges[edge], 1, 1});
  }
  return traffic;
}

// The weights of an argument; none: it has none.
const int* weights_in(const int* argument) {
  return argument == MPI_UNWEIGHTED || argument == MPI_WEIGHTS_EMPTY ? nullptr : argument;
}

// So that MPI's own function is called, which says what is wrong.
constexpr Sent wrong = {0, -1, 0, 0};

// Of some ranks, each of which sends to so many.
reorder::Traffic traffic_of_edges(std::span<const int> sources, const int degrees[], const int destinations[],
                                  const int weights[]) {
  reorder::Traffic traffic{.unit = reorder::Traffic::Unit::weights};
  std::size_t edge = 0;
  const int* const known = weights_in(weights);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (degrees[i] < 0) traffic.sent.push_back(wrong);
    for (int j = 0; j < degrees[i]; ++j, ++edge) {
      traffic.sent.push_back({sources[i], destinations[edge], 1, known ? static_cast<double>(known[edge]) : 1.0});
    }
  }
  return traffic;
}

// A rank's neighbours in both directions, with weights where there are any.
struct Adjacent {
  struct Side {
    std::vector<int> ranks;
    std::vector<int> weights;  // none: unweighted
    bool weighted = false;

    static Side of(int degree, const int ranks[], const int weights[]) {
      Side side{.ranks = {ranks, ranks + degree}, .weights = {}, .weighted = weights != MPI_UNWEIGHTED};
      if (const int* const known = weights_in(weights)) side.weights.assign(known, known + degree);
      return side;
    }
    int degree() const { return static_cast<int>(ranks.size()); }
    // As an argument.
    const int* weights_argument() const {
      return !weighted ? MPI_UNWEIGHTED : weights.empty() ? MPI_WEIGHTS_EMPTY : weights.data();
    }
  };
  Side in;
  Side out;
};

std::vector<int> as_words(const Adjacent& adjacent) {
  std::vector<int> words;
  for (const Adjacent::Side* const side : {&adjacent.in, &adjacent.out}) {
    words.push_back(side->degree());
    words.push_back(static_cast<int>(side->weights.size()));
    words.push_back(side->weighted ? 1 : 0);
    words.insert(words.end(), side->ranks.begin(), side->ranks.end());
    words.insert(words.end(), side->weights.begin(), side->weights.end());
  }
  return words;
}

Adjacent of_words(const std::vector<int>& words) {
  Adjacent adjacent;
  auto next = words.begin();
  for (Adjacent::Side* const side : {&adjacent.in, &adjacent.out}) {
    const int ranks = *next++;
    const int weights = *next++;
    side->weighted = *next++ != 0;
    side->ranks.assign(next, next + ranks);
    next += ranks;
    side->weights.assign(next, next + weights);
    next += weights;
  }
  return adjacent;
}

// What the process has said that had the rank in the old communicator which this one has in the new one. Each says it
// to the one that has its old rank now: there is one message for each.
Adjacent handed_over(const Adjacent& own, int old_rank, MPI_Comm reordered) {
  constexpr int tag = 0;
  const std::vector<int> words = as_words(own);
  const auto count = static_cast<int>(words.size());
  int coming = 0;
  MPI_Status status;
  check(PMPI_Sendrecv(&count, 1, MPI_INT, old_rank, tag, &coming, 1, MPI_INT, MPI_ANY_SOURCE, tag, reordered, &status),
        "MPI_Sendrecv");
  std::vector<int> come(static_cast<std::size_t>(coming));
  check(PMPI_Sendrecv(words.data(), count, MPI_INT, old_rank, tag, come.data(), coming, MPI_INT, status.MPI_SOURCE, tag,
                      reordered, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  return of_words(come);
}

}  // namespace

// NOLINTBEGIN(readability-function-size): MPI's parameters are as many as they are.
extern "C" {

QUADRILLE_EXPORT int MPI_Cart_create(MPI_Comm comm, int dimensions, const int extents[], const int periods[],
                                     int reorder, MPI_Comm* grid) {
  return create_on_reordered(
      comm, reorder, [&] { return traffic_of_grid(comm, dimensions, extents, periods); },
      [&](MPI_Comm on, int again) {
        return QUADRILLE_NEXT(Cart_create, (on, dimensions, extents, periods, again, grid))();
      });
}

QUADRILLE_EXPORT int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
                                      MPI_Comm* graph) {
  return create_on_reordered(
      comm, reorder, [&] { return traffic_of_graph(comm, nodes, index, edges); },
      [&](MPI_Comm on, int again) { return QUADRILLE_NEXT(Graph_create, (on, nodes, index, edges, again, graph))(); });
}

QUADRILLE_EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int nodes, const int sources[], const int degrees[],
                                           const int destinations[], const int weights[], MPI_Info info, int reorder,
                                           MPI_Comm* graph) {
  return create_on_reordered(
      comm, reorder,
      [&] {
        return traffic_of_edges({sources, static_cast<std::size_t>(std::max(nodes, 0))}, degrees, destinations,
                                weights);
      },
      [&](MPI_Comm on, int again) {
        return QUADRILLE_NEXT(Dist_graph_create,
                              (on, nodes, sources, degrees, destinations, weights, info, again, graph))();
      });
}

QUADRILLE_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                                    const int source_weights[], int outdegree, const int destinations[],
                                                    const int destination_weights[], MPI_Info info, int reorder,
                                                    MPI_Comm* graph) {
  return create_on_reordered(
      comm, reorder,
      [&] {
        const int rank = rank_in(comm);
        reorder::Traffic traffic = traffic_of_edges({&rank, 1}, &outdegree, destinations, destination_weights);
        if (indegree < 0) traffic.sent.push_back(wrong);
        return traffic;
      },
      [&](MPI_Comm on, int again) {
        const auto pass_on = [&](const int* from, const int* weights_in, int in, const int* to, const int* weights_out,
                                 int out) {
          return QUADRILLE_NEXT(Dist_graph_create_adjacent,
                                (on, in, from, weights_in, out, to, weights_out, info, again, graph))();
        };
        if (on == comm) return pass_on(sources, source_weights, indegree, destinations, destination_weights, outdegree);
        const Adjacent own{.in = Adjacent::Side::of(indegree, sources, source_weights),
                           .out = Adjacent::Side::of(outdegree, destinations, destination_weights)};
        const auto [in, out] = handed_over(own, rank_in(comm), on);
        return pass_on(in.ranks.data(), in.weights_argument(), in.degree(), out.ranks.data(), out.weights_argument(),
                       out.degree());
      });
}

}  // extern "C"
// NOLINTEND(readability-function-size)

}  // namespace quadrille::interpose
