#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/cut.hpp"
#include "cluster/enter.hpp"
#include "cluster/keeper.hpp"
#include "cluster/mapping.hpp"
#include "cluster/run.hpp"
#include "cluster/state.hpp"
#include "launch/mpi.hpp"
#include "tools/commands.hpp"
#include "tools/program_arguments.hpp"

namespace quadrille::tools {

namespace {

CLI::Option* add_name(CLI::App* command, std::string& name) {
  return command->add_option("--name", name, "The cluster's name; default: quadrille");
}

std::string described(const cluster::Options& options) {
  std::string text =
      fmt::format("{} nodes of {} slots, {} a node", options.nodes, options.slots, cluster::rate_text(options.rate));
  if (options.racks > 0) {
    text += fmt::format(", {} racks, {} between them", options.racks, cluster::rate_text(cluster::uplink_of(options)));
  }
  for (const auto& [node, rate] : options.node_rates) {
    text += fmt::format(", {} at {}", cluster::node_name(node), cluster::rate_text(rate));
  }
  for (const auto& [rack, rate] : options.rack_uplinks) {
    text += fmt::format(", rack{} at {}", rack, cluster::rate_text(rate));
  }
  if (options.skew) text += ", each node with its own clock";
  return text + (options.slurm ? ", Slurm" : "");
}

void add_up(CLI::App& cluster_command) {
  struct Arguments {
    cluster::Options options;
    std::vector<std::string> rates;
    std::vector<std::string> uplinks;
    std::optional<pid_t> while_process;
  };
  const auto arguments = std::make_shared<Arguments>();
  cluster::Options& options = arguments->options;
  auto* command = cluster_command.add_subcommand("up", "Bring a cluster up");
  command->add_option("--nodes", options.nodes, "Number of nodes; default: 16");
  command->add_option("--slots", options.slots, "Ranks per node; default: 4");
  command
      ->add_option("--rate", arguments->rates,
                   "Bandwidth of a node's link in each direction, as 1gbit; or of one, as node3=50mbit; default: "
                   "200mbit")
      ->allow_extra_args(false);
  command->add_option("--racks", options.racks, "Number of racks; default: 0, all nodes on one switch");
  command
      ->add_option("--uplink", arguments->uplinks,
                   "Bandwidth of a rack's uplink in each direction; or of one, as rack1=10mbit; default: that of a "
                   "node")
      ->allow_extra_args(false);
  command->add_flag("--skew", options.skew, "Give each node its own monotonic clock");
  command->add_flag("--slurm", options.slurm, "Start Slurm on the nodes");
  command->add_option("--while", arguments->while_process, "Take the cluster down when the process with this ID ends");
  add_name(command, options.name);
  command->callback([arguments] {
    for (const std::string& rate : arguments->rates) set_rate(arguments->options, rate);
    for (const std::string& uplink : arguments->uplinks) set_uplink(arguments->options, uplink);
    const cluster::State state = cluster::up(arguments->options, arguments->while_process);
    fmt::print("{} is up: {}\n", state.options.name, described(state.options));
  });
}

launch::Mpi mpi_for(const std::optional<std::string>& arguments, const std::string& program) {
  if (arguments) {
    const auto mpi = launch::mpi_named(*arguments);
    if (!mpi) throw std::invalid_argument(fmt::format("--mpi: '{}' is neither openmpi nor mpich", *arguments));
    return *mpi;
  }
  const auto mpi = launch::mpi_of(program);
  if (!mpi) {
    require_program(program);
    throw std::invalid_argument(
        fmt::format("can't detect the MPI that '{}' is linked with: set --mpi openmpi or --mpi mpich", program));
  }
  return *mpi;
}

struct RunOnArguments {
  std::string name = cluster::Options().name;
  std::optional<int> ranks;
  std::string map = "block";
  std::optional<std::string> mpi;
  std::vector<std::string> variables;
  Words program;
};

launch::Variables variables_in(const std::vector<std::string>& words) {
  launch::Variables list;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw std::invalid_argument(fmt::format("-x {}: expected NAME=VALUE", word));
    }
    list.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return list;
}

// The program behind the options of `quadrille run`, where a launcher may precede it.
Words program_of(Words words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty() || !names_launcher(words.front())) return words;
  const auto program = std::find_if(words.begin(), words.end(), [](const auto& word) { return launch::mpi_of(word); });
  words.erase(words.begin(), program);
  return words;
}

// For `quadrille cluster run ... quadrille run ...`: each rank would start a job of its own.
[[noreturn]] void explain_order(const RunOnArguments& arguments, const Words& program) {
  const auto end = std::find_if(program.begin() + 2, program.end(),
                                [](const std::string& word) { return word == "--" || names_launcher(word); });
  Words words = {"quadrille", "run"};
  words.insert(words.end(), program.begin() + 2, end);
  words.insert(words.end(), {"--", "quadrille", "cluster", "run"});
  if (arguments.name != cluster::Options().name) words.insert(words.end(), {"--name", arguments.name});
  if (arguments.ranks) words.insert(words.end(), {"-n", std::to_string(*arguments.ranks)});
  if (arguments.map != RunOnArguments().map) words.insert(words.end(), {"--map", arguments.map});
  if (arguments.mpi) words.insert(words.end(), {"--mpi", *arguments.mpi});
  for (const std::string& variable : arguments.variables) words.insert(words.end(), {"-x", variable});
  const Words rest = program_of({end, program.end()});
  words.emplace_back("--");
  words.insert(words.end(), rest.begin(), rest.end());
  if (rest.empty()) words.emplace_back("./program");
  throw std::invalid_argument(
      fmt::format("'quadrille run' comes first, and 'quadrille cluster run' is its launcher: {}", command_line(words)));
}

void add_run_on(CLI::App& cluster_command, Exit& exit) {
  const auto arguments = std::make_shared<RunOnArguments>();
  auto* command = cluster_command.add_subcommand("run", "Run an MPI program on the nodes");
  command->add_option("-n", arguments->ranks, "Number of ranks; default: one per slot");
  command->add_option(
      "--map", arguments->map,
      "Mapping of ranks to nodes: block, cyclic, ppr:N or a file with one node per line; default: block");
  command->add_option("--mpi", arguments->mpi, "openmpi or mpich; default: the one the program is linked with");
  command->add_option("-x", arguments->variables, "Set a variable for the ranks, as NAME=VALUE; may be repeated")
      ->allow_extra_args(false);
  add_name(command, arguments->name);
  add_program(command, "PROGRAM", arguments->program, "The program and its arguments, after --");
  command->callback([arguments, &exit] {
    cluster::Job job;
    job.program = without_separator(arguments->program);
    if (launch::is_quadrille(job.program, {"run"})) explain_order(*arguments, job.program);
    job.variables = variables_in(arguments->variables);
    const cluster::State state = cluster::require_state(arguments->name);
    job.mapping = cluster::mapping(arguments->map, arguments->ranks, state.options);
    job.mpi = mpi_for(arguments->mpi, job.program.front());
    job.launcher = launch::launcher_of(job.mpi);
    exit = cluster::run_job(state, job);
  });
}

void add_exec(CLI::App& cluster_command, Exit& exit) {
  struct Arguments {
    std::string name = cluster::Options().name;
    std::string node;
    Words words;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = cluster_command.add_subcommand("exec", "Run a command on one node");
  add_name(command, arguments->name);
  command->add_option("NODE", arguments->node, "As node3, or 3")->required();
  add_program(command, "COMMAND", arguments->words, "The command and its arguments, after --");
  command->callback([arguments, &exit] {
    const cluster::State state = cluster::require_state(arguments->name);
    const int node = cluster::node_of(arguments->node, state.options.nodes);
    exit = cluster::run_on_node(state, node, without_separator(arguments->words));
  });
}

struct Status {
  cluster::State state;
  std::vector<int> cut;
};

// Nothing if it is not up, or goes down during the query.
std::optional<Status> status_of(const std::string& name) {
  const auto state = cluster::find_state(name);
  if (!state) return std::nullopt;
  try {
    return Status{*state, cluster::cut_nodes(*state)};
  } catch (const std::runtime_error&) {
    if (!cluster::ends_soon(state->keeper)) throw;
    return std::nullopt;
  }
}

void print_json(const std::string& name, const std::optional<Status>& status) {
  nlohmann::ordered_json object = {{"name", name}, {"up", status.has_value()}};
  if (status) {
    const cluster::Options& options = status->state.options;
    object.update({{"nodes", options.nodes},
                   {"slots", options.slots},
                   {"rate", options.rate},
                   {"racks", options.racks},
                   {"uplink", cluster::uplink_of(options)},
                   {"skew", options.skew},
                   {"slurm", options.slurm},
                   {"keeper", status->state.keeper.id}});
    for (const auto& [node, rate] : options.node_rates) object["node_rates"][cluster::node_name(node)] = rate;
    for (const auto& [rack, rate] : options.rack_uplinks) object["rack_uplinks"][fmt::format("rack{}", rack)] = rate;
    object["cut"] = nlohmann::ordered_json::array();
    for (int node : status->cut) object["cut"].push_back(cluster::node_name(node));
  }
  fmt::print("{}\n", object.dump(2));
}

void print_text(const std::string& name, const std::optional<Status>& status) {
  if (!status) {
    const auto others = cluster::names_of_clusters();
    fmt::print("{} is not up{}\n", name, others.empty() ? "" : fmt::format("; running: {}", fmt::join(others, ", ")));
    return;
  }
  fmt::print("{} is up: {}\n", name, described(status->state.options));
  for (int node : status->cut) fmt::print("{} is cut off\n", cluster::node_name(node));
}

void add_status(CLI::App& cluster_command, Exit& exit) {
  struct Arguments {
    std::string name = cluster::Options().name;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = cluster_command.add_subcommand(
      "status", "Print whether a cluster is up, and its configuration; exit status 1 if it is not up");
  command->add_flag("--json", arguments->json, "Print JSON");
  add_name(command, arguments->name);
  command->callback([arguments, &exit] {
    const auto status = status_of(arguments->name);
    arguments->json ? print_json(arguments->name, status) : print_text(arguments->name, status);
    exit = status ? 0 : 1;
  });
}

void add_down(CLI::App& cluster_command) {
  const auto name = std::make_shared<std::string>(cluster::Options().name);
  auto* command = cluster_command.add_subcommand("down", "Take a cluster down and kill all its processes");
  add_name(command, *name);
  command->callback([name] {
    if (cluster::find_state(*name)) return cluster::down(*name);
    print_text(*name, std::nullopt);
  });
}

void add_cut(CLI::App& cluster_command, const char* word, const char* text, bool cut) {
  struct Arguments {
    std::string name = cluster::Options().name;
    std::string node;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = cluster_command.add_subcommand(word, text);
  add_name(command, arguments->name);
  command->add_option("NODE", arguments->node, "As node3, or 3")->required();
  command->callback([arguments, cut] {
    const cluster::State state = cluster::require_state(arguments->name);
    cluster::set_cut(state, cluster::node_of(arguments->node, state.options.nodes), cut);
  });
}

// Called by launchers instead of ssh.
void add_agent(CLI::App& cluster_command, Exit& exit) {
  struct Arguments {
    std::string state;
    Words words;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = cluster_command.add_subcommand("agent", "For launchers")->group("");
  command->add_option("--state", arguments->state, "The cluster's file")->required();
  add_program(command, "WORD", arguments->words, "HOST COMMAND...");
  command->callback([arguments, &exit] { exit = cluster::run_remote_shell(arguments->state, arguments->words); });
}

}  // namespace

void add_cluster(CLI::App& app, Exit& exit) {
  auto* command = app.add_subcommand(
      "cluster",
      "Emulate a cluster on this machine: nodes with their own network, connected by links of a given bandwidth");
  command->require_subcommand(1);
  add_up(*command);
  add_run_on(*command, exit);
  add_exec(*command, exit);
  add_status(*command, exit);
  add_cut(*command, "cut", "Disconnect a node", true);
  add_cut(*command, "heal", "Reconnect a node", false);
  add_down(*command);
  add_agent(*command, exit);
}

}  // namespace quadrille::tools
