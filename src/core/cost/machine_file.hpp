#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "cost/model.hpp"
#include "cost/pairs.hpp"

namespace quadrille::cost {

// A model, and where its numbers are from: a file that people can read and edit.
//
//   {
//     "format": "quadrille machine 1",
//     "from": "quadrille probe, 64 ranks on 16 nodes, 2026-11-17T12:00:00Z",
//     "node": {"latency_us": 0.2, "overhead_us": 0.12, "work_ns_per_byte": 0.35, "eager_bytes": 4096, ...},
//     "network": {..., "wire_ns_per_byte": 0.8},
//     ...
//     "intervals": {"node.latency_us": [0.19, 0.22]},
//     "pairs": {"nodes": [{"name": "node0", "sends_mb_per_s": 1200, ...}], ...}
//   }
struct Machine {
  Model model;
  std::string from;                                             // in words
  std::map<std::string, std::array<double, 2>> intervals = {};  // of numbers that were measured, by their names
  Pairs pairs = {};                                             // between nodes, where they were measured
};

// From one node to another, by name: as the pairs have it, or, of other nodes, as the model has all of them.
Between between(const Machine& machine, std::string_view from, std::string_view to);

std::string to_json(const Machine& machine);
// Numbers that are missing keep those of `otherwise`. Throws std::invalid_argument that begins with the file's name.
Machine parse_machine(std::string_view text, const std::string& file, const Model& otherwise);
Machine read_machine(const std::string& file, const Model& otherwise);

// The name of the file for such machines in a user's cache: the host's name with its numbers left out, the MPI with its
// version, the network, and the cores of a node, as in "node_Open-MPI-v4.1.4_ethernet-10000_2-cores.json".
std::string file_name(std::string_view host, std::string_view mpi, std::string_view network, std::int32_t cores);
// The same of all MPIs, as in "node_ethernet-10000_2-cores".
std::string kind_of_machine(std::string_view host, std::string_view network, std::int32_t cores);
// The folder of such files: $XDG_CACHE_HOME/quadrille/machines, or in ~/.cache; empty if there is neither.
std::string cache_folder();

// A number of a model by its name in the file, in the file's unit. Throws std::out_of_range for other names.
double number(const Model& model, std::string_view name);
void set_number(Model& model, std::string_view name, double value);

}  // namespace quadrille::cost
