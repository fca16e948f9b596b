#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "settings/settings.hpp"
#include "topology/topology.hpp"

// How long calls would take on a machine that need not be there: by each algorithm, and under the policies of MPIs.
namespace quadrille::forecast {

// Where ranks would run: in blocks on nodes, nodes in blocks on racks. Sites are racks whose links are long.
struct Place {
  Rank per_node = 1;
  std::int32_t rack_nodes = 0;  // nodes of a rack; 0: all are in one
};
Topology topology_of(Rank ranks, const Place& place);

struct Question {
  Collective collective = Collective::barrier;
  Rank ranks = 2;
  std::int64_t bytes = 0;  // of a rank's own data: see Case::bytes
};

struct Options {
  Place place = {};
  // Algorithms whose prices are near the lowest are simulated, message by message, if none of them sends more.
  std::int64_t most_messages = 100'000;
  std::string_view policy = {};  // see knowledge::Library; empty: all
  // Only this algorithm, whether it is offered or not, and no policies. Empty: all that are offered.
  Variant only = {};
};

enum class Method : std::uint8_t { simulation, price };
std::string_view name(Method method);

struct Seconds {
  double seconds = 0;
  Method method = Method::price;
};
struct Estimate {
  Variant variant;
  Seconds time;
};
// What a library would run the call by. Without a time where no algorithm of ours sends the same messages.
struct PolicyEstimate {
  std::string policy;
  std::string choice;
  std::optional<Seconds> time;
};
struct Point {
  Question asked;
  std::int32_t nodes = 1;
  std::int32_t racks = 1;
  std::vector<Estimate> algorithms;  // each with its best segment, the quickest first
  std::vector<PolicyEstimate> policies;
};

// The name of our own policy.
inline constexpr std::string_view our_policy = "Quadrille";

// By the settings' model. Throws std::invalid_argument if nothing can run the call.
Point estimate(const Question& asked, const Settings& settings, const Options& options);
// Ranks where a topology says, which counts, not the options' place. Of the case nodes are left out.
Point estimate(const Topology& topology, const Case& asked, const Settings& settings, const Options& options);
// All of them, in their order; on so many threads.
std::vector<Point> estimate(std::span<const Question> asked, const Settings& settings, const Options& options,
                            int threads);

}  // namespace quadrille::forecast
