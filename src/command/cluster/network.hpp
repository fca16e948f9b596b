#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// What to tell ip and tc, a command a line. Nodes' ends are called eth0; the switch's are named by switch_end.

constexpr std::string_view subnet = "10.77.0.0/16";

std::string address_of(int node);
std::string switch_end(int node);

// In the switch's namespace: bridges, and a pair of linked interfaces a node whose other end goes to that process.
std::string switch_links(const Options& options, const std::vector<pid_t>& holders);
std::string switch_shapes(const Options& options);

// In a node's namespace.
std::string node_links(const Options& options, int node);
std::string node_shapes(const Options& options);

// For /etc/hosts.
std::string hosts_text(int nodes);

// Runs "ip" or "tc" on the lines. Throws std::runtime_error with the line that failed, and what would help.
void configure(const std::string& program, const std::string& lines);

// Of the namespace that the process is in: whether an interface is up, and up or down with it.
bool link_is_up(const std::string& interface);
void set_link(const std::string& interface, bool up);

// How this network namespace speaks TCP, whatever the system around it does. No neighbour discovery of IPv6 between the
// measured messages.
void set_up_stack();

}  // namespace quadrille::cluster
