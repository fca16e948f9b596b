#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "files/replace.hpp"
#include "knowledge/library.hpp"
#include "launch/command.hpp"
#include "launch/mpi.hpp"
#include "text/quantities.hpp"
#include "tools/drop_in.hpp"
#include "tools/place.hpp"
#include "tools/supervised_launch.hpp"

namespace quadrille::tools {

namespace {

using launch::Launcher;

std::vector<std::string_view> host_options(bool of_hydra) {
  return of_hydra ? std::vector<std::string_view>{"f", "hostfile", "machinefile"}
                  : std::vector<std::string_view>{"hostfile", "machinefile"};
}

bool is_one_of(const std::vector<std::string_view>& names, const std::string& word) {
  const std::string_view name = launch::option_name(word);
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

// An option of the launcher: where it stands, how many words it has, and its value.
struct Option {
  std::size_t place = 0;
  std::size_t words = 0;
  std::string value;
};
std::optional<Option> option_in(const Words& words, const std::vector<std::string_view>& names) {
  const std::size_t program = launch::place_of_program(words);
  for (std::size_t i = 1; i < program; ++i) {
    if (!is_one_of(names, words[i])) continue;
    const std::size_t equals = words[i].find('=');
    if (equals != std::string::npos) return Option{i, 1, words[i].substr(equals + 1)};
    if (i + 1 < program) return Option{i, 2, words[i + 1]};
  }
  return std::nullopt;
}

// Options of the launcher that place ranks, beside ours.
void refuse_options(const Words& words, const std::vector<std::string_view>& names) {
  const std::size_t program = launch::place_of_program(words);
  for (std::size_t i = 1; i < program; ++i) {
    if (is_one_of(names, words[i])) {
      throw std::invalid_argument(fmt::format("--run: leave {} out: it would place the ranks", words[i]));
    }
  }
}

// What the command line says about hosts, where our own options don't.
void find_hosts(const Words& words, Launcher launcher, PlacingArguments& placing) {
  if (!placing.hosts.empty() || !placing.cluster.empty()) return;
  if (launcher == Launcher::cluster) {
    const auto name = option_in(words, {"name"});
    placing.cluster = name ? name->value : cluster::Options().name;
  } else if (const auto file = option_in(words, host_options(launcher == Launcher::hydra))) {
    placing.hosts = file->value;
  }
}

std::string launcher_name(const Words& words, Launcher launcher) {
  switch (launcher) {
    case Launcher::cluster:
      return "cluster";
    case Launcher::srun:
      return "slurm";
    case Launcher::hydra:
      return "mpich";
    case Launcher::openmpi:
      break;
  }
  const std::string version = launch::version_in(launch::run({words.front(), "--version"}).text);
  return std::atoi(version.c_str()) >= 5 ? "openmpi-5" : "openmpi";
}

// The user's command line with the options of the one that places ranks.
Words placed_command(Words words, const std::string& launcher, const LaunchFile& made, const std::string& file) {
  if (launcher == "cluster") {
    words.insert(words.begin() + 3, {"--map", file});
    return words;
  }
  if (launcher == "slurm") {
    setenv("SLURM_HOSTFILE", file.c_str(), 1);
    words.insert(words.begin() + 1, "--distribution=arbitrary");
    return words;
  }
  const auto hosts = option_in(words, host_options(launcher == "mpich"));
  if (launcher == "mpich" && hosts) {
    const auto old = words.begin() + static_cast<std::ptrdiff_t>(hosts->place);
    words.erase(old, old + static_cast<std::ptrdiff_t>(hosts->words));
  }
  // mpirun -n N comes first, and the user's line has its own.
  auto first = made.line.begin() + 3;
  if (launcher != "mpich" && hosts) first += 2;
  words.insert(words.begin() + 1, first, made.line.end());
  return words;
}

}  // namespace

int place_and_run(PlaceArguments arguments) {
  const Words words = without_separator(arguments.words);
  const Launcher launcher = require_launcher(words);
  PlacingArguments& placing = arguments.placing;
  if (!placing.source.what.empty()) {
    throw std::invalid_argument(fmt::format("--run: '{}' is too much: the program is traced", placing.source.what));
  }
  if (arguments.drop_in && placing.source.policy.empty()) placing.source.policy = knowledge::own_policy;
  if (launcher == Launcher::cluster) refuse_options(words, {"map"});
  if (launcher == Launcher::srun) refuse_options(words, {"m", "distribution"});
  if (launcher == Launcher::hydra) refuse_options(words, {"ppn", "perhost"});
  if (launch::place_of_program(words) == words.size()) {
    throw std::invalid_argument(
        "--run: the command line does not show where the program begins: put an option with a value, such as -n 4, "
        "last "
        "in front of it");
  }
  find_hosts(words, launcher, placing);
  if (placing.hosts.empty() && placing.cluster.empty()) {
    throw std::invalid_argument("--run: where may ranks run? The command line has no host file: give --hosts");
  }
  placing.source.what = std::filesystem::absolute("quadrille.trace").string();
  const std::optional<std::string> mpi = arguments.mpi.empty() ? std::nullopt : std::optional(arguments.mpi);
  const Words tracing = tracing_command(words, mpi, placing.source.what, {.replace = arguments.drop_in});
  const auto start = Clock::now();
  const int traced = run_traced(tracing, placing.source.what);
  const double before = seconds_since(start);
  if (traced != 0) return traced;

  const Placed placed = place(placing);
  fmt::print(stderr, "{}", placed_as_text(placed));
  if (!arguments.svg.empty()) files::replace_file(arguments.svg, placed_as_svg(placed));
  if (!placed.gains()) return 0;
  const std::string name = launcher_name(words, launcher);
  const std::string output = arguments.output.empty() ? "quadrille.places" : arguments.output;
  const std::string file = std::filesystem::absolute(output).string();
  const LaunchFile made = launch_file(placed, placing, name, file, arguments.on_cores);
  files::replace_file(file, made.text);
  if (!made.remark.empty()) fmt::print(stderr, "quadrille: {}\n", made.remark);
  Words command = placed_command(words, name, made, file);
  if (arguments.drop_in) command = command_with_drop_in(command, mpi);
  fmt::print(stderr, "quadrille: started again, placed: {}\n", command_line(command));
  const auto again = Clock::now();
  const int status = run_to_end(command);
  fmt::print(stderr, "quadrille: it took {}, and {} before, traced; to be sure, compare several runs of each\n",
             text::seconds(seconds_since(again)), text::seconds(before));
  return status;
}

}  // namespace quadrille::tools
