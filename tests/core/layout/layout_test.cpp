#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quadrille {
namespace {

using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Integers = std::vector<std::int64_t>;
using Fields = std::vector<Layout::Field>;
using Bytes = std::vector<unsigned char>;

Runs runs_of(const Layout& layout, std::int64_t count, std::int64_t begin, std::int64_t end) {
  Runs runs;
  layout.for_each_run(count, begin, end,
                      [&](std::int64_t offset, std::int64_t length) { runs.emplace_back(offset, length); });
  return runs;
}

Runs runs_of(const Layout& layout, std::int64_t count = 1) {
  return runs_of(layout, count, 0, count * layout.size());
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

// The type of the standard's chapter on datatypes: {(double, 0), (char, 8)} with extent 16.
Layout double_and_char() {
  return Layout::structure(Fields{{0, 1, Layout::basic(8)}, {8, 1, Layout::basic(1)}}).resized(0, 16);
}

TEST(Layout, ABasicElementIsOneRun) {
  const Layout layout = Layout::basic(8);
  EXPECT_EQ(layout.size(), 8);
  EXPECT_EQ(layout.extent(), 8);
  EXPECT_EQ(layout.lower_bound(), 0);
  EXPECT_EQ(layout.true_lower_bound(), 0);
  EXPECT_EQ(layout.true_extent(), 8);
  EXPECT_EQ(layout.basic_size(), 8);
  EXPECT_TRUE(layout.is_contiguous());
  EXPECT_EQ(runs_of(layout, 5), (Runs{{0, 40}}));
}

TEST(Layout, TheStandardsVectorExampleHolds) {
  const Layout layout = Layout::strided(2, 3, 4 * 16, double_and_char());
  EXPECT_EQ(runs_of(layout), (Runs{{0, 9}, {16, 9}, {32, 9}, {64, 9}, {80, 9}, {96, 9}}));
  EXPECT_EQ(layout.extent(), 112);
  EXPECT_EQ(layout.true_extent(), 105);
  EXPECT_EQ(layout.basic_size(), 0);
}

TEST(Layout, TheStandardsVectorExampleWithANegativeStrideHolds) {
  const Layout layout = Layout::strided(3, 1, -2 * 16, double_and_char());
  EXPECT_EQ(runs_of(layout), (Runs{{0, 9}, {-32, 9}, {-64, 9}}));
  EXPECT_EQ(layout.lower_bound(), -64);
  EXPECT_EQ(layout.extent(), 80);
}

TEST(Layout, TheStandardsIndexedExampleHolds) {
  const Layout layout = Layout::indexed(Integers{3, 1}, Integers{64, 0}, double_and_char());
  EXPECT_EQ(runs_of(layout), (Runs{{64, 9}, {80, 9}, {96, 9}, {0, 9}}));
  EXPECT_EQ(layout.extent(), 112);
}

TEST(Layout, TheStandardsStructExampleHolds) {
  const Layout layout =
      Layout::structure(Fields{{0, 2, Layout::basic(4)}, {16, 1, double_and_char()}, {26, 3, Layout::basic(1)}});
  EXPECT_EQ(runs_of(layout), (Runs{{0, 8}, {16, 9}, {26, 3}}));
  EXPECT_EQ(layout.size(), 20);
  EXPECT_EQ(layout.extent(), 32) << "the resized field extends beyond the last character";
  EXPECT_EQ(layout.true_extent(), 29);
}

TEST(Layout, TheStandardsResizedExampleHolds) {
  const Layout integer = Layout::basic(4).resized(-3, 9);
  const Layout two = Layout::contiguous(2, integer);
  EXPECT_EQ(integer.lower_bound(), -3);
  EXPECT_EQ(two.lower_bound(), -3);
  EXPECT_EQ(two.extent(), 18);
  EXPECT_EQ(two.true_lower_bound(), 0);
  EXPECT_EQ(two.true_extent(), 13);
  EXPECT_EQ(runs_of(two, 2), (Runs{{0, 4}, {9, 4}, {18, 4}, {27, 4}}));
  EXPECT_EQ(two.span(2), std::pair(std::int64_t{0}, std::int64_t{31}));
}

TEST(Layout, ASubarrayOfThreeDimensionsIsLoopsInsideLoops) {
  const Layout row = Layout::contiguous(4, Layout::basic(4));
  const Layout plane = Layout::strided(3, 1, 6 * 4, row);
  const Layout box = Layout::strided(2, 1, 5 * 6 * 4, plane);
  const std::int64_t corner = ((1 * 5 + 1) * 6 + 2) * 4;
  const Layout layout = Layout::structure(Fields{{corner, 1, box}}).resized(0, 4 * 5 * 6 * 4);
  Runs expected;
  for (std::int64_t x = 1; x < 3; ++x) {
    for (std::int64_t y = 1; y < 4; ++y) expected.emplace_back(((x * 5 + y) * 6 + 2) * 4, 16);
  }
  EXPECT_EQ(runs_of(layout), expected);
  EXPECT_EQ(layout.extent(), 480);
  EXPECT_EQ(layout.true_lower_bound(), corner);
  EXPECT_EQ(layout.basic_size(), 4);
}

TEST(Layout, AdjacentBlocksAreOneRun) {
  const Layout integer = Layout::basic(4);
  EXPECT_EQ(runs_of(Layout::contiguous(3, Layout::contiguous(5, integer)), 7), (Runs{{0, 420}}));
  EXPECT_EQ(runs_of(Layout::strided(10, 2, 8, integer), 2), (Runs{{0, 160}}));
  EXPECT_EQ(runs_of(Layout::indexed(Integers{1, 0, 3}, Integers{8, 99, 12}, integer)), (Runs{{8, 16}}));
  const Layout structure = Layout::structure(Fields{{0, 1, Layout::basic(8)}, {8, 2, integer}});
  EXPECT_EQ(runs_of(structure, 3), (Runs{{0, 48}}));
  EXPECT_TRUE(structure.is_contiguous());
  EXPECT_EQ(structure.basic_size(), 0);
}

TEST(Layout, AdjacentBlocksInTheWrongOrderAreNotMerged) {
  EXPECT_EQ(runs_of(Layout::strided(3, 1, -4, Layout::basic(4))), (Runs{{0, 4}, {-4, 4}, {-8, 4}}));
  EXPECT_EQ(runs_of(Layout::indexed(Integers{1, 1}, Integers{4, 0}, Layout::basic(4))), (Runs{{4, 4}, {0, 4}}));
}

TEST(Layout, AnInnermostLoopStaysALoop) {
  std::vector<Integers> visited;
  const Layout layout = Layout::strided(1000, 2, 32, Layout::basic(8));
  layout.for_each_batch(1, 4, 16'000, [&](std::span<const StridedRuns> batch) {
    for (const auto& [offset, length, stride, count] : batch) visited.push_back({offset, length, stride, count});
    return true;
  });
  EXPECT_EQ(visited, (std::vector<Integers>{{4, 12, 12, 1}, {32, 16, 32, 999}}));
}

TEST(Layout, AVisitorStopsTheWalk) {
  int visits = 0;
  const Layout layout = Layout::indexed(Integers{1, 1, 1}, Integers{0, 8, 16}, Layout::basic(4));
  layout.for_each_batch(1'000'000'000, 0, 12'000'000'000, [&](std::span<const StridedRuns>) { return ++visits < 5; });
  EXPECT_EQ(visits, 5);
}

TEST(Layout, ARangeMayCutBasicElements) {
  const Layout layout = Layout::strided(4, 1, 10, Layout::basic(8));
  EXPECT_EQ(runs_of(layout, 1, 3, 5), (Runs{{3, 2}}));
  EXPECT_EQ(runs_of(layout, 1, 3, 21), (Runs{{3, 5}, {10, 8}, {20, 5}}));
  EXPECT_EQ(runs_of(layout, 2, 31, 33), (Runs{{37, 1}, {38, 1}}));
}

TEST(Layout, EmptyTypesAreLegalAndHaveNoBounds) {
  const Layout empty = Layout::contiguous(0, Layout::basic(4));
  for (const Layout& layout :
       {empty, Layout::basic(0), Layout::strided(7, 0, 100, Layout::basic(4)), Layout::structure({}),
        Layout::indexed({}, {}, Layout::basic(4)), Layout::strided(7, 1, 100, Layout::basic(0))}) {
    EXPECT_EQ(layout.size(), 0);
    EXPECT_EQ(layout.extent(), 0);
    EXPECT_EQ(layout.lower_bound(), 0);
    EXPECT_TRUE(layout.is_contiguous());
    EXPECT_EQ(runs_of(layout, 1000), Runs{});
    pack(layout, nullptr, 3, 0, 0, nullptr);
    unpack(layout, nullptr, 3, 0, 0, nullptr);
    transfer({nullptr, 3, &layout}, 0, {nullptr, 0, &layout}, 0, 0);
  }
  const Layout beside = Layout::structure(Fields{{-50, 3, empty}, {8, 1, Layout::basic(4)}, {90, 0, Layout::basic(4)}});
  EXPECT_EQ(beside.lower_bound(), 8);
  EXPECT_EQ(beside.extent(), 4);
  EXPECT_EQ(Layout::contiguous(2, empty.resized(-8, 20)).extent(), 40) << "a resized empty type has bounds";
}

TEST(Layout, InvalidArgumentsAreNamed) {
  const Layout integer = Layout::basic(4);
  EXPECT_EQ(error_of([] { Layout::basic(-1); }), "layout: negative size of a basic element: -1");
  EXPECT_EQ(error_of([&] { Layout::contiguous(-2, integer); }), "layout: negative count: -2");
  EXPECT_EQ(error_of([&] { Layout::strided(-3, 1, 8, integer); }), "layout: negative count: -3");
  EXPECT_EQ(error_of([&] { Layout::structure(Fields{{0, -4, integer}}); }), "layout: negative count of a field: -4");
  EXPECT_EQ(error_of([&] { Layout::indexed(Integers{1}, Integers{}, integer); }),
            "layout: 1 block lengths but 0 displacements");
  EXPECT_EQ(error_of([&] { runs_of(integer, 2, 5, 3); }), "layout: [5, 3) is no range of the 2 * 4 packed bytes");
  EXPECT_EQ(error_of([&] { runs_of(integer, 2, 0, 9); }), "layout: [0, 9) is no range of the 2 * 4 packed bytes");
  EXPECT_EQ(error_of([&] { runs_of(integer, 2, -1, 3); }), "layout: [-1, 3) is no range of the 2 * 4 packed bytes");
  EXPECT_EQ(error_of([&] { runs_of(integer, -1, 0, 0); }), "layout: negative count: -1");
}

TEST(Layout, AFailedTransferMovesNothing) {
  const Layout byte = Layout::basic(1);
  const Bytes source(8, 1);
  Bytes target(4, 0);
  EXPECT_THROW(transfer({source.data(), 8, &byte}, 0, {target.data(), 4, &byte}, 0, 8), std::invalid_argument);
  EXPECT_THROW(transfer({source.data(), 8, &byte}, 3, {target.data(), 4, &byte}, 3, -2), std::invalid_argument);
  EXPECT_EQ(target, Bytes(4, 0));
}

TEST(Layout, DisplacementsMayBeAddressesWithANullBase) {
  const int a = 11;
  const int b = 22;
  const auto address = [](const int& variable) {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&variable));
  };
  const Layout layout = Layout::indexed(Integers{1, 1}, Integers{address(b), address(a)}, Layout::basic(4));
  int packed[2] = {};
  pack(layout, nullptr, 1, 0, 8, packed);
  EXPECT_EQ(packed[0], 22);
  EXPECT_EQ(packed[1], 11);
}

TEST(Layout, ABillionBlocksAreBuiltAndSearchedWithinASecond) {
  constexpr std::int64_t billion = 1'000'000'000;
  const auto start = std::chrono::steady_clock::now();
  const Layout inner = Layout::strided(billion, 1, 16, Layout::basic(8));
  const Layout layout = Layout::structure(Fields{{0, 1, Layout::basic(1)}, {64, 4, inner}});
  EXPECT_EQ(layout.size(), 32 * billion + 1);
  for (std::int64_t i = billion - 1000; i < billion; ++i) {
    const std::int64_t begin = 1 + 8 * billion + 8 * i + 3;
    ASSERT_EQ(runs_of(layout, 1, begin, begin + 4), (Runs{{64 + inner.extent() + 16 * i + 3, 4}}));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(Layout, OffsetsGoBeyondThirtyTwoBits) {
  const Layout integer = Layout::basic(4);
  constexpr std::int64_t five_billion = 5'000'000'000;
  EXPECT_EQ(runs_of(integer, five_billion), (Runs{{0, 4 * five_billion}}));
  const Layout far =
      Layout::indexed(Integers{1, five_billion}, Integers{-(std::int64_t{1} << 45), std::int64_t{1} << 40}, integer);
  EXPECT_EQ(far.lower_bound(), -(std::int64_t{1} << 45));
  EXPECT_EQ(runs_of(far, 1, 3, 4 * five_billion),
            (Runs{{3 - (std::int64_t{1} << 45), 1}, {std::int64_t{1} << 40, 4 * five_billion - 4}}));
}

// The oracle: a type map as defined by the standard, with every basic element listed.
struct TypeMap {
  Runs basics;
  std::optional<std::pair<std::int64_t, std::int64_t>> bounds;

  std::int64_t lower() const { return bounds ? bounds->first : 0; }
  std::int64_t extent() const { return bounds ? bounds->second - bounds->first : 0; }

  void place(const TypeMap& element, std::int64_t count, std::int64_t displacement) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t shift = displacement + i * element.extent();
      for (const auto& [offset, length] : element.basics) basics.emplace_back(offset + shift, length);
      if (!element.bounds) continue;
      const std::pair placed(element.bounds->first + shift, element.bounds->second + shift);
      bounds =
          !bounds ? placed : std::pair(std::min(bounds->first, placed.first), std::max(bounds->second, placed.second));
    }
  }

  // The offset of each packed byte of `count` elements.
  Integers bytes(std::int64_t count) const {
    Integers offsets;
    for (std::int64_t i = 0; i < count; ++i) {
      for (const auto& [offset, length] : basics) {
        for (std::int64_t byte = 0; byte < length; ++byte) offsets.push_back(i * extent() + offset + byte);
      }
    }
    return offsets;
  }
};

struct Sample {
  Layout layout;
  TypeMap map;
};

class Fuzz {
 public:
  explicit Fuzz(unsigned seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  Sample sample(int depth) {
    if (depth == 0) return basic();
    switch (between(0, 10)) {
      case 0:
        return basic();
      case 1:
      case 2:
        return contiguous(sample(depth - 1));
      case 3:
      case 4:
        return strided(sample(depth - 1));
      case 5:
      case 6:
        return indexed(sample(depth - 1));
      case 7:
      case 8:
        return structure(depth);
      default:
        return resized(sample(depth - 1));
    }
  }

 private:
  // Keeps type maps small for any depth of nesting.
  std::int64_t count_of(const TypeMap& element) { return count_up_to(element.basics.size() > 24 ? 1 : 4); }

  // Zero must be tested, but not too often.
  std::int64_t count_up_to(std::int64_t most) { return between(0, 24) ? between(1, most) : 0; }

  // Half of all blocks are adjacent to the previous one, to test merging.
  std::int64_t displacement(std::int64_t continuation) { return between(0, 1) ? continuation : between(-60, 60); }

  Sample basic() {
    const std::int64_t bytes =
        between(0, 24) ? Integers{1, 2, 3, 4, 8, 16, 24}[static_cast<std::size_t>(between(0, 6))] : 0;
    Sample result{Layout::basic(bytes), {}};
    if (bytes > 0) result.map = {{{0, bytes}}, std::pair(std::int64_t{0}, bytes)};
    return result;
  }

  Sample contiguous(const Sample& element) {
    const std::int64_t count = count_of(element.map);
    Sample result{Layout::contiguous(count, element.layout), {}};
    result.map.place(element.map, count, 0);
    return result;
  }

  Sample strided(const Sample& element) {
    const std::int64_t count = count_of(element.map);
    const std::int64_t length = count > 1 ? count_up_to(3) : count_of(element.map);
    const std::int64_t stride = displacement(length * element.map.extent());
    Sample result{Layout::strided(count, length, stride, element.layout), {}};
    for (std::int64_t i = 0; i < count; ++i) result.map.place(element.map, length, i * stride);
    return result;
  }

  Sample indexed(const Sample& element) {
    Integers lengths, displacements;
    TypeMap map;
    std::int64_t end = 0;
    for (std::int64_t blocks = count_of(element.map); blocks > 0; --blocks) {
      lengths.push_back(count_up_to(2));
      displacements.push_back(displacement(end));
      end = displacements.back() + lengths.back() * element.map.extent();
      map.place(element.map, lengths.back(), displacements.back());
    }
    return {Layout::indexed(lengths, displacements, element.layout), map};
  }

  Sample structure(int depth) {
    Fields fields;
    TypeMap map;
    std::int64_t end = 0;
    for (std::int64_t left = count_up_to(3); left > 0; --left) {
      const Sample field = sample(depth - 1);
      const std::int64_t count = count_up_to(2);
      fields.push_back({displacement(end), count, field.layout});
      end = fields.back().displacement + count * field.map.extent();
      map.place(field.map, count, fields.back().displacement);
    }
    return {Layout::structure(fields), map};
  }

  Sample resized(Sample sample) {
    const std::int64_t lower = displacement(sample.map.lower());
    const std::int64_t extent = between(0, 3) ? between(0, 60) : between(-60, 0);
    return {sample.layout.resized(lower, extent), {sample.map.basics, std::pair(lower, lower + extent)}};
  }

  std::mt19937_64 random_;
};

// `count` elements in their own buffer, filled with a pattern; `base` may be outside of it.
struct Memory {
  Memory(const Sample& sample, std::int64_t elements, unsigned char salt)
      : count(elements), offsets(sample.map.bytes(elements)) {
    const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
    first = offsets.empty() ? 0 : *low;
    bytes.resize(offsets.empty() ? 0 : static_cast<std::size_t>(*high - *low + 1));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 + (i >> 8) + salt);
    base = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(bytes.data()) - static_cast<std::uintptr_t>(first));
  }

  std::int64_t packed_size() const { return static_cast<std::int64_t>(offsets.size()); }
  static unsigned char& at(Bytes& buffer, std::int64_t offset) { return buffer[static_cast<std::size_t>(offset)]; }
  std::int64_t place(std::int64_t packed) const { return offsets[static_cast<std::size_t>(packed)] - first; }

  std::int64_t count;
  Integers offsets;
  std::int64_t first = 0;
  Bytes bytes;
  void* base = nullptr;
};

void check_facts(const Sample& sample) {
  const auto& [layout, map] = sample;
  const Integers bytes = map.bytes(1);
  ASSERT_EQ(layout.size(), static_cast<std::int64_t>(bytes.size()));
  ASSERT_EQ(layout.lower_bound(), map.lower());
  ASSERT_EQ(layout.extent(), map.extent());
  const auto [low, high] = std::minmax_element(bytes.begin(), bytes.end());
  ASSERT_EQ(layout.true_lower_bound(), bytes.empty() ? 0 : *low);
  ASSERT_EQ(layout.true_extent(), bytes.empty() ? 0 : *high - *low + 1);
  std::int64_t basic_size = map.basics.empty() ? 0 : map.basics[0].second;
  for (const auto& [offset, length] : map.basics) {
    if (length != map.basics[0].second) basic_size = 0;
  }
  ASSERT_EQ(layout.basic_size(), basic_size);
  const Integers three = map.bytes(3);
  Integers dense(three.size());
  std::iota(dense.begin(), dense.end(), map.lower());
  ASSERT_EQ(layout.is_contiguous(), three == dense);
}

void check_range(const Sample& sample, const Memory& memory, std::int64_t begin, std::int64_t end) {
  const Layout& layout = sample.layout;
  const auto size = static_cast<std::int64_t>(memory.bytes.size());
  ASSERT_EQ(layout.span(memory.count), std::pair(memory.first, memory.first + size));

  Integers visited;
  std::size_t runs = 0;
  layout.for_each_run(memory.count, begin, end, [&](std::int64_t offset, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) visited.push_back(offset + i);
    ++runs;
  });
  ASSERT_EQ(visited, Integers(memory.offsets.begin() + begin, memory.offsets.begin() + end));
  ASSERT_LE(runs, layout.is_contiguous() ? 1 : visited.size());

  Bytes packed(static_cast<std::size_t>(end - begin));
  Bytes expected = packed;
  Bytes before = memory.bytes;
  for (std::int64_t i = begin; i < end; ++i) Memory::at(expected, i - begin) = Memory::at(before, memory.place(i));
  pack(layout, memory.base, memory.count, begin, end, packed.data());
  ASSERT_EQ(packed, expected);

  Memory target = Memory(sample, memory.count, 101);
  Bytes after = target.bytes;
  for (std::int64_t i = begin; i < end; ++i) Memory::at(after, target.place(i)) = Memory::at(packed, i - begin);
  unpack(layout, target.base, target.count, begin, end, packed.data());
  ASSERT_EQ(target.bytes, after);
}

void check_transfer(const Sample& from, Memory& source, const Sample& to, std::int64_t count, Fuzz& fuzz) {
  Memory target(to, count, 202);
  const std::int64_t most = std::min(source.packed_size(), target.packed_size());
  const std::int64_t length = fuzz.between(0, 1) ? most : fuzz.between(0, most);
  const std::int64_t source_begin = fuzz.between(0, source.packed_size() - length);
  const std::int64_t target_begin = fuzz.between(0, target.packed_size() - length);
  Bytes after = target.bytes;
  for (std::int64_t i = 0; i < length; ++i) {
    Memory::at(after, target.place(target_begin + i)) = Memory::at(source.bytes, source.place(source_begin + i));
  }
  transfer({source.base, source.count, &from.layout}, source_begin, {target.base, count, &to.layout}, target_begin,
           length);
  ASSERT_EQ(target.bytes, after);
}

void check_seed(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Fuzz fuzz(seed);
  const Sample sample = fuzz.sample(4);
  const Sample other = fuzz.sample(3);
  Memory memory(sample, fuzz.between(0, 4), 0);
  const std::int64_t begin = fuzz.between(0, memory.packed_size());
  ASSERT_NO_FATAL_FAILURE(check_facts(sample));
  ASSERT_NO_FATAL_FAILURE(check_range(sample, memory, 0, memory.packed_size()));
  ASSERT_NO_FATAL_FAILURE(check_range(sample, memory, begin, fuzz.between(begin, memory.packed_size())));
  ASSERT_NO_FATAL_FAILURE(check_transfer(sample, memory, other, fuzz.between(0, 4), fuzz));
}

TEST(Layout, RandomNestedLayoutsAgreeWithTheirTypeMaps) {
  for (unsigned seed = 0; seed < 30'000 && !HasFailure(); ++seed) check_seed(seed);
}

TEST(Layout, ElementsMoveDownOverOthers) {
  const Layout byte = Layout::basic(1);
  const Integers reversed = {4, 0}, twos = {2, 2};
  const std::array<Layout, 4> layouts = {
      byte.resized(0, 3), Layout::strided(5, 2, 3, byte).resized(-1, 17),
      Layout::indexed(twos, reversed, byte).resized(0, 6),
      Layout::structure(std::array<Layout::Field, 2>{{{-3, 2, byte}, {5, 40, byte}}})};
  for (const Layout& layout : layouts) {
    for (const std::int64_t distance : {1, 2, 50}) {
      constexpr std::int64_t count = 100;
      const auto [first, last] = layout.span(count + distance);
      Bytes memory(static_cast<std::size_t>(last - first));
      std::iota(memory.begin(), memory.end(), static_cast<unsigned char>(0));
      Bytes expected = memory, packed(static_cast<std::size_t>(count * layout.size()));
      unsigned char* const base = memory.data() - first;
      unsigned char* const source = base + distance * layout.extent();
      pack(layout, source, count, 0, count * layout.size(), packed.data());
      unpack(layout, expected.data() - first, count, 0, count * layout.size(), packed.data());
      transfer({source, count, &layout}, 0, {base, count, &layout}, 0, count * layout.size());
      EXPECT_EQ(memory, expected);
    }
  }
}

TEST(Layout, ATransferContinuesAcrossBatches) {
  const Layout byte = Layout::basic(1);
  Integers lengths, displacements;
  for (std::int64_t i = 0; i < 1000; ++i) {
    lengths.push_back(i % 7);
    displacements.push_back(i * 8);
  }
  const Layout source = Layout::indexed(lengths, displacements, byte);
  const Layout target = Layout::strided(source.size(), 1, 3, byte);
  Bytes from(8000), to(static_cast<std::size_t>(target.extent()));
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(0));
  transfer({from.data(), 1, &source}, 0, {to.data(), 1, &target}, 0, source.size());
  Bytes expected(static_cast<std::size_t>(source.size())), result = expected;
  pack(source, from.data(), 1, 0, source.size(), expected.data());
  pack(target, to.data(), 1, 0, target.size(), result.data());
  EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace quadrille
