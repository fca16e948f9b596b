#include "settings/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "cost/built_in.hpp"
#include "machine/cores.hpp"
#include "machine/host.hpp"
#include "machine/network.hpp"
#include "settings/settings.hpp"

namespace quadrille {

namespace {

// Looked for once: a program may make many communicators.
const machine::Network& network_here() {
  static const machine::Network found = machine::network();
  return found;
}

cost::Machine read(const std::string& file, bool set) {
  cost::Machine usual = built_in_here();
  if (file.empty() || (!set && !std::filesystem::exists(file))) return usual;
  try {
    cost::Machine found = cost::read_machine(file, usual.model);
    found.from = fmt::format("{} ({})", file, found.from);
    return found;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(
        fmt::format("{}{}; quadrille probe writes a new one", set ? "QUADRILLE_MACHINE=" : "", error.what()));
  }
}

}  // namespace

cost::Machine built_in_here() {
  const machine::Network& network = network_here();
  const auto kind =
      network.kind == machine::Network::Kind::ethernet ? cost::NetworkKind::kernel : cost::NetworkKind::bypass;
  return {.model = cost::built_in(kind, network.megabits),
          .from = fmt::format("built-in numbers for {}", machine::name_of(network))};
}

cost::Machine machine_of_any_mpi(const std::string& mpi) {
  namespace fs = std::filesystem;
  if (!setting("QUADRILLE_MACHINE").empty()) return machine_here(mpi);
  // The name of the file without that of the MPI.
  const std::string pattern = fs::path(machine_file_here("*")).filename();
  const std::size_t star = pattern.find('*');
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator one(cost::cache_folder(), error), end; !error && one != end; one.increment(error)) {
    const std::string name = one->path().filename();
    const bool alike = star != std::string::npos && name.starts_with(pattern.substr(0, star)) &&
                       name.ends_with(pattern.substr(star + 1));
    std::string wanted = mpi;
    std::replace(wanted.begin(), wanted.end(), ' ', '-');
    if (alike && name.find(wanted) != std::string::npos) found.push_back(one->path());
  }
  if (found.size() > 1) {
    throw std::invalid_argument(fmt::format(
        "several machine files are for this machine: choose by --mpi or --machine: {}", fmt::join(found, ", ")));
  }
  return read(found.empty() ? "" : found.front(), false);
}

std::string machine_file_here(const std::string& mpi) {
  const std::string_view set = setting("QUADRILLE_MACHINE");
  if (!set.empty()) return set == no_machine ? "" : std::string(set);
  const std::string folder = cost::cache_folder();
  if (folder.empty()) return "";
  return folder + '/' +
         cost::file_name(machine::host_name(), mpi, machine::name_of(network_here()),
                         static_cast<std::int32_t>(machine::usable_cores()));
}

std::string learned_folder_here() {
  const std::string folder = cost::cache_folder();
  if (folder.empty()) return "";
  const std::string_view set = setting("QUADRILLE_MACHINE");
  const std::string name = set.empty() || set == no_machine
                               ? cost::kind_of_machine(machine::host_name(), machine::name_of(network_here()),
                                                       static_cast<std::int32_t>(machine::usable_cores()))
                               : std::filesystem::path(set).stem().string();
  return fmt::format("{}/{}.learned", folder, name);
}

const cost::Machine& machine_here(const std::string& mpi) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static auto& known = *new std::map<std::string, cost::Machine>;  // for MPI_Finalize in a destructor after main
  const std::string file = machine_file_here(mpi);
  const auto place = known.find(file);
  if (place != known.end()) return place->second;
  return known.emplace(file, read(file, !setting("QUADRILLE_MACHINE").empty())).first->second;
}

}  // namespace quadrille
