#include "placement/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace quadrille::placement {
namespace {

constexpr std::size_t at(Rank rank) {
  return static_cast<std::size_t>(rank);
}

cost::Model slow_network() {
  cost::Model model;
  model.node = {.latency = 2e-7, .overhead = 3e-7, .work = 1e-10};
  model.network = {.latency = 2e-5, .overhead = 2e-6, .work = 2e-10, .wire = 8e-9};
  model.rack = {.latency = 4e-5, .overhead = 2e-6, .work = 2e-10, .wire = 8e-8};
  return model;
}

std::vector<Sent> torus(Rank rows, Rank columns, double bytes) {
  std::vector<Sent> sent;
  for (Rank row = 0; row < rows; ++row) {
    for (Rank column = 0; column < columns; ++column) {
      const Rank rank = row * columns + column;
      for (const Rank step : {1, columns - 1})
        sent.push_back({rank, row * columns + (column + step) % columns, 1, bytes});
      for (const Rank step : {1, rows - 1}) sent.push_back({rank, (row + step) % rows * columns + column, 1, bytes});
    }
  }
  return sent;
}

// What leaves a node, or a rack.
template <typename Same>
double bytes_between(const std::vector<Sent>& sent, const std::vector<Place>& places, const std::vector<Rank>& number,
                     const Same& same) {
  std::vector<Place> of_rank(places.size());
  for (std::size_t process = 0; process < places.size(); ++process) of_rank[at(number[process])] = places[process];
  double bytes = 0;
  for (const Sent& one : sent) {
    if (!same(of_rank[at(one.from)], of_rank[at(one.to)])) bytes += one.bytes;
  }
  return bytes;
}

double bytes_between_nodes(const std::vector<Sent>& sent, const std::vector<Place>& places,
                           const std::vector<Rank>& number) {
  return bytes_between(sent, places, number, [](const Place& a, const Place& b) { return a == b; });
}

std::vector<Rank> as_it_is(std::size_t ranks) {
  std::vector<Rank> number(ranks);
  std::iota(number.begin(), number.end(), 0);
  return number;
}

TEST(Reordering, BringsNeighboursOfAShuffledTorusTogether) {
  std::mt19937 random(3);
  const std::vector<Sent> sent = torus(8, 8, 65536);
  std::vector<Place> places;
  for (std::uint64_t node = 0; node < 16; ++node) places.insert(places.end(), 4, {1000 - 7 * node, 0});
  std::shuffle(places.begin(), places.end(), random);
  const Reordering found = reordering(sent, places, slow_network());
  EXPECT_EQ(std::set<Rank>(found.number.begin(), found.number.end()).size(), 64U);
  EXPECT_GT(found.gain, 0.3);
  // Squares of four ranks, which have half of their neighbours inside, send 128 messages.
  EXPECT_LE(bytes_between_nodes(sent, places, found.number), 140 * 65536);
  EXPECT_GT(bytes_between_nodes(sent, places, as_it_is(64)), 200 * 65536);
  EXPECT_EQ(found.number, reordering(sent, places, slow_network()).number);
}

TEST(Reordering, KeepsRanksThatAreWellPlaced) {
  const std::vector<Place> places = {{5, 0}, {5, 0}, {3, 0}, {3, 0}};
  const std::vector<Sent> sent = {{0, 1, 1, 1e6}, {1, 0, 1, 1e6}, {2, 3, 1, 1e6}, {3, 2, 1, 1e6}};
  const Reordering found = reordering(sent, places, slow_network());
  EXPECT_EQ(found.number, as_it_is(4));
  EXPECT_EQ(found.gain, 0);
}

TEST(Reordering, KeepsRanksOfOneNodeAndOfOneRank) {
  const std::vector<Place> places(4, {7, 0});
  EXPECT_EQ(reordering(torus(2, 2, 1e6), places, slow_network()).number, as_it_is(4));
  EXPECT_EQ(reordering({}, {places.data(), 1}, slow_network()).number, as_it_is(1));
}

TEST(Reordering, KeepsRanksThatSendNothing) {
  const std::vector<Place> places = {{1, 0}, {2, 0}, {1, 0}, {2, 0}};
  EXPECT_EQ(reordering({}, places, slow_network()).number, as_it_is(4));
}

// Nodes may have different numbers of processes, as where a job has been given what was free.
TEST(Reordering, FillsUnevenNodes) {
  const std::vector<Place> places = {{1, 0}, {2, 0}, {2, 0}, {1, 0}, {2, 0}};
  const std::vector<Sent> sent = {{0, 1, 1, 1e6}, {1, 0, 1, 1e6}, {2, 3, 1, 1e6}, {3, 4, 1, 1e6}, {4, 2, 1, 1e6}};
  const Reordering found = reordering(sent, places, slow_network());
  EXPECT_EQ(bytes_between_nodes(sent, places, found.number), 0);
  EXPECT_GT(found.gain, 0.5);
}

TEST(Reordering, KeepsMessagesWithinRacks) {
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < 16; ++i) places.push_back({i / 2 + 1, i / 2 % 2 + 1});  // racks in turn
  std::vector<Sent> sent;
  for (Rank rank = 0; rank < 16; ++rank) {
    for (Rank step = 1; step < 8; ++step) sent.push_back({rank, rank / 8 * 8 + (rank + step) % 8, 1, 1e5});
  }
  const auto same_rack = [](const Place& a, const Place& b) { return a.rack == b.rack; };
  EXPECT_GT(bytes_between(sent, places, as_it_is(16), same_rack), 0);
  EXPECT_EQ(bytes_between(sent, places, reordering(sent, places, slow_network()).number, same_rack), 0);
}

}  // namespace
}  // namespace quadrille::placement
