// Every algorithm that reduces gives what MPI's own call gives, for every operation that MPI defines.

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <functional>

#include "against_mpi/choices.hpp"

namespace quadrille::test {

namespace {

// A type of elements: how a small number is written as one, and when two are equal.
struct Kind {
  std::string name;
  MPI_Datatype type;
  std::vector<MPI_Op> ops;
  std::function<void(void* at, int value)> write;
  std::function<bool(const void* a, const void* b)> equal;
};

template <class T>
T read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
Kind number(std::string name, MPI_Datatype type, std::vector<MPI_Op> ops) {
  return {std::move(name), type, std::move(ops),
          [](void* at, int value) {
            const T number = T(static_cast<short>(value));
            std::memcpy(at, &number, sizeof number);
          },
          [](const void* a, const void* b) { return read<T>(a) == read<T>(b); }};
}

template <class T>
struct Pair {
  T value;
  int index;
};

template <class T>
Kind pair(std::string name, MPI_Datatype type) {
  return {std::move(name),
          type,
          {MPI_MAXLOC, MPI_MINLOC},
          [](void* at, int value) {
            const Pair<T> pair{static_cast<T>(value % 3), value};
            std::memcpy(at, &pair, sizeof pair);
          },
          [](const void* a, const void* b) {
            const auto x = read<Pair<T>>(a);
            const auto y = read<Pair<T>>(b);
            return x.value == y.value && x.index == y.index;
          }};
}

std::vector<Kind> kinds() {
  const std::vector<MPI_Op> floating = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD};
  const std::vector<MPI_Op> bits = {MPI_BAND, MPI_BOR, MPI_BXOR};
  const std::vector<MPI_Op> logic = {MPI_LAND, MPI_LOR, MPI_LXOR};
  std::vector<MPI_Op> all = floating;
  all.insert(all.end(), bits.begin(), bits.end());
  all.insert(all.end(), logic.begin(), logic.end());
  return {number<signed char>("signed char", MPI_SIGNED_CHAR, all),
          number<unsigned char>("unsigned char", MPI_UNSIGNED_CHAR, all),
          number<short>("short", MPI_SHORT, all),
          number<unsigned short>("unsigned short", MPI_UNSIGNED_SHORT, all),
          number<int>("int", MPI_INT, all),
          number<unsigned>("unsigned", MPI_UNSIGNED, all),
          number<long>("long", MPI_LONG, all),
          number<unsigned long>("unsigned long", MPI_UNSIGNED_LONG, all),
          number<long long>("long long", MPI_LONG_LONG, all),
          number<unsigned long long>("unsigned long long", MPI_UNSIGNED_LONG_LONG, all),
          number<std::int8_t>("int8", MPI_INT8_T, all),
          number<std::int16_t>("int16", MPI_INT16_T, all),
          number<std::int32_t>("int32", MPI_INT32_T, all),
          number<std::int64_t>("int64", MPI_INT64_T, all),
          number<std::uint8_t>("uint8", MPI_UINT8_T, all),
          number<std::uint16_t>("uint16", MPI_UINT16_T, all),
          number<std::uint32_t>("uint32", MPI_UINT32_T, all),
          number<std::uint64_t>("uint64", MPI_UINT64_T, all),
          number<MPI_Aint>("MPI_Aint", MPI_AINT, all),
          number<MPI_Offset>("MPI_Offset", MPI_OFFSET, all),
          number<MPI_Count>("MPI_Count", MPI_COUNT, all),
          number<float>("float", MPI_FLOAT, floating),
          number<double>("double", MPI_DOUBLE, floating),
          number<long double>("long double", MPI_LONG_DOUBLE, floating),
          number<bool>("bool", MPI_C_BOOL, logic),
          number<unsigned char>("byte", MPI_BYTE, bits),
          number<std::complex<float>>("complex float", MPI_C_FLOAT_COMPLEX, {MPI_SUM, MPI_PROD}),
          number<std::complex<double>>("complex double", MPI_C_DOUBLE_COMPLEX, {MPI_SUM, MPI_PROD}),
          pair<float>("float and int", MPI_FLOAT_INT),
          pair<double>("double and int", MPI_DOUBLE_INT),
          pair<long>("long and int", MPI_LONG_INT),
          pair<int>("two ints", MPI_2INT),
          pair<short>("short and int", MPI_SHORT_INT),
          pair<long double>("long double and int", MPI_LONG_DOUBLE_INT)};
}

// So small that no result overflows, and different on every rank and at every place.
int value_for(MPI_Op op, int rank, std::int64_t i) {
  const auto mixed = static_cast<int>(rank * 3 + i * 7 + i / 5);
  return op == MPI_PROD ? 1 + mixed % 2 : mixed % 5;
}

// x -> a x + b, composed: associative, and its order matters.
struct Affine {
  std::uint32_t a;
  std::uint32_t b;
};
void compose(void* left, void* right, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i) {
    const auto f = read<Affine>(static_cast<char*>(left) + i * extent);
    auto* at = static_cast<char*>(right) + i * extent;
    const auto g = read<Affine>(at);
    const Affine both{f.a * g.a, f.a * g.b + f.b};
    std::memcpy(at, &both, sizeof both);
  }
}
Kind affine(std::string name, MPI_Datatype type, MPI_Op op) {
  return {std::move(name),
          type,
          {op},
          [](void* at, int value) {
            const Affine map{static_cast<std::uint32_t>(2 * value + 3), static_cast<std::uint32_t>(7 * value + 1)};
            std::memcpy(at, &map, sizeof map);
          },
          [](const void* a, const void* b) { return std::memcmp(a, b, sizeof(Affine)) == 0; }};
}

// Elements of the output that mean something on this rank.
std::int64_t results(const Call& call) {
  if (call.collective == Collective::reduce && call.rank != call.root) return 0;
  if (call.collective == Collective::exscan && call.rank == 0) return 0;
  if (call.collective == Collective::reduce_scatter) return call.receives.counts[static_cast<std::size_t>(call.rank)];
  return call.count;
}

std::int64_t operands(const Call& call) {
  if (call.collective == Collective::reduce_scatter_block) return call.count * call.ranks;
  std::int64_t all = 0;
  for (std::int64_t count : call.receives.counts) all += count;
  return call.collective == Collective::reduce_scatter ? all : call.count;
}

class Comparison {
 public:
  Comparison(const Kind& kind, Call call, bool commutative)
      : kind_(kind), call_(std::move(call)), commutative_(commutative) {
    call_.types = {kind.name, kind.type, kind.type};
    MPI_Aint lower = 0;
    MPI_Type_get_extent(kind.type, &lower, &extent_);
    if (call_.collective == Collective::reduce_scatter) {
      std::vector<std::int64_t> counts;
      for (int rank = 0; rank < call_.ranks; ++rank) counts.push_back(rank % 3 == 1 ? 0 : call_.count + rank % 2);
      call_.receives = row_of(std::move(counts));
    }
  }

  void run(const Place& place) const {
    Memory expected = filled();
    by_mpi(call_, expected, place.mpi);
    for (const std::string& choice : choices_for(call_, commutative_)) {
      Memory memory = filled();
      const Memory before = memory;
      by_us(call_, memory, *place.ours, {.algorithm = choice});
      EXPECT_EQ(first_difference(memory, expected), -1) << describe(call_) << " by " << choice;
      EXPECT_TRUE(memory.input_bytes == before.input_bytes) << "the input of " << describe(call_) << " by " << choice;
      if (results(call_) == 0 && !call_.in_place_here()) {
        EXPECT_TRUE(memory.output_bytes == before.output_bytes) << describe(call_) << " by " << choice;
      }
    }
  }

 private:
  Memory filled() const {
    Memory memory(call_);
    for (std::int64_t i = 0; i < operands(call_); ++i) {
      const int value = value_for(call_.op, call_.rank, i);
      kind_.write(static_cast<char*>(memory.input()) + i * extent_, value);
      if (call_.in_place_here()) kind_.write(static_cast<char*>(memory.output()) + i * extent_, value);
    }
    return memory;
  }

  std::int64_t first_difference(Memory& a, Memory& b) const {
    for (std::int64_t i = 0; i < results(call_); ++i) {
      const bool same =
          kind_.equal(static_cast<char*>(a.output()) + i * extent_, static_cast<char*>(b.output()) + i * extent_);
      if (!same) return i;
    }
    return -1;
  }

  const Kind& kind_;
  Call call_;
  bool commutative_;
  MPI_Aint extent_ = 0;
};

class Reductions : public testing::TestWithParam<Collective> {
 protected:
  static void compare(const Kind& kind, MPI_Op op, std::int64_t count, const Place& place, bool commutative) {
    for (bool in_place : {false, true}) {
      for (int root : place.roots(traits(GetParam()).rooted)) {
        Call call{.collective = GetParam(), .rank = place.rank, .ranks = place.ranks, .root = root, .count = count};
        call.op = op;
        call.in_place = in_place;
        Comparison(kind, call, commutative).run(place);
      }
    }
  }
};

TEST_P(Reductions, ByEveryOperationOnEveryTypeGiveWhatMpiGives) {
  const Place place("all");
  for (const Kind& kind : kinds()) {
    for (MPI_Op op : kind.ops) compare(kind, op, 7, place, true);
  }
}

TEST_P(Reductions, OfEveryLengthGiveWhatMpiGives) {
  const Kind sums = number<int>("int", MPI_INT, {MPI_SUM});
  for (const char* ranks : {"all", "halves", "backwards"}) {
    const Place place(ranks);
    for (std::int64_t count : {0, 1, place.ranks - 1, place.ranks + 1, 1000, 20000}) {
      compare(sums, MPI_SUM, count, place, true);
    }
  }
}

TEST_P(Reductions, ThatDoNotCommuteKeepTheOrderOfRanks) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype plain = MPI_DATATYPE_NULL;
  MPI_Datatype shifted = MPI_DATATYPE_NULL;
  MPI_Op_create(compose, 0, &op);
  MPI_Type_contiguous(2, MPI_UINT32_T, &plain);
  MPI_Type_commit(&plain);
  MPI_Type_create_resized(plain, -8, 24, &shifted);
  MPI_Type_commit(&shifted);
  for (const char* ranks : {"all", "halves", "backwards"}) {
    const Place place(ranks);
    for (std::int64_t count : {0, 1, place.ranks + 1, 1000}) {
      compare(affine("affine maps", plain, op), op, count, place, false);
      compare(affine("affine maps with gaps", shifted, op), op, count, place, false);
    }
  }
  MPI_Type_free(&shifted);
  MPI_Type_free(&plain);
  MPI_Op_free(&op);
}

INSTANTIATE_TEST_SUITE_P(By, Reductions,
                         testing::Values(Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                                         Collective::reduce_scatter_block, Collective::scan, Collective::exscan),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace

}  // namespace quadrille::test
