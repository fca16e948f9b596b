#include "launch/preload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "launch/command.hpp"

namespace quadrille::launch {

namespace {

// In MPMD command lines, separated by :, each program needs the options.
std::vector<std::string> insert_options(std::vector<std::string> words, const std::vector<std::string>& options) {
  std::vector<std::string> all;
  bool first = true;
  for (std::string& word : words) {
    const bool begins = first || word == ":";
    all.push_back(std::move(word));
    if (begins) all.insert(all.end(), options.begin(), options.end());
    first = false;
  }
  return all;
}

[[noreturn]] void reject_env_list() {
  throw std::invalid_argument(
      "Open MPI's mca_base_env_list conflicts with -x, which quadrille run needs: pass those variables by -x as well");
}

// srun accepts one --export: the user's is extended.
std::vector<std::string> with_exports(std::vector<std::string> words, const Variables& variables) {
  std::string list;
  for (const auto& [name, value] : variables) {
    if (value.find(',') != std::string::npos) {
      throw std::invalid_argument(fmt::format(
          "srun can't export {}={} because of the comma: set it in the environment, and omit the option", name, value));
    }
    list += fmt::format(",{}={}", name, value);
  }
  const char* const usual = std::getenv("SLURM_EXPORT_ENV");
  std::string exports = usual && *usual ? usual : "ALL";
  const std::size_t program = place_of_program(words);
  for (std::size_t i = 1; i < program; ++i) {
    const bool apart = words[i] == "--export" && i + 1 < program;
    if (!apart && !words[i].starts_with("--export=")) continue;
    exports = apart ? words[i + 1] : words[i].substr(words[i].find('=') + 1);
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + 1 + (apart ? 1 : 0)));
    break;
  }
  if (exports == "NONE" || exports == "NIL") {
    throw std::invalid_argument(
        fmt::format("--export={} exports nothing to the ranks, not even the drop-in: list the variables they need, as "
                    "in --export=PATH,HOME",
                    exports));
  }
  return insert_options(std::move(words), {"--export=" + exports + list});
}

// Options of the user that would disable the drop-in.
void reject_contradictions(Launcher launcher, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "LD_PRELOAD" || word.starts_with("LD_PRELOAD=")) {
      throw std::invalid_argument(
          "the command line sets LD_PRELOAD: set it in front of quadrille run, which adds the drop-in to it");
    }
    if (launcher == Launcher::openmpi && (word == "--app" || word == "-app")) {
      throw std::invalid_argument(
          "an --app file can't be modified: put the programs on the command line, separated by :, or set the variables "
          "in the file (quadrille run --print shows them)");
    }
    if (launcher == Launcher::openmpi && word == "mca_base_env_list") reject_env_list();
  }
  if (launcher == Launcher::openmpi && std::getenv("OMPI_MCA_mca_base_env_list")) reject_env_list();
}

}  // namespace

std::string_view option_name(std::string_view word) {
  if (!word.starts_with('-')) return {};
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word.substr(0, word.find('='));
}

std::size_t place_of_program(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 8> of_pairs = {"mca",     "gmca",    "omca", "gomca",
                                                        "prtemca", "pmixmca", "genv", "env"};
  const auto takes_two = [&](std::string_view word) {
    return std::find(of_pairs.begin(), of_pairs.end(), option_name(word)) != of_pairs.end();
  };
  const std::size_t first = is_quadrille(words, {"cluster", "run"}) ? 3 : 1;
  for (std::size_t i = first; i < words.size(); ++i) {
    if (words[i] == "--") return i + 1;
    if (words[i].starts_with('-')) continue;
    const bool of_pair = i > first + 1 && takes_two(words[i - 2]) && words[i - 1].find('=') == std::string::npos;
    const bool of_option = i > first && words[i - 1].starts_with('-') && words[i - 1].find('=') == std::string::npos;
    if ((!of_pair && !of_option) || mpi_of(words[i])) return i;
  }
  return words.size();
}

bool is_quadrille(const std::vector<std::string>& words, const std::vector<std::string>& subcommands) {
  return words.size() > subcommands.size() && std::filesystem::path(words.front()).filename() == "quadrille" &&
         std::equal(subcommands.begin(), subcommands.end(), words.begin() + 1);
}

std::optional<Launcher> detect_launcher(const std::vector<std::string>& words) {
  if (is_quadrille(words, {"cluster", "run"})) return Launcher::cluster;
  const std::string& program = words.front();
  const std::string name = std::filesystem::path(program).filename();
  if (name == "srun") return Launcher::srun;
  if (!name.starts_with("mpirun") && !name.starts_with("mpiexec") && !name.starts_with("orterun")) return std::nullopt;
  const auto path = find_program(program);
  if (!path) throw std::runtime_error(fmt::format("{} not found: is its folder in the PATH?", program));
  const auto mpi = mpi_started_by(*path);
  if (!mpi) return std::nullopt;
  return *mpi == Mpi::openmpi ? Launcher::openmpi : Launcher::hydra;
}

std::optional<Mpi> mpi_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::openmpi:
      return Mpi::openmpi;
    case Launcher::hydra:
      return Mpi::mpich;
    case Launcher::srun:
    case Launcher::cluster:
      break;
  }
  return std::nullopt;
}

std::vector<std::string> with_variables(Launcher launcher, std::vector<std::string> words, const Variables& variables) {
  reject_contradictions(launcher, words);
  if (launcher == Launcher::srun) return with_exports(std::move(words), variables);
  std::vector<std::string> options;
  for (const auto& [name, value] : variables) {
    if (launcher == Launcher::hydra) {
      options.insert(options.end(), {"-genv", name, value});
    } else {
      options.insert(options.end(), {"-x", fmt::format("{}={}", name, value)});
    }
  }
  if (launcher == Launcher::openmpi) return insert_options(std::move(words), options);
  // -genv applies to all; quadrille cluster run starts one program.
  words.insert(words.begin() + (launcher == Launcher::cluster ? 3 : 1), options.begin(), options.end());
  return words;
}

}  // namespace quadrille::launch
