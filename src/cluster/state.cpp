#include "cluster/state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Descriptor;
using nlohmann::json;

std::filesystem::path folder() {
  if (geteuid() == 0) return "/run/quadrille";
  const char* set = std::getenv("XDG_RUNTIME_DIR");
  if (set && access(set, W_OK) == 0) return std::filesystem::path(set) / "quadrille";
  return fmt::format("/tmp/quadrille-{}", geteuid());
}

// In /tmp the name may have been taken by somebody else.
void make_folder(const std::filesystem::path& path) {
  constexpr mode_t owner_only = 0700;
  if (mkdir(path.c_str(), owner_only) < 0 && errno != EEXIST) {
    launch::fail(errno, fmt::format("can't make the folder {}", path.string()));
  }
  struct stat about {};
  launch::require(lstat(path.c_str(), &about), fmt::format("can't look at {}", path.string()));
  if (!S_ISDIR(about.st_mode) || about.st_uid != geteuid()) {
    throw std::runtime_error(
        fmt::format("{} is not a folder of yours: set XDG_RUNTIME_DIR to a folder that is", path.string()));
  }
}

json to_json(const State& state) {
  const Options& options = state.options;
  return {{"name", options.name},     {"nodes", options.nodes},
          {"slots", options.slots},   {"rate", options.rate},
          {"racks", options.racks},   {"uplink", options.uplink},
          {"skew", options.skew},     {"keeper", {{"id", state.keeper.id}, {"started", state.keeper.started}}},
          {"holders", state.holders}, {"user_namespace", state.user_namespace}};
}

State from_json(const json& object) {
  State state;
  Options& options = state.options;
  object.at("name").get_to(options.name);
  object.at("nodes").get_to(options.nodes);
  object.at("slots").get_to(options.slots);
  object.at("rate").get_to(options.rate);
  object.at("racks").get_to(options.racks);
  object.at("uplink").get_to(options.uplink);
  object.at("skew").get_to(options.skew);
  object.at("keeper").at("id").get_to(state.keeper.id);
  object.at("keeper").at("started").get_to(state.keeper.started);
  object.at("holders").get_to(state.holders);
  object.at("user_namespace").get_to(state.user_namespace);
  return state;
}

}  // namespace

std::filesystem::path state_file(const std::string& name) {
  check_name(name);
  return folder() / (name + ".json");
}

State read_state(const std::filesystem::path& file) {
  std::ifstream stream(file);
  try {
    return from_json(json::parse(stream));
  } catch (const json::exception& error) {
    throw std::runtime_error(
        fmt::format("{} is not the state of a cluster ({}): remove it", file.string(), error.what()));
  }
}

std::optional<State> find_state(const std::string& name) {
  const std::filesystem::path file = state_file(name);
  if (!std::filesystem::exists(file)) return std::nullopt;
  State state = read_state(file);
  if (opened(state.keeper)) return state;
  remove_state(name);
  return std::nullopt;
}

State need_state(const std::string& name) {
  const auto state = find_state(name);
  if (state) return *state;
  const auto others = names_of_clusters();
  const std::string option = name == Options().name ? "" : fmt::format(" --name {}", name);
  throw std::runtime_error(fmt::format("no cluster '{}' is up: bring it up by 'quadrille cluster up{}'{}", name, option,
                                       others.empty() ? "" : fmt::format("; up are {}", fmt::join(others, ", "))));
}

bool write_state(const State& state) {
  const std::filesystem::path file = state_file(state.options.name);
  make_folder(file.parent_path());
  // Written aside first: whoever reads it must find all of it, and of two that make it, one is to know.
  std::string draft = (file.parent_path() / ".draft-XXXXXX").string();
  Descriptor out(mkostemp(draft.data(), O_CLOEXEC));
  launch::require(out.get(), fmt::format("can't write to {}", file.parent_path().string()));
  const bool written = launch::write_all(out.get(), to_json(state).dump(1) + "\n");
  const bool first = written && link(draft.c_str(), file.c_str()) == 0;
  const int error = errno;
  unlink(draft.c_str());
  if (!first && (!written || error != EEXIST)) launch::fail(error, fmt::format("can't write {}", file.string()));
  return first;
}

void remove_state(const std::string& name) {
  const std::filesystem::path file = state_file(name);
  unlink(file.c_str());
  rmdir(file.parent_path().c_str());
}

std::vector<std::string> names_of_clusters() {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), none)) {
    const bool hidden = entry.path().filename().string().front() == '.';
    if (!hidden && entry.path().extension() == ".json") files.push_back(entry.path().stem());
  }
  std::vector<std::string> names;
  for (const std::string& name : files) {
    if (find_state(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace quadrille::cluster
