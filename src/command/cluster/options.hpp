#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace quadrille::cluster {

// Of single nodes or racks that differ from the others, in bit/s, each direction.
using Rates = std::map<int, std::int64_t>;

struct Options {
  std::string name = "quadrille";
  int nodes = 16;
  int slots = 4;                    // ranks per node
  std::int64_t rate = 200'000'000;  // of a node's link, in bit/s, each direction
  int racks = 0;                    // 0: all nodes on one switch
  std::int64_t uplink = 0;          // of a rack's uplink, in bit/s, each direction; 0: as a node's
  Rates node_rates;                 // where they are not `rate`
  Rates rack_uplinks;               // where they are not `uplink`
  bool skew = false;                // each node has its own monotonic clock
  bool slurm = false;               // Slurm's daemons run on the nodes
};

// Throws std::invalid_argument if the condition holds. `why` names the option and its valid values.
void refuse(bool condition, const std::string& why);

// Throws std::invalid_argument for invalid options.
void check(const Options& options);

// A cluster's name is also part of a file name.
void check_name(const std::string& name);

// Parses "200mbit", in bit/s. Throws std::invalid_argument that names the option.
std::int64_t parse_rate(std::string_view option, std::string_view text);

// Sets what --rate or --uplink says: "200mbit" for all, or "node3=50mbit", "rack1=10mbit" for one. Throws
// std::invalid_argument that names the option.
void set_rate(Options& options, std::string_view text);
void set_uplink(Options& options, std::string_view text);

// "200 Mbit/s"
std::string rate_text(std::int64_t rate);

std::string node_name(int node);

// Parses "node3" or "3". Throws std::invalid_argument that lists the nodes.
int node_of(std::string_view text, int nodes);

// In bit/s, each direction: of a node's link, of most racks' uplinks, and of one rack's; 0 without racks.
std::int64_t rate_of(const Options& options, int node);
std::int64_t uplink_of(const Options& options);
std::int64_t uplink_of(const Options& options, int rack);

// Racks hold consecutive nodes.
int rack_of(const Options& options, int node);

}  // namespace quadrille::cluster
