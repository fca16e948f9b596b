// Every algorithm that moves data leaves every byte of memory as MPI's own call does.

#include <gtest/gtest.h>

#include "against_mpi/choices.hpp"

namespace quadrille::test {

namespace {

// Types that the tests use, freed at the end.
class TypeList {
 public:
  TypeList() {
    const MPI_Datatype strided = made([](MPI_Datatype* type) { MPI_Type_vector(2, 1, 2, MPI_INT, type); });
    const MPI_Datatype shifted = made([](MPI_Datatype* type) { MPI_Type_create_resized(MPI_INT, -8, 24, type); });
    const MPI_Datatype three = made([](MPI_Datatype* type) { MPI_Type_contiguous(3, MPI_INT, type); });
    types = {{"ints", MPI_INT, MPI_INT},
             {"vectors with gaps", strided, strided},
             {"a negative lower bound", shifted, shifted},
             {"three ints in one, ints", three, MPI_INT, 3},
             {"vectors with gaps, ints", strided, MPI_INT, 2}};
  }
  ~TypeList() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }
  TypeList(const TypeList&) = delete;
  TypeList& operator=(const TypeList&) = delete;

  std::vector<Types> types;

 private:
  template <class Make>
  MPI_Datatype made(Make&& make) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    make(&type);
    MPI_Type_commit(&type);
    made_.push_back(type);
    return type;
  }
  std::vector<MPI_Datatype> made_;
};

std::int64_t size_of(int from, int to, std::int64_t count, bool symmetric) {
  return (symmetric ? from + to : from * 7 + to * 3) % 4 * count;
}

// The counts of v and w collectives; of a rooted one both ends are the root's.
void set_rows(Call& call) {
  std::vector<std::int64_t> sends;
  std::vector<std::int64_t> receives;
  for (int peer = 0; peer < call.ranks; ++peer) {
    const bool exchange = traits(call.collective).input == Traits::Side::all && !traits(call.collective).rooted;
    const int receiver = exchange ? call.rank : 0;
    sends.push_back(size_of(exchange ? call.rank : 0, peer, call.count, call.in_place));
    receives.push_back(size_of(peer, receiver, call.count, call.in_place) * call.types.factor);
  }
  const bool scatters = call.collective == Collective::scatterv;
  if (call.collective == Collective::gatherv || call.collective == Collective::allgatherv) {
    call.count = receives[static_cast<std::size_t>(call.rank)] / call.types.factor;
  } else if (scatters) {
    call.count = sends[static_cast<std::size_t>(call.rank)];
  }
  call.sends = row_of(std::move(sends));
  call.receives = row_of(std::move(receives));
}

void compare(const Call& call, const Place& place) {
  Memory expected(call);
  by_mpi(call, expected, place.mpi);
  for (const std::string& choice : choices_for(call)) {
    Memory memory(call);
    by_us(call, memory, *place.ours, {.algorithm = choice});
    EXPECT_TRUE(memory.output_bytes == expected.output_bytes) << describe(call) << " by " << choice;
    EXPECT_TRUE(memory.input_bytes == expected.input_bytes) << "the input of " << describe(call) << " by " << choice;
  }
}

class Moves : public testing::TestWithParam<Collective> {};

TEST_P(Moves, LeaveMemoryAsMpiDoes) {
  const Traits of = traits(GetParam());
  const TypeList list;
  for (const char* ranks : {"all", "halves", "backwards"}) {
    const Place place(ranks);
    for (const Types& types : list.types) {
      for (std::int64_t count : {0, 1, 5, 700}) {
        for (bool in_place : {false, true}) {
          for (int root : place.roots(of.rooted)) {
            Call call{.collective = GetParam(), .rank = place.rank, .ranks = place.ranks, .root = root, .count = count};
            call.types = types;
            call.in_place = in_place;
            if (in_place && !of.may_be_in_place) continue;
            if (of.separate_blocks) set_rows(call);
            compare(call, place);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, Moves,
                         testing::Values(Collective::bcast, Collective::gather, Collective::gatherv,
                                         Collective::scatter, Collective::scatterv, Collective::allgather,
                                         Collective::allgatherv, Collective::alltoall, Collective::alltoallv,
                                         Collective::alltoallw),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace

}  // namespace quadrille::test
