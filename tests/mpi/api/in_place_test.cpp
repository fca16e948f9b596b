// All-to-all within one buffer: what goes wrong in other libraries, budgets, and random problems held against MPI's own
// call with two buffers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory_resource>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "api/world.hpp"
#include "engine/context.hpp"
#include "engine/moving.hpp"
#include "engine/process.hpp"

namespace quadrille::test {

namespace {

const std::array<std::string, 5> orders = {"tournament", "linear_shift", "hierarchical_sets", "hierarchical_factor",
                                           "by_rank"};

int value(int from, int to, std::int64_t index) {
  return from * 1000000 + to * 10000 + static_cast<int>(index % 10000);
}

// A number for two ranks, the same in both orders.
std::int64_t common(int a, int b, int seed) {
  return (std::min(a, b) * 7 + std::max(a, b) * 13 + seed) % 11;
}

std::vector<std::int64_t> one_after_another(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> at(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), std::int64_t{0});
  return at;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// What memory the calls of `work` took, on this rank.
template <class Work>
std::int64_t peak_of(Work&& work) {
  engine::Process::get().arena().forget_peak();
  const std::int64_t before = engine::Process::get().arena().in_use();
  work();
  return engine::Process::get().arena().peak() - before;
}

// What the ranks of an alltoallv or alltoallw tell each other first, packed, may take besides: it depends on ranks
// alone.
std::int64_t words(int ranks) {
  return std::max<std::int64_t>(64, 8 * ranks);
}

// Of a block for each rank, each `spread` elements from the next, whose counts are those of count_of(peer).
template <class CountOf>
void swap_and_check(Communicator& comm, MPI_Datatype type, int ints, CountOf&& count_of, const Options& options) {
  std::vector<std::int64_t> counts;
  for (int peer = 0; peer < comm.size(); ++peer) counts.push_back(count_of(peer));
  const std::vector<std::int64_t> at = one_after_another(counts);
  std::vector<int> data(static_cast<std::size_t>(sum(counts) * ints), -1);
  const auto each = [&](const auto& work) {
    for (int peer = 0; peer < comm.size(); ++peer) {
      const auto block = static_cast<std::size_t>(peer);
      for (std::int64_t i = 0; i < counts[block]; ++i) {
        work(peer, i, data[static_cast<std::size_t>((at[block] + i) * ints)]);
      }
    }
  };
  each([&](int peer, std::int64_t i, int& place) { place = value(comm.rank(), peer, i); });
  const Blocks nothing{nullptr, nullptr, MPI_DATATYPE_NULL};
  comm.alltoallv(MPI_IN_PLACE, nothing, data.data(), {counts.data(), at.data(), type}, options);
  each([&](int peer, std::int64_t i, int& place) { EXPECT_EQ(place, value(peer, comm.rank(), i)); });
  // Gaps stay as they were.
  if (ints > 1) {
    EXPECT_EQ(std::count(data.begin(), data.end(), -1), (ints - 1) * sum(counts));
  }
}

class Swaps : public testing::TestWithParam<std::string> {};

TEST_P(Swaps, ServeEveryKindOfCounts) {
  Communicator comm = world();
  for (const std::int64_t memory : {0, 256, 400, 1000, 100000}) {
    const Options options{.algorithm = GetParam(), .memory = memory};
    SCOPED_TRACE(memory);
    swap_and_check(
        comm, MPI_INT, 1, [](int) { return 0; }, options);
    swap_and_check(
        comm, MPI_INT, 1, [](int) { return 1; }, options);
    swap_and_check(
        comm, MPI_INT, 1, [&](int peer) { return common(peer, comm.rank(), 3); }, options);
    swap_and_check(
        comm, MPI_INT, 1, [&](int peer) { return common(peer, comm.rank(), 3) % 2 * 500; }, options);
    swap_and_check(
        comm, MPI_INT, 1, [&](int peer) { return common(peer, comm.rank(), 5) * 97; }, options);
  }
}

TEST_P(Swaps, ServeTypesWithGapsAndNegativeLowerBounds) {
  Communicator comm = world();
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  // Begins before its address: displacements of this type are in extents of three integers, as ever.
  MPI_Datatype lower = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, -static_cast<MPI_Aint>(sizeof(int)), 3 * sizeof(int), &lower);
  MPI_Type_commit(&lower);
  for (MPI_Datatype type : {spread, lower}) {
    for (const std::int64_t memory : {0, 300, 5000}) {
      const Options options{.algorithm = GetParam(), .memory = memory};
      swap_and_check(
          comm, type, 3, [&](int peer) { return common(peer, comm.rank(), 1) * 31; }, options);
    }
  }
  MPI_Type_free(&spread);
  MPI_Type_free(&lower);
}

// Ranks have memory of their own, and the poorest of two says how long chunks are.
TEST_P(Swaps, KeepToTheBudgetOfEachRank) {
  Communicator comm = world();
  for (const std::int64_t least : {256, 400, 4096, 50000}) {
    const std::int64_t memory = least * (1 + comm.rank() % 3);
    const std::int64_t peak = peak_of([&] {
      swap_and_check(comm, MPI_INT, 1, [&](int peer) { return 1 + common(peer, comm.rank(), 1) * 997; },
                     {.algorithm = GetParam(), .memory = memory});
    });
    EXPECT_LE(peak, memory + words(comm.size()));
  }
}

TEST_P(Swaps, TakeAHundredthOfTheDataUnlessToldOtherwise) {
  Communicator comm = world();
  constexpr std::int64_t block = 3000000;
  const std::int64_t peak =
      peak_of([&] { swap_and_check(comm, MPI_INT, 1, [](int) { return block; }, {.algorithm = GetParam()}); });
  EXPECT_LE(peak, std::max<std::int64_t>(65536, comm.size() * block * 4 / 100));
}

TEST_P(Swaps, AreRefusedByAllRanksWhereOneHasNoMemory) {
  Communicator comm = world();
  if (comm.size() == 1) return;
  const std::int64_t memory = comm.rank() == 1 ? 10 : 1000;
  std::vector<int> data(static_cast<std::size_t>(comm.size()), comm.rank());
  const std::vector<std::int64_t> counts(data.size(), 1);
  const std::int64_t before = engine::Process::get().arena().in_use();
  EXPECT_THROW(comm.alltoallv(data, counts, data, counts, {.algorithm = GetParam(), .memory = memory}), Error);
  EXPECT_EQ(engine::Process::get().arena().in_use(), before) << "what was taken is given back";
  EXPECT_EQ(std::count(data.begin(), data.end(), comm.rank()), comm.size());
  EXPECT_THROW(comm.alltoall(data, data, {.algorithm = GetParam(), .memory = 10}), Error);
  comm.alltoall(data, data, {.algorithm = GetParam(), .memory = 1000});
  for (int peer = 0; peer < comm.size(); ++peer) EXPECT_EQ(data[static_cast<std::size_t>(peer)], peer);
}

// FFT codes exchange one subarray with each rank: the whole block is one element, and is cut all the same.
TEST_P(Swaps, CutASubarrayThatIsAWholeBlock) {
  Communicator comm = world();
  const int ranks = comm.size();
  const int columns = 6 * ranks;
  constexpr int rows = 40;
  std::vector<int> matrix(static_cast<std::size_t>(rows * columns));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(ranks));
  for (int peer = 0; peer < ranks; ++peer) {
    const std::array<int, 2> sizes = {rows, columns};
    const std::array<int, 2> part = {rows, 6};
    const std::array<int, 2> start = {0, 6 * peer};
    MPI_Datatype& type = types[static_cast<std::size_t>(peer)];
    MPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
  }
  for (int i = 0; i < rows * columns; ++i) {
    matrix[static_cast<std::size_t>(i)] = value(comm.rank(), i % columns / 6, i / columns * 6 + i % 6);
  }
  const std::vector<std::int64_t> ones(types.size(), 1);
  const std::vector<std::int64_t> at(types.size(), 0);
  const std::int64_t peak = peak_of([&] {
    comm.alltoallw(MPI_IN_PLACE, {nullptr, nullptr, nullptr}, matrix.data(), {ones.data(), at.data(), types.data()},
                   {.algorithm = GetParam(), .memory = 700});
  });
  EXPECT_LE(peak, 700 + words(comm.size()));
  for (int i = 0; i < rows * columns; ++i) {
    EXPECT_EQ(matrix[static_cast<std::size_t>(i)], value(i % columns / 6, comm.rank(), i / columns * 6 + i % 6));
  }
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

// Blocks of one size for all, on ranks whose types have gaps and on others.
TEST_P(Swaps, CutUniformBlocksAlikeWhateverTheirTypes) {
  Communicator comm = world();
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  const bool gaps = comm.rank() % 2 == 1;
  const int ints = gaps ? 3 : 1;
  constexpr std::int64_t count = 700;
  for (const std::int64_t memory : {0, 256, 300, 1000, 4000, 5000, 20000, 200000}) {
    std::vector<int> data(static_cast<std::size_t>(comm.size() * count * ints), -1);
    const auto at = [&](int peer, std::int64_t i) -> int& {
      return data[static_cast<std::size_t>((peer * count + i) * ints)];
    };
    for (int peer = 0; peer < comm.size(); ++peer) {
      for (std::int64_t i = 0; i < count; ++i) at(peer, i) = value(comm.rank(), peer, i);
    }
    const std::int64_t peak = peak_of([&] {
      comm.alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, gaps ? spread : MPI_INT,
                    {.algorithm = GetParam(), .memory = memory});
    });
    EXPECT_LE(peak, memory == 0 ? 65536 : memory);
    for (int peer = 0; peer < comm.size(); ++peer) {
      for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(at(peer, i), value(peer, comm.rank(), i)) << memory;
    }
  }
  MPI_Type_free(&spread);
}

// More partners at a time than there is memory for.
TEST_P(Swaps, KeepToTheBudgetWhateverTheWidth) {
  Communicator comm = world();
  const std::string wide = GetParam() + ":6";
  const std::int64_t peak = peak_of([&] {
    swap_and_check(comm, MPI_INT, 1, [&](int peer) { return common(peer, comm.rank(), 1) * 97; },
                   {.algorithm = wide, .memory = 300});
  });
  EXPECT_LE(peak, 300 + words(comm.size()));
}

// One object twice is in place, also where it is empty.
TEST_P(Swaps, AreInPlaceOnRanksWithoutData) {
  Communicator comm = world();
  std::vector<int> data;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), 0);
  if (comm.rank() != 0) {
    for (int peer = 1; peer < comm.size(); ++peer) {
      counts[static_cast<std::size_t>(peer)] = 3;
      data.insert(data.end(), 3, value(comm.rank(), peer, 0));
    }
  }
  comm.alltoallv(data, counts, data, counts, {.algorithm = GetParam()});
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], value(static_cast<int>(i / 3) + 1, comm.rank(), 0));
}

// Two objects can't say it where a rank has no elements, and so they never may.
TEST_P(Swaps, AreNotMeantByTwoRangesOfTheSameMemory) {
  Communicator comm = world();
  std::vector<int> data(static_cast<std::size_t>(comm.size()), comm.rank());
  const std::vector<std::int64_t> counts(data.size(), 1);
  const Options options{.algorithm = GetParam()};
  EXPECT_THROW(comm.alltoallv(std::span(data), counts, std::span(data), counts, options), Error);
  comm.alltoall(std::span(data), std::span(data), options);
  for (int peer = 0; peer < comm.size(); ++peer) EXPECT_EQ(data[static_cast<std::size_t>(peer)], peer);
}

// Blocks that lie in another order than ranks do, with room between them, swapped and swapped back.
TEST_P(Swaps, ServeAllFormsOfACallWhereverBlocksLie) {
  Communicator comm = world();
  const int ranks = comm.size();
  constexpr std::int64_t room = 1200;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> bytes_at;
  for (int peer = 0; peer < ranks; ++peer) {
    counts.push_back(common(peer, comm.rank(), 2) * 100);
    at.push_back((ranks - 1 - peer) * room + 7);
    bytes_at.push_back(at.back() * static_cast<std::int64_t>(sizeof(int)));
  }
  const std::vector<MPI_Datatype> types(counts.size(), MPI_INT);
  std::vector<int> data(static_cast<std::size_t>(ranks * room), -1);
  const auto fill = [&](bool swapped) {
    std::vector<int> filled(data.size(), -1);
    for (int peer = 0; peer < ranks; ++peer) {
      const auto block = static_cast<std::size_t>(peer);
      for (std::int64_t i = 0; i < counts[block]; ++i) {
        filled[static_cast<std::size_t>(at[block] + i)] =
            swapped ? value(peer, comm.rank(), i) : value(comm.rank(), peer, i);
      }
    }
    return filled;
  };
  const Options options{.algorithm = GetParam(), .memory = 900};
  const Blocks nothing{nullptr, nullptr, MPI_DATATYPE_NULL};
  const TypedBlocks typed_nothing{nullptr, nullptr, nullptr};
  const Blocks blocks{counts.data(), at.data(), MPI_INT};
  const TypedBlocks typed{counts.data(), bytes_at.data(), types.data()};
  data = fill(false);
  Pending v = comm.ialltoallv(MPI_IN_PLACE, nothing, data.data(), blocks, options);
  v.wait();
  EXPECT_EQ(data, fill(true));
  Pending w = comm.ialltoallw(MPI_IN_PLACE, typed_nothing, data.data(), typed, options);
  w.wait();
  EXPECT_EQ(data, fill(false));
  Persistent again_v = comm.alltoallv_init(MPI_IN_PLACE, nothing, data.data(), blocks, options);
  Persistent again_w = comm.alltoallw_init(MPI_IN_PLACE, typed_nothing, data.data(), typed, options);
  for (Persistent* one : {&again_v, &again_v, &again_w, &again_w}) {
    const bool swapped = data == fill(true);
    one->start();
    one->wait();
    EXPECT_EQ(data, fill(!swapped));
  }
}

// A type whose data lies before its address.
TEST_P(Swaps, FindDataBeforeItsAddress) {
  Communicator comm = world();
  MPI_Datatype before = MPI_DATATYPE_NULL;
  const MPI_Aint offset = -static_cast<MPI_Aint>(2 * sizeof(int));
  const int one = 1;
  MPI_Type_create_hindexed(1, &one, &offset, MPI_INT, &before);
  MPI_Type_commit(&before);
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), 3);
  std::vector<int> data(3 * counts.size() + 2, -1);
  for (int i = 0; i < 3 * comm.size(); ++i) data[static_cast<std::size_t>(i)] = value(comm.rank(), i / 3, i % 3);
  comm.alltoallv(MPI_IN_PLACE, {nullptr, nullptr, MPI_DATATYPE_NULL}, data.data() + 2, {counts.data(), nullptr, before},
                 {.algorithm = GetParam()});
  for (int i = 0; i < 3 * comm.size(); ++i) {
    EXPECT_EQ(data[static_cast<std::size_t>(i)], value(i / 3, comm.rank(), i % 3));
  }
  comm.alltoallv_in_place(data.data() + 2, {counts}, {counts}, before);
  for (int i = 0; i < 3 * comm.size(); ++i) {
    EXPECT_EQ(data[static_cast<std::size_t>(i)], value(comm.rank(), i / 3, i % 3));
  }
  MPI_Type_free(&before);
}

// Several chunks for each pair, and several parts for each chunk, which must not overtake each other.
TEST_P(Swaps, KeepTheOrderOfParts) {
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  for (const char* part : {"37", "128", "700"}) {
    SCOPED_TRACE(part);
    Communicator comm = world({{"QUADRILLE_PART", part}});
    const auto many = [&](int peer) { return 1500 + common(peer, comm.rank(), 3) * 100; };
    for (const std::int64_t memory : {0, 5000}) {
      swap_and_check(comm, MPI_INT, 1, many, {.algorithm = GetParam(), .memory = memory});
      swap_and_check(comm, spread, 3, many, {.algorithm = GetParam(), .memory = memory});
    }
  }
  MPI_Type_free(&spread);
}

INSTANTIATE_TEST_SUITE_P(Orders, Swaps, testing::ValuesIn(orders));

// A random problem that all ranks know.
struct Irregular {
  Irregular(std::mt19937_64& random, int ranks, int rank) {
    const auto number = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    const auto wide = static_cast<std::size_t>(ranks);
    std::vector<std::int64_t> all(wide * wide);
    const std::int64_t most = std::array<std::int64_t, 4>{3, 40, 700, 3000}[number(3)];
    const std::int64_t full = number(4);
    for (std::int64_t& one : all) one = number(4) <= full ? number(most) : 0;
    // Some are the same both ways, of those some at the same places, on all ranks or not.
    const bool equal = number(2) == 0;
    for (std::size_t i = 0; equal && i < wide * wide; ++i) all[i] = all[i % wide * wide + i / wide];
    const bool same_places = equal && number(3) > 0;
    for (int peer = 0; peer < ranks; ++peer) {
      send.push_back(all[static_cast<std::size_t>(rank * ranks + peer)]);
      receive.push_back(all[static_cast<std::size_t>(peer * ranks + rank)]);
    }
    // Ranks draw from here on for themselves.
    std::mt19937_64 own(random() + static_cast<std::uint64_t>(rank));
    const auto lay_out = [&](const std::vector<std::int64_t>& counts, std::vector<std::int64_t>& at) {
      std::vector<std::size_t> order(counts.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      if (own() % 2 == 0) std::shuffle(order.begin(), order.end(), own);
      at.resize(counts.size());
      std::int64_t next = static_cast<std::int64_t>(own() % 5);
      for (const std::size_t one : order) {
        at[one] = next;
        next += counts[one] + static_cast<std::int64_t>(own() % 3 == 0 ? own() % 20 : 0);
      }
      length = std::max(length, next);
    };
    lay_out(send, send_at);
    lay_out(receive, receive_at);
    if (same_places && own() % 8 > 0) receive_at = send_at;
    memory = own() % 3 == 0 ? 64 : 64 + static_cast<std::int64_t>(own() % 20000);
  }

  std::vector<std::int64_t> send, receive, send_at, receive_at;
  std::int64_t length = 0;
  std::int64_t memory = 0;
};

std::vector<int> ints(const std::vector<std::int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

TEST(Irregular, GetsWhereTwoBuffersGet) {
  Communicator comm = world();
  std::mt19937_64 random(static_cast<std::uint64_t>(comm.size()) * 77);
  for (int round = 0; round < 120; ++round) {
    const Irregular problem(random, comm.size(), comm.rank());
    std::vector<std::uint32_t> data(static_cast<std::size_t>(problem.length));
    std::mt19937 own(static_cast<std::uint32_t>(round * 100 + comm.rank()));
    for (std::uint32_t& one : data) one = static_cast<std::uint32_t>(own());
    std::vector<std::uint32_t> expected = data;
    MPI_Alltoallv(data.data(), ints(problem.send).data(), ints(problem.send_at).data(), MPI_UINT32_T, expected.data(),
                  ints(problem.receive).data(), ints(problem.receive_at).data(), MPI_UINT32_T, MPI_COMM_WORLD);
    const Parts send{problem.send, problem.send_at};
    const Parts receive{problem.receive, problem.receive_at};
    const Options options{.memory = problem.memory};
    const std::int64_t peak = peak_of([&] {
      if (round % 3 == 0) {
        comm.ialltoallv_in_place(data, send, receive, options).wait();
      } else if (round % 3 == 1) {
        Persistent again = comm.alltoallv_in_place_init(data.data(), send, receive, MPI_UINT32_T, options);
        again.start();
        again.wait();
      } else {
        const ExchangeResult moved = comm.alltoallv_in_place(data, send, receive, options);
        EXPECT_EQ(moved.counts, problem.receive);
        EXPECT_LE(moved.peak_bytes, problem.memory);
      }
    });
    ASSERT_EQ(data, expected) << "round " << round;
    EXPECT_LE(peak, problem.memory + 16 * comm.size() * comm.size() + 4096) << "what agreeing takes is by ranks alone";
  }
}

// Pairs of integers in several shapes; all but the first have gaps, or another order than memory.
std::vector<MPI_Datatype> types_of_pairs() {
  const auto made = [](std::array<int, 2> lengths, std::array<MPI_Aint, 2> at, MPI_Aint lower, MPI_Aint extent) {
    MPI_Datatype blocks = MPI_DATATYPE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, lengths.data(), at.data(), MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, lower, extent, &type);
    MPI_Type_free(&blocks);
    MPI_Type_commit(&type);
    return type;
  };
  return {made({1, 1}, {0, 4}, 0, 8),   made({1, 1}, {0, 8}, 0, 12),   made({2, 0}, {0, 0}, 0, 20),
          made({1, 1}, {4, 0}, 0, 8),   made({1, 1}, {8, -4}, -4, 16), made({1, 1}, {-12, -4}, 0, 12),
          made({1, 1}, {0, 40}, -8, 60)};
}

// Each rank has a type of its own, and keeps what lies between the data of it.
TEST(Irregular, MovesElementsWithGaps) {
  Communicator comm = world();
  std::vector<MPI_Datatype> types = types_of_pairs();
  std::mt19937_64 random(static_cast<std::uint64_t>(comm.size()) * 78);
  for (int round = 0; round < 40; ++round) {
    const Irregular problem(random, comm.size(), comm.rank());
    MPI_Datatype type = types[(random() + (round % 2 == 0 ? static_cast<std::size_t>(comm.rank()) : 0)) % types.size()];
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    constexpr std::ptrdiff_t before = 16;  // integers, since data may lie before the address
    std::vector<int> data(static_cast<std::size_t>(problem.length * extent / 4 + 2 * before));
    std::mt19937 own(static_cast<std::uint32_t>(round * 100 + comm.rank()));
    for (int& one : data) one = static_cast<int>(own());
    std::vector<int> expected = data;
    MPI_Alltoallv(data.data() + before, ints(problem.send).data(), ints(problem.send_at).data(), type,
                  expected.data() + before, ints(problem.receive).data(), ints(problem.receive_at).data(), type,
                  MPI_COMM_WORLD);
    const std::int64_t memory = problem.memory + 128;
    const std::int64_t peak = peak_of([&] {
      const ExchangeResult moved =
          comm.alltoallv_in_place(data.data() + before, {problem.send, problem.send_at},
                                  {problem.receive, problem.receive_at}, type, {.memory = memory});
      EXPECT_EQ(moved.counts, problem.receive);
      EXPECT_LE(moved.peak_bytes, memory);
    });
    ASSERT_EQ(data, expected) << "round " << round;
    EXPECT_LE(peak, memory + 16 * comm.size() * comm.size() + 4096) << "what agreeing takes is by ranks alone";
  }
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

// An element that is packed and sent in many parts, in a little more memory than it takes.
TEST(Irregular, MovesAnElementWithGapsInParts) {
  Communicator comm = world();
  constexpr int ints_of_element = 5000;
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_vector(ints_of_element, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  constexpr std::size_t extent = 2 * ints_of_element - 1;
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(comm.size()), 1);
  std::vector<std::int64_t> reversed = one_after_another(ones);
  std::reverse(reversed.begin(), reversed.end());
  std::vector<int> data;
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (std::size_t i = 0; i < extent; ++i) data.push_back(i % 2 == 0 ? value(comm.rank(), peer, peer) : -1);
  }
  const auto call = [&](std::int64_t memory) {
    return comm.alltoallv_in_place(data.data(), {ones}, {ones, reversed}, every_second, {.memory = memory});
  };
  constexpr std::int64_t least = 20480 + 128;
  const std::int64_t peak = peak_of([&] { EXPECT_LE(call(least).peak_bytes, least); });
  EXPECT_LE(peak, least + 16 * comm.size() * comm.size() + 4096);
  for (int peer = 0; peer < comm.size(); ++peer) {
    const auto at = static_cast<std::size_t>(comm.size() - 1 - peer) * extent;
    for (std::size_t i = 0; i < extent; ++i) {
      ASSERT_EQ(data[at + i], i % 2 == 0 ? value(peer, comm.rank(), comm.rank()) : -1);
    }
  }
  if (comm.size() > 1) {
    EXPECT_THROW(call(least - 1), Error);
  }
  MPI_Type_free(&every_second);
}

// The first phase of a move that moves anything; those before it, MPI's own calls do here.
Phase moving_phase(Plan& plan) {
  Phase phase;
  plan.next(phase);
  MPI_Alltoall(phase.binding.input.front().address, 8, MPI_BYTE, phase.binding.output.front().address, 8, MPI_BYTE,
               MPI_COMM_WORLD);
  phase = {};
  plan.next(phase);
  const auto word = static_cast<int>(phase.binding.input.front().count);
  MPI_Allgather(phase.binding.input.front().address, word, MPI_BYTE, phase.binding.output.front().address, word,
                MPI_BYTE, MPI_COMM_WORLD);
  phase = {};
  plan.next(phase);
  return phase;
}

TEST(Irregular, IsASwapWhereAllBlocksAreTheSameBothWays) {
  engine::Context context(MPI_COMM_WORLD, engine::agreed_settings(MPI_COMM_WORLD));
  const auto ranks = static_cast<std::size_t>(context.ranks());
  std::vector<int> data(10 * ranks + 10);
  const std::vector<std::int64_t> counts(ranks, 10);
  engine::Move move;
  move.send_counts = move.receive_counts = counts;
  move.arrays = {{reinterpret_cast<std::byte*>(data.data()), Layout::basic(sizeof(int))}};
  const auto swaps = [&] {
    const auto plan = engine::plan_of(context, move, std::make_shared<ExchangeResult>())();
    return static_cast<bool>(moving_phase(*plan).program);
  };
  EXPECT_TRUE(swaps());
  // Where nobody tells what comes, and where some blocks are empty.
  move.receive_counts.clear();
  if (context.rank() < 2 && ranks > 1) move.send_counts[1 - static_cast<std::size_t>(context.rank())] = 0;
  EXPECT_TRUE(swaps());
  // Elsewhere on one rank alone.
  move.send_counts = move.receive_counts = counts;
  move.receive_at = one_after_another(counts);
  if (context.rank() == 0) move.receive_at.back() += 10;
  EXPECT_FALSE(swaps());
}

TEST(Irregular, SwapsSeveralVectorsOneAfterAnother) {
  Communicator comm = world();
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), 900);
  std::vector<int> numbers;
  std::vector<std::array<double, 3>> places;
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (int i = 0; i < 900; ++i) numbers.push_back(value(comm.rank(), peer, i));
  }
  for (const int number : numbers) places.push_back({1.0 * number, 2.0 * number, 3.0 * number});
  const ExchangeResult moved =
      comm.redistribute(std::tie(numbers, places), counts, {.memory = 2000 + 100 * comm.rank()});
  EXPECT_EQ(moved.counts, counts);
  EXPECT_LE(moved.peak_bytes, 2000 + 100 * comm.rank());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(numbers[i], value(static_cast<int>(i) / 900, comm.rank(), static_cast<std::int64_t>(i % 900)));
    ASSERT_EQ(places[i], (std::array<double, 3>{1.0 * numbers[i], 2.0 * numbers[i], 3.0 * numbers[i]}));
  }
}

// Nothing has moved, every rank has heard it, and the communicator goes on.
template <class Work>
void expect_refused(Communicator& comm, const std::string& words, Work&& work) {
  std::string heard = "nothing";
  try {
    work();
  } catch (const Error& error) {
    heard = error.what();
  }
  EXPECT_NE(heard.find(words), std::string::npos) << heard;
  comm.barrier();
}

TEST(Irregular, IsRefusedByAllRanksWhereOneIsWrong) {
  Communicator comm = world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const bool wrong = comm.rank() == comm.size() - 1;
  std::vector<int> data(4 * ranks, comm.rank());
  const std::vector<std::int64_t> twos(ranks, 2);
  std::vector<std::int64_t> counts = twos;
  std::vector<std::int64_t> at = one_after_another(twos);
  const auto call = [&](const Options& options) { comm.alltoallv_in_place(data, {twos}, {counts, at}, options); };
  if (wrong) counts[0] = 1;
  expect_refused(comm, "expects another number of elements from rank 0", [&] { call({}); });
  counts = twos;
  if (wrong) at.back() = -1;
  expect_refused(comm, "must not be negative", [&] { call({}); });
  at = one_after_another(twos);
  if (wrong) at[0] = 4 * comm.size();
  expect_refused(comm, "behind the end of the data", [&] { call({}); });
  at = one_after_another(twos);
  expect_refused(comm, "64 bytes are the least", [&] { call({.memory = wrong ? 8 : 100}); });
  if (comm.size() > 1) {
    if (wrong) at[0] = at[1];
    expect_refused(comm, "overlap at element 2", [&] { call({}); });
    at = one_after_another(twos);
  }
  for (const MPI_Aint extent : {2, 0, -4}) {
    MPI_Datatype overlapping = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, extent, &overlapping);
    MPI_Type_commit(&overlapping);
    expect_refused(comm, fmt::format("elements overlap each other: its extent is {} bytes", extent),
                   [&] { comm.alltoallv_in_place(data.data(), {twos}, {twos}, wrong ? overlapping : MPI_INT); });
    MPI_Type_free(&overlapping);
  }
  if (wrong) at.back() = std::numeric_limits<std::int64_t>::max() - 1;
  expect_refused(comm, "more bytes than 64 bits can count", [&] { call({}); });
  at = one_after_another(twos);
  if (wrong) counts.pop_back();
  expect_refused(comm, fmt::format("has {} counts or displacements", ranks - 1), [&] { call({}); });
  counts = twos;
  if (wrong) at.push_back(0);
  expect_refused(comm, fmt::format("has {} counts or displacements", ranks + 1), [&] { call({}); });
  at = one_after_another(twos);
  expect_refused(comm, "names an algorithm", [&] { call({.algorithm = wrong ? "tournament" : ""}); });
  expect_refused(comm, "it is MPI_DATATYPE_NULL",
                 [&] { comm.alltoallv_in_place(data.data(), {twos}, {twos}, wrong ? MPI_DATATYPE_NULL : MPI_INT); });
  expect_refused(comm, "its address is NULL",
                 [&] { comm.alltoallv_in_place(wrong ? nullptr : data.data(), {twos}, {twos}, MPI_INT); });
  EXPECT_EQ(std::count(data.begin(), data.end(), comm.rank()), std::ssize(data));
  call({});
  for (std::size_t peer = 0; peer < ranks; ++peer) EXPECT_EQ(data[2 * peer], static_cast<int>(peer));
}

// What MPI lets pass.
TEST(Irregular, LooksAtNothingThatIsEmpty) {
  Communicator comm = world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::int64_t> counts(ranks, 0);
  std::vector<std::int64_t> at(ranks, -1);
  counts[static_cast<std::size_t>(comm.rank())] = 2;
  at[static_cast<std::size_t>(comm.rank())] = 1;
  std::vector<int> data = {1, 2, 3};
  comm.alltoallv_in_place(data, {counts, at}, {counts, at});
  EXPECT_EQ(data, (std::vector<int>{1, 2, 3}));
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  const std::vector<std::int64_t> many(ranks, 1000);
  comm.alltoallv_in_place(data.data(), {many}, {many}, nothing);
  EXPECT_EQ(data, (std::vector<int>{1, 2, 3}));
  MPI_Type_free(&nothing);
  const std::vector<std::int64_t> none(ranks, 0);
  comm.alltoallv_in_place(nullptr, {none}, {none}, MPI_INT);
}

TEST(Irregular, TellsWhatItCameToInEveryForm) {
  Communicator comm = world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::vector<std::int64_t> send(ranks, comm.rank() + 1);
  std::vector<std::int64_t> receive;
  for (int peer = 0; peer < comm.size(); ++peer) receive.push_back(peer + 1);
  std::vector<int> data(ranks * (ranks + 1), comm.rank());
  const auto expect_moved = [&](const ExchangeResult& moved) {
    EXPECT_EQ(moved.counts, receive);
    EXPECT_GT(moved.peak_bytes, 0);
    EXPECT_LE(moved.peak_bytes, 200);
    std::size_t next = 0;
    for (int peer = 0; peer < comm.size(); ++peer) {
      for (int i = 0; i <= peer; ++i) EXPECT_EQ(data[next++], peer);
    }
    std::fill(data.begin(), data.end(), comm.rank());
  };
  const Options options{.memory = 200};
  PendingExchange pending = comm.ialltoallv_in_place(data, {send}, {receive}, options);
  expect_moved(pending.wait());
  PersistentExchange again = comm.alltoallv_in_place_init(data, {send}, {receive}, options);
  for (int run = 0; run < 3; ++run) {
    again.start();
    expect_moved(again.wait());
  }
}

struct Particle {
  double place;
  int rank;
  int number;
};

// Sorted by source; what one source sends keeps its order.
void expect_in_order(const std::vector<Particle>& particles, const ExchangeResult& moved, int rank) {
  std::size_t next = 0;
  for (std::size_t source = 0; source < moved.counts.size(); ++source) {
    int last = -1;
    for (std::int64_t i = 0; i < moved.counts[source]; ++i, ++next) {
      ASSERT_LT(next, particles.size());
      EXPECT_EQ(particles[next].rank, static_cast<int>(source));
      EXPECT_EQ(static_cast<int>(particles[next].place), rank);
      EXPECT_GT(particles[next].number, last);
      last = particles[next].number;
    }
  }
  EXPECT_EQ(next, particles.size());
}

TEST(Redistribute, MovesElementsToWhereAFunctionSays) {
  Communicator comm = world();
  std::mt19937 random(static_cast<std::uint32_t>(comm.rank()));
  for (const int amount : {0, 1, 10, 3000}) {
    std::vector<Particle> particles;
    for (int i = 0; i < amount * (1 + comm.rank() % 2); ++i) {
      particles.push_back(
          {static_cast<double>(random() % static_cast<std::uint32_t>(comm.size())) + 0.5, comm.rank(), i});
    }
    particles.reserve(static_cast<std::size_t>(2 * amount * comm.size()));
    const auto rank_of = [](const Particle& one) { return static_cast<int>(one.place); };
    const ExchangeResult moved = comm.redistribute(particles, rank_of, {.memory = 500});
    EXPECT_LE(moved.peak_bytes, 500);
    expect_in_order(particles, moved, comm.rank());
  }
}

TEST(Redistribute, MovesSeveralVectorsAlike) {
  Communicator comm = world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::int64_t> counts;
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    counts.push_back(static_cast<std::int64_t>((peer + 3 * static_cast<std::size_t>(comm.rank())) % 5 * 10));
  }
  std::vector<double> places;
  std::vector<std::array<char, 3>> names;
  for (std::int64_t i = 0; i < sum(counts); ++i) {
    places.push_back(comm.rank() * 1000 + static_cast<double>(i));
    names.push_back({static_cast<char>(comm.rank()), static_cast<char>(i % 100), 'x'});
  }
  const ExchangeResult moved = comm.redistribute(std::tie(places, names), counts);
  ASSERT_EQ(std::ssize(places), sum(moved.counts));
  ASSERT_EQ(places.size(), names.size());
  // Which of each source's elements were for this rank, all know.
  std::vector<double> expected;
  for (int source = 0; source < comm.size(); ++source) {
    const auto count = [&](int to) { return (to + 3 * source) % 5 * 10; };
    int first = 0;
    for (int to = 0; to < comm.rank(); ++to) first += count(to);
    for (int i = 0; i < count(comm.rank()); ++i) expected.push_back(source * 1000 + first + i);
  }
  EXPECT_EQ(places, expected);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int source = static_cast<int>(places[i]) / 1000;
    EXPECT_EQ(names[i], (std::array<char, 3>{static_cast<char>(source),
                                             static_cast<char>(static_cast<int>(places[i]) % 1000 % 100), 'x'}));
  }
}

// A vector with an allocator of its own, ordered with others by a function of all of them, while something else goes
// on.
TEST(Redistribute, OrdersSeveralVectorsByOneFunction) {
  Communicator comm = world();
  for (const std::int64_t memory : {100, 1000, 0}) {
    std::mt19937 random(static_cast<std::uint32_t>(comm.rank()));
    std::vector<double> places;
    std::pmr::vector<std::array<int, 3>> marks;
    std::vector<char> kinds;
    const int amount = 700 * (comm.rank() % 3);
    for (int i = 0; i < amount; ++i) {
      places.push_back(static_cast<double>(random() % static_cast<std::uint32_t>(comm.size())));
      marks.push_back({comm.rank(), i, static_cast<int>(random() % 3)});
      kinds.push_back(static_cast<char>(i % 100));
    }
    const auto most = static_cast<std::size_t>(700 * 3 * comm.size());
    places.reserve(most);
    marks.reserve(most);
    kinds.reserve(most);
    const auto rank_of = [&](double place, const std::array<int, 3>& mark, char) {
      return (static_cast<int>(place) + mark[2]) % comm.size();
    };
    PendingExchange pending = comm.iredistribute(std::tie(places, marks, kinds), rank_of, {.memory = memory});
    const ExchangeResult moved = pending.wait();
    EXPECT_LE(moved.peak_bytes, memory > 0 ? memory : 65536);
    ASSERT_EQ(std::ssize(places), sum(moved.counts));
    ASSERT_EQ(marks.size(), places.size());
    ASSERT_EQ(kinds.size(), places.size());
    std::array<int, 3> last = {-1, -1, 0};
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(rank_of(places[i], marks[i], kinds[i]), comm.rank());
      EXPECT_LT(last, marks[i]);
      EXPECT_EQ(kinds[i], marks[i][1] % 100);
      last = marks[i];
    }
    std::int64_t all = std::ssize(places);
    std::int64_t expected = amount;
    comm.allreduce(std::span(&all, 1), std::span(&all, 1), std::plus{});
    comm.allreduce(std::span(&expected, 1), std::span(&expected, 1), std::plus{});
    EXPECT_EQ(all, expected);
  }
}

// Nothing is sent, so that ordering takes the most.
TEST(Redistribute, CountsTheMemoryOfOrdering) {
  Communicator comm = world();
  if (comm.size() == 1) return;
  std::vector<int> data(10000, comm.rank());
  data.insert(data.begin(), (comm.rank() + 1) % comm.size());
  data.reserve(20000);
  const ExchangeResult moved = comm.redistribute(data, [](int to) { return to; }, {.memory = 60000});
  EXPECT_LE(moved.peak_bytes, 60000);
  EXPECT_GT(moved.peak_bytes, comm.rank() == comm.size() - 1 ? 0 : 50000);
}

TEST(Redistribute, SaysHowMuchToReserve) {
  Communicator comm = world();
  if (comm.size() == 1) return;
  std::vector<double> data(30000, comm.rank());
  data.shrink_to_fit();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), 0);
  counts[0] = 30000;
  const std::int64_t all = 30000LL * comm.size();
  expect_refused(comm,
                 "rank 0 has no room for what it receives, and too little memory to make it: reserve " +
                     std::to_string(all) + " elements",
                 [&] { comm.redistribute(data, counts); });
  EXPECT_EQ(std::count(data.begin(), data.end(), comm.rank()), 30000);
  if (comm.rank() == 0) data.reserve(static_cast<std::size_t>(all));
  comm.redistribute(data, counts);
  ASSERT_EQ(std::ssize(data), comm.rank() == 0 ? all : 0);
  for (std::int64_t i = 0; i < std::ssize(data); ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], i / 30000);
  expect_refused(comm, "has vectors of 6 elements, and counts that don't add up to that", [&] {
    std::vector<int> some(comm.rank() == 1 ? 6 : 5, 1);
    std::vector<std::int64_t> five(static_cast<std::size_t>(comm.size()), 0);
    five[0] = 5;
    comm.redistribute(some, five);
  });
  expect_refused(comm, "has vectors of different lengths, 3 elements and more", [&] {
    std::vector<int> some(3, 0);
    std::vector<double> others(comm.rank() == 1 ? 4 : 3, 0);
    comm.redistribute(std::tie(some, others), [](int, double) { return 0; });
  });
  // The one who is wrong is named, not rank 0, who would have to make room.
  expect_refused(comm, "rank 1 has vectors of 5 elements", [&] {
    std::vector<int> some(5, 1);
    std::vector<std::int64_t> many(static_cast<std::size_t>(comm.size()), 0);
    many[0] = comm.rank() == 1 ? 5000000 : 5;
    comm.redistribute(some, many);
  });
  expect_refused(comm, "rank 1 has a count or displacement of -3", [&] {
    std::vector<int> some(5, 1);
    std::vector<std::int64_t> odd(static_cast<std::size_t>(comm.size()), 0);
    odd[0] = comm.rank() == 1 ? -3 : 5;
    comm.redistribute(some, odd);
  });
  expect_refused(comm, "ranks 0 and 1 have elements of different sizes, or different numbers of arrays", [&] {
    std::vector<int> some(2, 1);
    std::vector<double> others(2, 1);
    std::vector<std::int64_t> two(static_cast<std::size_t>(comm.size()), 0);
    two[0] = 2;
    some.reserve(100);
    others.reserve(100);
    if (comm.rank() == 1) {
      comm.redistribute(others, two);
    } else {
      comm.redistribute(some, two);
    }
  });
  expect_refused(comm, "sends other counts than it receives", [&] {
    std::vector<int> some(100, 1);
    std::vector<std::int64_t> ones(static_cast<std::size_t>(comm.size()), 1);
    std::vector<std::int64_t> others = ones;
    if (comm.rank() == 0) others[1] = 2;
    comm.alltoallv(some, ones, some, others);
  });
  expect_refused(comm, "has an element for rank -3, which there is not", [&] {
    std::vector<int> some(3, 1);
    comm.redistribute(some, [&](int) { return comm.rank() == 1 ? -3 : 0; });
  });
}

}  // namespace

}  // namespace quadrille::test
