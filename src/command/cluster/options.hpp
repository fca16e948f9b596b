#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quadrille::cluster {

struct Options {
  std::string name = "quadrille";
  int nodes = 16;
  int slots = 4;                    // ranks a node takes
  std::int64_t rate = 200'000'000;  // of a node's link, in bits a second, each way
  int racks = 0;                    // 0: all nodes on one switch
  std::int64_t uplink = 0;          // of a rack's link to the others, in bits a second, each way; 0: as a node's
  bool skew = false;                // each node has its own monotonic clock
};

// Throws std::invalid_argument if the condition holds: WHY tells the user which option is wrong and what it may be.
void refuse(bool condition, const std::string& why);

// Refuses what no cluster can be.
void check(const Options& options);

// Of a cluster's name, which is also part of a file's.
void check_name(const std::string& name);

// "200mbit" and the like, in bits a second. Throws std::invalid_argument that names the option.
std::int64_t parse_rate(std::string_view option, std::string_view text);

// "200 Mbit/s"
std::string rate_text(std::int64_t rate);

std::string node_name(int node);

// "node3" or "3". Throws std::invalid_argument that says which nodes there are.
int node_of(std::string_view text, int nodes);

// Of a rack's link to the others, in bits a second, each way; 0 where there are no racks.
std::int64_t uplink_of(const Options& options);

// Racks are filled one after another.
int rack_of(const Options& options, int node);

}  // namespace quadrille::cluster
