#include "cluster/machine.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <system_error>

#include "cost/built_in.hpp"
#include "cost/machine_file.hpp"
#include "files/replace.hpp"

namespace quadrille::cluster {

namespace {

cost::Machine machine_of(const Options& options) {
  const auto wire = [](std::int64_t rate) { return cost::byte_on_ethernet(static_cast<double>(rate)); };
  cost::Machine machine{.model = cost::built_in(), .from = "the rates of quadrille cluster up"};
  // Of packets through several virtual devices, on cores that all nodes share.
  machine.model.network.latency = 5e-6;
  machine.model.network.overhead = 12e-6;
  machine.model.network.work = 3e-9;
  machine.model.wake = 40e-6;
  machine.model.network.wire = wire(options.rate);
  machine.model.rack = machine.model.network;
  if (options.racks > 0) machine.model.rack.wire = wire(uplink_of(options));
  machine.model.one_machine = true;
  return machine;
}

}  // namespace

std::string machine_file(const Options& options, const std::string& mpi) {
  const std::string folder = cost::cache_folder();
  if (folder.empty()) return "";
  const std::string racks =
      options.racks > 0 ? fmt::format("_{}-racks-{}", options.racks, rate_text(uplink_of(options))) : "";
  // What is measured where one link is slow does not hold where all are alike.
  std::string exceptions;
  for (const auto& [node, rate] : options.node_rates)
    exceptions += fmt::format("_{}-{}", node_name(node), rate_text(rate));
  for (const auto& [rack, rate] : options.rack_uplinks) exceptions += fmt::format("_rack{}-{}", rack, rate_text(rate));
  constexpr std::size_t most_shown = 100;  // a name may have 255 characters
  if (exceptions.size() > most_shown) exceptions = fmt::format("_uneven-{:x}", std::hash<std::string>{}(exceptions));
  std::string name = fmt::format("cluster-{}{}{}_{}.json", rate_text(options.rate), racks, exceptions, mpi);
  for (char& one : name) {
    if (one == ' ' || one == '/') one = '-';
  }
  std::string file = folder + '/' + name;
  std::error_code error;
  if (std::filesystem::exists(file, error)) return file;
  std::filesystem::create_directories(folder, error);
  try {
    files::replace_file(file, to_json(machine_of(options)));
  } catch (const std::system_error&) {
    return "";
  }
  return file;
}

}  // namespace quadrille::cluster
