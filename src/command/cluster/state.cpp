#include "cluster/state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
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
  if (set && access(set, W_OK) == 0) return std::filesystem::absolute(set) / "quadrille";
  return fmt::format("/tmp/quadrille-{}", geteuid());
}

// In /tmp the folder may belong to another user. Nothing if it does not exist.
Descriptor open_folder(const std::filesystem::path& path) {
  Descriptor open_one(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (open_one.get() < 0 && errno == ENOENT) return {};
  struct stat about {};
  if (open_one.get() < 0 || fstat(open_one.get(), &about) < 0 || about.st_uid != geteuid()) {
    throw std::runtime_error(
        fmt::format("{} belongs to another user: set XDG_RUNTIME_DIR to a folder of your own", path.string()));
  }
  return open_one;
}

bool is_at(const Descriptor& folder, const std::filesystem::path& path) {
  struct stat here {};
  struct stat there {};
  return fstat(folder.get(), &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

// Holds an exclusive lock on the folder while open. Nothing if it does not exist.
Descriptor locked_folder(const std::filesystem::path& path) {
  while (true) {
    Descriptor folder = open_folder(path);
    if (folder.get() < 0) return {};
    while (flock(folder.get(), LOCK_EX) < 0) {
      if (errno != EINTR) launch::fail(errno, fmt::format("can't lock {}", path.string()));
    }
    // The previous owner of the lock may have removed it.
    if (is_at(folder, path)) return folder;
  }
}

Descriptor locked_new_folder(const std::filesystem::path& path) {
  constexpr mode_t owner_only = 0700;
  while (true) {
    if (mkdir(path.c_str(), owner_only) < 0 && errno != EEXIST) {
      launch::fail(errno, fmt::format("can't create the folder {}", path.string()));
    }
    Descriptor folder = locked_folder(path);
    if (folder.get() >= 0) return folder;
  }
}

std::string boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::uint64_t process_namespace() {
  struct stat about {};
  launch::require(stat("/proc/self/ns/pid", &about), "can't stat /proc/self/ns/pid");
  return about.st_ino;
}

json to_json(const State& state) {
  const Options& options = state.options;
  return {{"name", options.name},
          {"nodes", options.nodes},
          {"slots", options.slots},
          {"rate", options.rate},
          {"racks", options.racks},
          {"uplink", options.uplink},
          {"node_rates", options.node_rates},
          {"rack_uplinks", options.rack_uplinks},
          {"skew", options.skew},
          {"slurm", options.slurm},
          {"keeper", {{"id", state.keeper.id}, {"started", state.keeper.started}}},
          {"holders", state.holders},
          {"user_namespace", state.user_namespace},
          {"boot", state.boot},
          {"process_namespace", state.process_namespace}};
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
  object.at("node_rates").get_to(options.node_rates);
  object.at("rack_uplinks").get_to(options.rack_uplinks);
  object.at("skew").get_to(options.skew);
  object.at("slurm").get_to(options.slurm);
  object.at("keeper").at("id").get_to(state.keeper.id);
  object.at("keeper").at("started").get_to(state.keeper.started);
  object.at("holders").get_to(state.holders);
  object.at("user_namespace").get_to(state.user_namespace);
  object.at("boot").get_to(state.boot);
  object.at("process_namespace").get_to(state.process_namespace);
  return state;
}

// Nothing if the file does not exist.
std::optional<State> read_if_there(const std::filesystem::path& file) {
  if (open_folder(file.parent_path()).get() < 0) return std::nullopt;
  const Descriptor in(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (in.get() < 0 && errno == ENOENT) return std::nullopt;
  launch::require(in.get(), fmt::format("can't read {}", file.string()));
  struct stat about {};
  launch::require(fstat(in.get(), &about), fmt::format("can't stat {}", file.string()));
  if (about.st_uid != geteuid()) throw std::runtime_error(fmt::format("{} belongs to another user", file.string()));
  try {
    return from_json(json::parse(launch::read_all(in.get())));
  } catch (const json::exception& error) {
    throw std::runtime_error(
        fmt::format("{} is not the state of a cluster ({}): remove it", file.string(), error.what()));
  }
}

// Inside a cluster process IDs differ and an ordinary user is root: the files would be misinterpreted.
void refuse_inside() {
  std::ifstream file("/proc/1/comm");
  std::string first;
  if (std::getline(file, first) && first == keeper_name) {
    throw std::runtime_error("this command runs on a node of a cluster: run it outside");
  }
}

}  // namespace

void set_origin(State& state) {
  state.boot = boot();
  state.process_namespace = process_namespace();
}

std::string to_text(const State& state) {
  return to_json(state).dump(1) + "\n";
}

State from_text(const std::string& text) {
  return from_json(json::parse(text));
}

std::filesystem::path state_file(const std::string& name) {
  check_name(name);
  return folder() / (name + ".json");
}

State read_state(const std::filesystem::path& file) {
  auto state = read_if_there(file);
  if (!state) throw std::runtime_error(fmt::format("{} does not exist: the cluster is no longer up", file.string()));
  return *state;
}

std::optional<State> find_state(const std::string& name) {
  refuse_inside();
  const std::filesystem::path file = state_file(name);
  auto state = read_if_there(file);
  if (!state) return std::nullopt;
  const bool same_boot = state->boot == boot();
  if (same_boot && state->process_namespace != process_namespace()) {
    throw std::runtime_error(
        fmt::format("the cluster '{}' was brought up in another PID namespace, such as a container: run the command "
                    "there, or remove {} if that is gone",
                    name, file.string()));
  }
  if (same_boot && open_running(state->keeper)) return state;
  remove_state(file, *state);
  return std::nullopt;
}

State require_state(const std::string& name) {
  const auto state = find_state(name);
  if (state) return *state;
  const auto others = names_of_clusters();
  const std::string option = name == Options().name ? "" : fmt::format(" --name {}", name);
  throw std::runtime_error(fmt::format("no cluster '{}' is up: bring it up by 'quadrille cluster up{}'{}", name, option,
                                       others.empty() ? "" : fmt::format("; running: {}", fmt::join(others, ", "))));
}

bool write_state(const State& state) {
  const std::filesystem::path file = state_file(state.options.name);
  const Descriptor folder = locked_new_folder(file.parent_path());
  // Written to a temporary file first: readers must see a complete file, and of two writers one must fail.
  std::string draft = (file.parent_path() / ".draft-XXXXXX").string();
  Descriptor out(mkostemp(draft.data(), O_CLOEXEC));
  launch::require(out.get(), fmt::format("can't write to {}", file.parent_path().string()));
  const bool written = launch::write_all(out.get(), to_text(state));
  const bool first = written && link(draft.c_str(), file.c_str()) == 0;
  const int error = errno;
  unlink(draft.c_str());
  if (!first && (!written || error != EEXIST)) launch::fail(error, fmt::format("can't write {}", file.string()));
  return first;
}

void remove_state(const std::filesystem::path& file, const State& state) {
  const Descriptor folder = locked_folder(file.parent_path());
  if (folder.get() < 0) return;
  const auto now = read_if_there(file);
  if (now && now->keeper == state.keeper && now->boot == state.boot) unlink(file.c_str());
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
    try {
      if (find_state(name)) names.push_back(name);
    } catch (const std::exception&) {
      continue;  // damaged or of another user: an error only if requested by name
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace quadrille::cluster
