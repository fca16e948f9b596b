#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "launch/command.hpp"
#include "launch/mpi.hpp"
#include "machine/cores.hpp"
#include "select/table.hpp"
#include "settings/settings.hpp"
#include "tools/commands.hpp"
#include "tools/install_paths.hpp"
#include "variables/variables.hpp"

namespace quadrille::tools {

namespace {

// A property of this machine that affects MPI programs.
struct Finding {
  std::string topic;
  std::string text;
  std::string remedy;  // empty: no problem
};

std::string version_of(launch::Mpi mpi) {
  return launch::version_in(launch::run({launch::launcher_of(mpi), "--version"}).text);
}

// The installed MPIs, and whether there is a drop-in for each.
std::vector<launch::Mpi> check_mpis(std::vector<Finding>& findings) {
  std::vector<launch::Mpi> found;
  for (launch::Mpi mpi : {launch::Mpi::openmpi, launch::Mpi::mpich}) {
    const std::string mpi_name(launch::name(mpi));
    try {
      const std::filesystem::path launcher = launch::launcher_of(mpi);
      const std::string output = version_of(mpi);
      found.push_back(mpi);
      const std::filesystem::path library = mpi_directory(mpi_name) / "libquadrille-dropin.so";
      const bool there = std::filesystem::exists(library);
      findings.push_back(
          {mpi_name,
           fmt::format("{} ({}), drop-in {}", launcher.string(), output, there ? library.string() : "missing"),
           there ? ""
                 : fmt::format("build or install Quadrille for {}: {} does not exist", mpi_name, library.string())});
    } catch (const std::runtime_error&) {
      continue;
    }
  }
  if (found.empty()) {
    findings.push_back({"MPI", "no launcher of Open MPI or MPICH in the PATH",
                        "install one (on Debian openmpi-bin or mpich), or add its folder to the PATH"});
  }
  return found;
}

// An MCA parameter, from the environment or configuration files; "" if unset.
struct McaParameters {
  std::string_view prefix;      // of variables
  std::string_view own_file;    // in the home folder
  std::string_view sites_file;  // of Debian's packages
};

constexpr McaParameters openmpi_parameters = {"OMPI_MCA_", "/.openmpi/mca-params.conf",
                                              "/etc/openmpi/openmpi-mca-params.conf"};
// Of Open MPI's launcher since version 5.
constexpr McaParameters prrte_parameters = {"PRTE_MCA_", "/.prte/mca-params.conf", "/etc/prte/prte-mca-params.conf"};

std::string parameter(const McaParameters& of, const std::string& name) {
  if (const char* value = std::getenv(fmt::format("{}{}", of.prefix, name).c_str())) return value;
  const char* home = std::getenv("HOME");
  for (const std::string& path : {fmt::format("{}{}", home ? home : "", of.own_file), std::string(of.sites_file)}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::erase_if(line, [](unsigned char letter) { return std::isspace(letter) != 0; });
      if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
    }
  }
  return "";
}

// How Open MPI binds ranks, by the policy that its launcher reads.
void check_binding_by_openmpi(bool oversubscribed, std::vector<Finding>& findings) {
  const bool prrte = std::atoi(version_of(launch::Mpi::openmpi).c_str()) >= 5;
  const std::string binding = prrte ? parameter(prrte_parameters, "hwloc_default_binding_policy")
                                    : parameter(openmpi_parameters, "hwloc_base_binding_policy");
  std::string text = binding.empty() ? "default: up to two ranks are bound to a core each, more to a socket"
                                     : fmt::format("to {}", binding);
  if (prrte && binding.empty() && !parameter(openmpi_parameters, "hwloc_base_binding_policy").empty()) {
    text +=
        "; OMPI_MCA_hwloc_base_binding_policy is of Open MPI 4, and ignored: it is "
        "PRTE_MCA_hwloc_default_binding_policy now";
  }
  const bool remedy = oversubscribed && !binding.starts_with("none");
  findings.push_back({"openmpi, binding", text,
                      !remedy ? ""
                      : prrte ? "mpirun --map-by :oversubscribe --bind-to none ..."
                              : "mpirun --oversubscribe --bind-to none ..."});
}

// How ranks wait and are bound, by settings that are not part of a command line.
void check_launch_settings(bool oversubscribed, launch::Mpi mpi, std::vector<Finding>& findings) {
  const std::string mpi_name(launch::name(mpi));
  if (mpi == launch::Mpi::mpich) {
    findings.push_back({mpi_name + ", waiting", "waiting ranks spin, and no setting changes that",
                        oversubscribed ? "use quadrille run -- mpirun ..., which makes waiting ranks yield" : ""});
    const char* const binding = std::getenv("HYDRA_BINDING");
    const bool bound = binding && std::string_view(binding) != "none";
    findings.push_back({mpi_name + ", binding",
                        bound ? fmt::format("HYDRA_BINDING={}", binding) : "ranks may run on any usable core",
                        bound && oversubscribed ? "unset HYDRA_BINDING" : ""});
    return;
  }
  const std::string yields = parameter(openmpi_parameters, "mpi_yield_when_idle");
  constexpr std::array<std::string_view, 5> no = {"", "0", "false", "f", "no"};
  const bool spins = std::find(no.begin(), no.end(), yields) != no.end();
  findings.push_back({mpi_name + ", waiting",
                      !spins           ? "waiting ranks yield"
                      : yields.empty() ? "waiting ranks yield if mpirun knows that the node is oversubscribed"
                                       : fmt::format("mpi_yield_when_idle is {}: waiting ranks spin", yields),
                      spins && oversubscribed ? "export OMPI_MCA_mpi_yield_when_idle=1" : ""});
  check_binding_by_openmpi(oversubscribed, findings);
}

void check_cores(int ranks, const std::vector<launch::Mpi>& mpis, std::vector<Finding>& findings) {
  const double cores = machine::usable_cores(machine::Affinity::process);
  const unsigned processors = std::thread::hardware_concurrency();
  std::string text = fmt::format("{:g} of {} processors are usable", cores, processors);
  std::string remedy;
  if (cores < processors) {
    text += ": limited by the affinity or a control group";
    remedy = "raise the limit (docker run --cpus, Slurm's --cpus-per-task, taskset), or start fewer ranks";
  }
  findings.push_back({"cores", text, remedy});
  const bool oversubscribed = ranks > cores;
  if (ranks > 0) {
    findings.push_back({fmt::format("{} ranks", ranks),
                        oversubscribed ? fmt::format("oversubscribed: {:g} cores", cores) : "one core each",
                        oversubscribed ? "start fewer ranks, or follow the advice on waiting and binding below" : ""});
  }
  for (launch::Mpi mpi : mpis) check_launch_settings(oversubscribed, mpi, findings);
}

// A misspelled variable would be ignored silently.
void check_variables(std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 3> others = {"QUADRILLE_CLUSTER_", "QUADRILLE_BENCH_", "QUADRILLE_TEST_"};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool ours = name.starts_with("QUADRILLE");
    const bool other = std::any_of(others.begin(), others.end(), [&](auto start) { return name.starts_with(start); });
    if (!ours || other) continue;
    const bool known = variables::named(name) != nullptr;
    findings.push_back({"environment", fmt::format("{} is set", text),
                        known ? "" : fmt::format("unknown variable {}: see docs/reference/environment.md", name)});
  }
  try {
    read_settings(setting);
  } catch (const std::invalid_argument& error) {
    findings.push_back({"environment", error.what(), "correct it: see docs/reference/environment.md"});
  }
}

// A launcher has version "4.1.4"; a table "Open MPI v4.1.4".
bool is_for(const Section& section, launch::Mpi mpi) {
  const std::string_view name = mpi == launch::Mpi::openmpi ? "Open MPI" : "MPICH";
  const std::size_t digits = section.mpi.find_first_of("0123456789");
  return section.mpi.starts_with(name) && digits != std::string::npos && version_of(mpi) == section.mpi.substr(digits);
}

void check_table(const std::vector<launch::Mpi>& mpis, std::vector<Finding>& findings) {
  try {
    const std::string file(setting("QUADRILLE_TABLE"));
    if (file.empty()) return;
    const Table table = read_table(file);
    std::size_t rules = 0;
    for (const Section& section : table.sections) {
      const auto fits = [&](launch::Mpi mpi) { return is_for(section, mpi); };
      if (std::any_of(mpis.begin(), mpis.end(), fits)) rules += section.lines.size();
    }
    findings.push_back(
        {"table", fmt::format("{} has {} rules for the installed MPIs", file, rules),
         rules > 0
             ? ""
             : fmt::format(
                   "measure with the MPI that programs use, as in: mpirun -n 4 quadrille bench allreduce --table {}",
                   file)});
  } catch (const std::invalid_argument& error) {
    findings.push_back(
        {"table", error.what(), "correct it, or unset QUADRILLE_TABLE: see docs/reference/environment.md"});
  }
}

void check_shared_memory(std::vector<Finding>& findings) {
  constexpr double mebibyte = 1024.0 * 1024.0;
  constexpr double enough = 256;
  struct statvfs of = {};
  if (statvfs("/dev/shm", &of) != 0) {
    findings.push_back(
        {"shared memory", "there is no /dev/shm", "mount -t tmpfs tmpfs /dev/shm; MPI communicates through it"});
    return;
  }
  const double size = static_cast<double>(of.f_blocks) * static_cast<double>(of.f_frsize) / mebibyte;
  const double unused = static_cast<double>(of.f_bavail) * static_cast<double>(of.f_frsize) / mebibyte;
  const bool short_of_it = unused < enough;
  findings.push_back({"shared memory", fmt::format("{:.0f} of {:.0f} MiB free in /dev/shm", unused, size),
                      short_of_it ? "remove files left by crashed programs, or enlarge it (docker run --shm-size=1g; "
                                    "mount -o remount,size=1g /dev/shm)"
                                  : ""});
}

void check_single_copy(std::vector<Finding>& findings) {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  const bool known = static_cast<bool>(file >> scope);
  // At 1, ranks may permit it to each other, and both MPIs make them do so.
  const bool allowed = !known || scope <= 1 || (scope == 2 && geteuid() == 0);
  findings.push_back({"single copy",
                      allowed ? "ranks may read each other's memory"
                              : fmt::format("ptrace_scope is {}: ranks may not read each other's memory, so large "
                                            "messages on a node are copied twice",
                                            scope),
                      allowed ? "" : "sysctl kernel.yama.ptrace_scope=1 (in a container: --cap-add=SYS_PTRACE)"});
}

void check_root(const std::vector<launch::Mpi>& mpis, std::vector<Finding>& findings) {
  const bool openmpi = std::find(mpis.begin(), mpis.end(), launch::Mpi::openmpi) != mpis.end();
  if (!openmpi || geteuid() != 0) return;
  const bool allowed = std::getenv("OMPI_ALLOW_RUN_AS_ROOT") && std::getenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");
  findings.push_back(
      {"root", allowed ? "Open MPI may run as root" : "Open MPI refuses to run as root",
       allowed ? "" : "use another user, or export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
}

std::string as_json(const std::vector<Finding>& findings) {
  nlohmann::json all = nlohmann::json::array();
  for (const Finding& finding : findings) {
    all.push_back({{"topic", finding.topic},
                   {"text", finding.text},
                   {"good", finding.remedy.empty()},
                   {"remedy", finding.remedy}});
  }
  return all.dump(1) + "\n";
}

std::string as_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{}  {}: {}\n", finding.remedy.empty() ? "ok  " : "warn", finding.topic, finding.text);
    if (!finding.remedy.empty()) text += fmt::format("      -> {}\n", finding.remedy);
  }
  return text;
}

}  // namespace

void add_doctor(CLI::App& app, Exit& exit) {
  struct Arguments {
    int ranks = 0;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("doctor", "Check this machine for problems that slow MPI programs down");
  command->add_option("-n", arguments->ranks, "Number of ranks to run on this machine")->check(CLI::PositiveNumber);
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit] {
    std::vector<Finding> findings;
    const std::vector<launch::Mpi> mpis = check_mpis(findings);
    check_cores(arguments->ranks, mpis, findings);
    check_shared_memory(findings);
    check_single_copy(findings);
    check_root(mpis, findings);
    check_variables(findings);
    check_table(mpis, findings);
    fmt::print("{}", arguments->json ? as_json(findings) : as_text(findings));
    const auto is_bad = [](const Finding& finding) { return !finding.remedy.empty(); };
    exit = std::any_of(findings.begin(), findings.end(), is_bad) ? 1 : 0;
  });
}

}  // namespace quadrille::tools
