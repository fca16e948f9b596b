#include "engine/kernels.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace quadrille::engine {
namespace {

// Any number, and among them those at the edges.
template <class Type>
std::vector<Type> any_values(std::size_t count, std::uint64_t seed) {
  using Limits = std::numeric_limits<Type>;
  std::vector<Type> edges = {Limits::min(), Limits::max(), Limits::lowest(), Type{0}, Type{1}};
  if constexpr (std::is_floating_point_v<Type>) {
    edges.insert(edges.end(), {Limits::infinity(), -Limits::infinity(), Limits::denorm_min(), -Type{0}});
  } else {
    edges.push_back(static_cast<Type>(-1));
  }
  std::mt19937_64 random(seed);
  std::vector<Type> values(count);
  for (Type& value : values) {
    if (random() % 4 == 0) {
      value = edges[random() % edges.size()];
    } else if constexpr (std::is_floating_point_v<Type>) {
      value = static_cast<Type>(std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 60)));
    } else {
      value = static_cast<Type>(random());
    }
  }
  return values;
}

// Bit for bit, but for which NaN it is.
template <class Type>
bool same(Type a, Type b) {
  if constexpr (std::is_floating_point_v<Type>) {
    if (std::isnan(a) && std::isnan(b)) return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

enum class Target { apart, left, right };

// At addresses that no alignment fits.
template <class Type>
std::vector<Type> by_kernel(CombineFunction kernel, const std::vector<Type>& left, const std::vector<Type>& right,
                            Target target) {
  const std::size_t bytes = left.size() * sizeof(Type);
  std::vector<unsigned char> memory[3];
  for (auto& one : memory) one.resize(bytes + 1);
  std::memcpy(memory[0].data() + 1, left.data(), bytes);
  std::memcpy(memory[1].data() + 1, right.data(), bytes);
  auto* const out = memory[target == Target::apart ? 2 : target == Target::left ? 0 : 1].data() + 1;
  kernel(memory[0].data() + 1, memory[1].data() + 1, out, static_cast<std::int64_t>(left.size()));
  std::vector<Type> result(left.size());
  std::memcpy(result.data(), out, bytes);
  return result;
}

template <class Type>
void expect_as_mpi(MPI_Datatype type, std::initializer_list<MPI_Op> operations) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    const std::vector<Type> left = any_values<Type>(count, 1);
    const std::vector<Type> right = any_values<Type>(count, 2);
    for (const MPI_Op op : operations) {
      const CombineFunction kernel = kernel_of(op, type);
      ASSERT_NE(kernel, nullptr);
      std::vector<Type> expected = right;
      ASSERT_EQ(MPI_Reduce_local(left.data(), expected.data(), static_cast<int>(count), type, op), MPI_SUCCESS);
      for (const Target target : {Target::apart, Target::left, Target::right}) {
        const std::vector<Type> found = by_kernel(kernel, left, right, target);
        for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(same(found[i], expected[i])) << i << " of " << count;
      }
    }
  }
}

TEST(Kernels, GiveWhatMpiGivesForIntegersThatWrapAround) {
  const auto operations = {MPI_SUM, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR};
  expect_as_mpi<std::int32_t>(MPI_INT, operations);
  expect_as_mpi<std::uint32_t>(MPI_UNSIGNED, operations);
  expect_as_mpi<std::int64_t>(MPI_INT64_T, operations);
  expect_as_mpi<std::uint64_t>(MPI_UINT64_T, operations);
  expect_as_mpi<std::int32_t>(MPI_INT, {MPI_MIN, MPI_MAX});
  expect_as_mpi<std::int64_t>(MPI_INT64_T, {MPI_MIN, MPI_MAX});
}

TEST(Kernels, GiveWhatMpiGivesForFloatingPoint) {
  expect_as_mpi<double>(MPI_DOUBLE, {MPI_SUM, MPI_PROD});
  expect_as_mpi<float>(MPI_FLOAT, {MPI_SUM, MPI_PROD});
}

TEST(Kernels, LeaveToMpiWhatMpisDoDifferently) {
  EXPECT_EQ(kernel_of(MPI_MIN, MPI_DOUBLE), nullptr);
  EXPECT_EQ(kernel_of(MPI_MAX, MPI_FLOAT), nullptr);
  EXPECT_EQ(kernel_of(MPI_MIN, MPI_UNSIGNED), nullptr);
  EXPECT_EQ(kernel_of(MPI_MAX, MPI_UINT64_T), nullptr);
  EXPECT_EQ(kernel_of(MPI_LAND, MPI_INT), nullptr);
  EXPECT_EQ(kernel_of(MPI_SUM, MPI_DOUBLE_INT), nullptr);
  EXPECT_EQ(kernel_of(MPI_MINLOC, MPI_2INT), nullptr);
}

}  // namespace
}  // namespace quadrille::engine
