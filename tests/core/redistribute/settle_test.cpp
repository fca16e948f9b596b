#include "redistribute/settle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace quadrille::redistribute {
namespace {

// Memory in several runs, and fragments in arbitrary order, with some free places.
struct Disorder {
  std::int64_t element_bytes;
  std::vector<std::byte> memory;
  std::vector<Run> runs;
  std::vector<Fragment> fragments;
  std::vector<std::byte> expected;  // the packed bytes
};

void fill(std::vector<std::byte>& bytes, std::mt19937_64& random) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
}

// Calls visit(byte) for each byte of an element's data, in packed order.
template <class Visit>
void for_each_byte(const Disorder& disorder, std::int64_t place, Visit&& visit) {
  for (const Run& run : disorder.runs) {
    if (place >= run.place + run.length) continue;
    const Elements element = run.elements.behind(place - run.place, disorder.element_bytes);
    const Layout packed = Layout::basic(disorder.element_bytes);
    const Layout& layout = element.layout ? *element.layout : packed;
    layout.for_each_run(1, 0, layout.size(), [&](std::int64_t offset, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) visit(element.memory + offset + i);
    });
    return;
  }
}

// Fragments of these lengths, in memory order; a negative length is so many free places. Homes are a random
// permutation. Where there is a layout with gaps, some runs have it.
Disorder disorder_of(const std::vector<std::int64_t>& lengths, std::vector<std::size_t> order,
                     std::vector<std::int64_t> run_lengths, std::int64_t element_bytes, std::mt19937_64& random,
                     const Layout* with_gaps = nullptr) {
  Disorder disorder{element_bytes, {}, {}, {}, {}};
  std::int64_t size = 0;
  for (std::int64_t length : lengths) size += std::abs(length);
  const std::int64_t in_runs = std::accumulate(run_lengths.begin(), run_lengths.end(), std::int64_t{0});
  run_lengths.push_back(std::max<std::int64_t>(size - in_runs, 1));
  const std::size_t gap = 7;
  std::size_t bytes = gap;
  const std::int64_t extent = with_gaps ? with_gaps->extent() : element_bytes;
  for (std::int64_t length : run_lengths) bytes += static_cast<std::size_t>(length * extent) + gap;
  disorder.memory.resize(bytes);
  fill(disorder.memory, random);
  std::int64_t place = 0;
  std::byte* memory = disorder.memory.data() + gap;
  for (std::int64_t length : run_lengths) {
    disorder.runs.push_back({place, {memory, random() % 3 == 0 ? nullptr : with_gaps}, length});
    place += length;
    memory += static_cast<std::size_t>(length * extent) + gap;
  }
  place = 0;
  for (std::int64_t length : lengths) {
    if (length > 0) disorder.fragments.push_back({place, length, 0});
    place += std::abs(length);
  }
  std::vector<Fragment> ordered;
  std::int64_t home = 0;
  for (std::size_t which : order) {
    Fragment fragment = disorder.fragments[which];
    fragment.home = home;
    // The elements of some homes may not have arrived yet.
    home += fragment.length + static_cast<std::int64_t>(random() % 2) * 3;
    ordered.push_back(fragment);
    for (std::int64_t i = 0; i < fragment.length; ++i) {
      for_each_byte(disorder, fragment.place + i, [&](const std::byte* byte) { disorder.expected.push_back(*byte); });
    }
  }
  disorder.fragments = ordered;
  return disorder;
}

std::int64_t expect_settled(Disorder& disorder) {
  const std::vector<std::byte> before = disorder.memory;
  const std::int64_t steps = settle(disorder.runs, disorder.element_bytes, disorder.fragments);
  std::vector<std::byte> packed;
  std::vector<bool> inside(disorder.memory.size());
  for (const Run& run : disorder.runs) {
    for (std::int64_t place = run.place; place < run.place + run.length; ++place) {
      for_each_byte(disorder, place, [&](const std::byte* byte) {
        packed.push_back(*byte);
        inside[static_cast<std::size_t>(byte - disorder.memory.data())] = true;
      });
    }
  }
  packed.resize(disorder.expected.size());
  EXPECT_TRUE(packed == disorder.expected);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (inside[i]) continue;
    EXPECT_EQ(disorder.memory[i], before[i]) << "outside, at " << i;
  }
  return steps;
}

TEST(Settle, EveryPermutationWithHolesAndGapsEndsInOrder) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    const std::int64_t sizes[] = {1, 4, 24, 5000};
    const std::int64_t element_bytes = sizes[random() % (seed % 10 == 0 ? 4 : 3)];
    const std::uint64_t longest = element_bytes == 5000 ? 9 : (random() % 4 == 0 ? 3000 : 12);
    std::vector<std::int64_t> lengths;
    std::size_t fragments = 0;
    for (std::uint64_t i = random() % 14; i > 0; --i) {
      const auto length = static_cast<std::int64_t>(1 + random() % longest);
      const bool free = random() % 4 == 0;
      fragments += free ? 0 : 1;
      lengths.push_back(free ? -length : length);
    }
    std::vector<std::size_t> order(fragments);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::int64_t> runs;
    for (std::uint64_t i = random() % 5; i > 0; --i) runs.push_back(static_cast<std::int64_t>(1 + random() % longest));
    const Layout spread = Layout::strided(element_bytes, 1, 2, Layout::basic(1)).resized(0, 2 * element_bytes + 3);
    Disorder disorder = disorder_of(lengths, order, runs, element_bytes, random, seed % 2 == 0 ? &spread : nullptr);
    expect_settled(disorder);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Settle, AShiftByFewElementsIsOneStep) {
  std::mt19937_64 random(1);
  Disorder one = disorder_of({1, 4 << 20}, {1, 0}, {1000, 1 << 20}, 1, random);
  EXPECT_EQ(expect_settled(one), 1);
  // Displaced elements are saved in free places, if there are any.
  Disorder many = disorder_of({5000, 4 << 20, -6000}, {1, 0}, {1000, 1 << 20}, 1, random);
  EXPECT_EQ(expect_settled(many), 1);
  // Without any, each step moves as many elements as the shift.
  Disorder full = disorder_of({5000, 50000}, {1, 0}, {}, 1, random);
  EXPECT_EQ(expect_settled(full), 10);
}

TEST(Settle, NothingTakesNoStep) {
  EXPECT_EQ(settle({}, 8, {}), 0);
}

}  // namespace
}  // namespace quadrille::redistribute
