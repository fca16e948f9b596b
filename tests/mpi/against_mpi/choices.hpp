#pragma once

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "against_mpi/call.hpp"
#include "algorithms/catalogue.hpp"

namespace quadrille::test {

// A communicator of MPI's and one of ours on it: of all ranks, of every second one, or of all in another order.
struct Place {
  explicit Place(std::string_view which) {
    int world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    const bool halves = which == "halves";
    const int key = which == "backwards" ? -world_rank : world_rank;
    MPI_Comm_split(MPI_COMM_WORLD, halves ? world_rank % 2 : 0, key, &mpi);
    ours = std::make_unique<Communicator>(mpi);
    rank = ours->rank();
    ranks = ours->size();
  }
  ~Place() {
    ours.reset();
    MPI_Comm_free(&mpi);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::set<int> roots(bool rooted) const { return rooted ? std::set<int>{0, ranks / 2, ranks - 1} : std::set<int>{0}; }

  MPI_Comm mpi = MPI_COMM_NULL;
  std::unique_ptr<Communicator> ours;
  int rank = 0;
  int ranks = 1;
};

// The algorithms that serve the call, as a user would name them; also the one that is chosen where nobody names any.
inline std::vector<std::string> choices_for(const Call& call, bool commutative = true) {
  std::vector<std::string> names = {""};
  for (const Algorithm* algorithm : catalogue()) {
    Problem problem{.ranks = call.ranks, .in_place = call.in_place, .commutative = commutative};
    if (algorithm->collective != call.collective || !refusal(*algorithm, problem).empty()) continue;
    names.emplace_back(algorithm->name);
    if (algorithm->width > 0) names.push_back(fmt::format("{}:3", algorithm->name));
  }
  return names;
}

inline std::string describe(const Call& call) {
  return fmt::format("{} of {} {} from {} of {}{}", name(call.collective), call.count, call.types.name, call.root,
                     call.ranks, call.in_place ? ", in place" : "");
}

}  // namespace quadrille::test
