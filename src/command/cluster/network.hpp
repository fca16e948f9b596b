#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "cluster/options.hpp"

namespace quadrille::cluster {

// Batch input for ip and tc, one command per line. A node's end of its link is called eth0, the switch's end
// switch_end(node).

constexpr std::string_view subnet = "10.77.0.0/16";

std::string address_of(int node);
std::string switch_end(int node);

// In the switch's namespace: bridges, and a veth pair per node, whose other end goes to the namespace of that process.
std::string switch_links(const Options& options, const std::vector<pid_t>& holders);
std::string switch_shapes(const Options& options);

// In a node's namespace.
std::string node_links(const Options& options, int node);
std::string node_shapes(const Options& options, int node);

// For /etc/hosts.
std::string hosts_text(int nodes);

// Runs "ip" or "tc" on the lines. Throws std::runtime_error with the line that failed and a remedy.
void configure(const std::string& program, const std::string& lines);

// In the namespace of this process: queries and sets whether an interface is up.
bool link_is_up(const std::string& interface);
void set_link(const std::string& interface, bool up);

// Configures TCP in this network namespace, independently of the host. Disables IPv6, whose neighbour discovery would
// disturb measurements.
void set_up_stack();

}  // namespace quadrille::cluster
