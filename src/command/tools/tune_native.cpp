#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "files/replace.hpp"
#include "knowledge/library.hpp"
#include "launch/command.hpp"
#include "launch/preload.hpp"
#include "launch/system.hpp"
#include "measure/bench_options.hpp"
#include "native/report.hpp"
#include "text/quantities.hpp"
#include "tools/bench.hpp"
#include "tools/run_compare.hpp"
#include "tools/supervised_launch.hpp"
#include "tools/tune.hpp"

namespace quadrille::tools {

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What is to be started, and how.
struct Launching {
  native::Library library = native::Library::openmpi;
  launch::Launcher launcher = launch::Launcher::openmpi;
  Words words;  // the launcher with its options
  std::filesystem::path program;
  std::filesystem::path report;  // of each launch
};

// What Open MPI says of its algorithms: the one whose launcher it is, or that in the PATH; empty if it can't be asked.
std::string openmpi_info(const std::string& launcher) {
  auto asked = launch::find_program("ompi_info");
  if (const auto path = launch::find_program(launcher)) {
    const std::filesystem::path beside = path->parent_path() / "ompi_info";
    if (std::filesystem::exists(beside)) asked = beside;
  }
  if (!asked) return "";
  return launch::run({*asked, "--param", "coll", "tuned", "--level", "9", "--parsable"}).text;
}

class Tuner {
 public:
  Tuner(Launching launching, const Tuning& tuning)
      : launching_(std::move(launching)),
        tuning_(tuning),
        collectives_(tuning.collectives.empty() ? native::tunable_collectives(launching_.library) : tuning.collectives),
        sizes_(measure::parse_sizes(tuning.sizes)) {
    report_.library = launching_.library;
    report_.provenance.command =
        fmt::format("quadrille tune --native --sizes {} --segments {} --each {} --rounds {}{} -- {}", tuning.sizes,
                    tuning.segments, tuning.each, tuning.rounds,
                    tuning.minutes ? fmt::format(" --time {}", *tuning.minutes) : "", command_line(launching_.words));
  }

  int run();

 private:
  using Plan = std::vector<native::Algorithm>;

  // The default between all others, which come in turn and in reverse, so that a drift is no algorithm's.
  Plan plan_of(const std::string& collective) const;
  std::vector<native::Algorithm> algorithms_of(const std::string& collective) const;
  static native::Algorithm usual(const std::string& collective) {
    return {collective, std::string(native::by_default)};
  }

  // One collective, within its share of the time. False: that's all.
  bool measure(const Plan& plan);
  // One algorithm at all sizes; more than one launch where one fails. False: that's all.
  bool measure(const native::Algorithm& algorithm);
  FinishedLaunch start(const native::Algorithm& algorithm, std::span<const std::int64_t> sizes) const;
  // Without those at which it failed before.
  std::vector<std::int64_t> sizes_of(const native::Algorithm& algorithm) const;
  void skip(const native::Algorithm& algorithm, std::int64_t bytes, const std::string& why);
  // Of the whole run; infinite without a limit.
  double seconds_left() const;
  bool time_is_up() const { return seconds_since(began_) >= until_; }
  void say_progress(const native::Algorithm& algorithm) const;
  void write(bool complete);

  Launching launching_;
  const Tuning& tuning_;
  std::vector<std::string> collectives_;
  std::vector<std::int64_t> sizes_;
  native::Report report_;
  std::string info_;     // ompi_info's
  std::string library_;  // the bytes of MPICH's
  std::vector<std::int64_t> segments_;
  std::size_t planned_ = 0;  // 0: not known yet
  std::size_t done_ = 0;
  Clock::time_point began_ = Clock::now();
  double until_ = std::numeric_limits<double>::infinity();  // seconds since then: the time of a collective is up
  bool complete_ = true;
  int status_ = 0;
};

std::vector<native::Algorithm> Tuner::algorithms_of(const std::string& collective) const {
  std::vector<native::Algorithm> all = launching_.library == native::Library::mpich
                                           ? native::mpich_algorithms(collective, library_)
                                           : native::openmpi_algorithms(collective, info_, segments_);
  std::erase_if(all, [&](const auto& one) { return !one.needs.can_run_on(report_.provenance.ranks); });
  return all;
}

Tuner::Plan Tuner::plan_of(const std::string& collective) const {
  Plan plan = {usual(collective)};
  std::vector<native::Algorithm> all = algorithms_of(collective);
  for (int round = 0; round < tuning_.rounds; ++round) {
    for (const native::Algorithm& one : all) {
      plan.push_back(one);
      plan.push_back(usual(collective));
    }
    std::reverse(all.begin(), all.end());
  }
  return plan;
}

FinishedLaunch Tuner::start(const native::Algorithm& algorithm, std::span<const std::int64_t> sizes) const {
  launch::Variables variables;
  if (algorithm.name != native::by_default) variables = native::forcing(launching_.library, algorithm);
  Words words = launch::with_variables(launching_.launcher, launching_.words, variables);
  const Words benchmark = {launching_.program, algorithm.collective,
                           "--sizes",          fmt::format("{}", fmt::join(sizes, ",")),
                           "--algorithms",     "none",
                           "--time",           fmt::format("{}", tuning_.each),
                           "--json",           launching_.report};
  words.insert(words.end(), benchmark.begin(), benchmark.end());
  return launch_once(words, launching_.report, tuning_.timeout);
}

std::vector<std::int64_t> Tuner::sizes_of(const native::Algorithm& algorithm) const {
  std::vector<std::int64_t> sizes = sizes_;
  if (algorithm.collective == "barrier") sizes.resize(1);
  if (algorithm.name == native::by_default) return sizes;
  std::erase_if(sizes, [&](std::int64_t bytes) {
    return std::any_of(report_.skipped.begin(), report_.skipped.end(), [&](const native::Skipped& one) {
      return one.collective == algorithm.collective && one.algorithm == algorithm.name && one.bytes == bytes;
    });
  });
  return sizes;
}

void Tuner::skip(const native::Algorithm& algorithm, std::int64_t bytes, const std::string& why) {
  fmt::print(stderr, "quadrille tune: {} {} is skipped at {}: {}\n", algorithm.collective, algorithm.name,
             text::bytes(bytes), why);
  report_.skipped.push_back({algorithm.collective, algorithm.name, bytes, why});
}

bool Tuner::measure(const native::Algorithm& algorithm) {
  const std::vector<std::int64_t> all = sizes_of(algorithm);
  for (std::span<const std::int64_t> sizes = all; !sizes.empty();) {
    if (time_is_up()) {
      complete_ = false;
      break;
    }
    FinishedLaunch launch = start(algorithm, sizes);
    if (launch.signal != 0) {
      status_ = 128 + launch.signal;
      return false;
    }
    if (report_.provenance.ranks == 0 && !launch.points.empty()) {
      const std::string command = report_.provenance.command;
      report_.provenance = std::move(launch.provenance);
      report_.provenance.command = command;
    }
    const std::size_t measured = launch.points.size();
    for (measure::Point& point : launch.points) report_.add(algorithm, point.bytes, std::move(point.seconds));
    // All, or all that differ on so many ranks.
    if (measured >= sizes.size() || (launch.good() && measured > 0)) break;
    if (report_.points.empty()) {
      fmt::print(stderr, "{}quadrille tune: the first launch failed, with the MPI's default: {}\n", launch.errors,
                 reason(launch, tuning_.timeout));
      status_ = 2;
      return false;
    }
    skip(algorithm, sizes[measured], reason(launch, tuning_.timeout));
    sizes = sizes.subspan(measured + 1);
  }
  ++done_;
  return true;
}

void Tuner::say_progress(const native::Algorithm& algorithm) const {
  const std::string of = planned_ == 0 ? "" : fmt::format(" of {}", planned_);
  const double one = done_ == 0 ? 0 : seconds_since(began_) / static_cast<double>(done_);
  const double rest = std::min(one * static_cast<double>(planned_ - done_), std::max(seconds_left(), 0.0));
  const std::string left = done_ == 0 ? "" : fmt::format(", about {} left", text::duration(rest));
  fmt::print(stderr, "quadrille tune: launch {}{}: {} {}{}\n", done_ + 1, of, algorithm.collective, algorithm.name,
             left);
}

double Tuner::seconds_left() const {
  if (!tuning_.minutes) return std::numeric_limits<double>::infinity();
  return 60 * *tuning_.minutes - seconds_since(began_);
}

bool Tuner::measure(const Plan& plan) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (time_is_up()) {
      fmt::print(stderr, "quadrille tune: the time for {} is up: {} of {} launches are left out\n", plan[i].collective,
                 plan.size() - i, plan.size());
      planned_ -= plan.size() - i;
      complete_ = false;
      return true;
    }
    write(false);
    say_progress(plan[i]);
    if (!measure(plan[i])) return false;
  }
  return true;
}

void Tuner::write(bool complete) {
  report_.complete = complete;
  files::replace_file(tuning_.output, to_json(report_));
}

int Tuner::run() {
  if (launching_.library == native::Library::openmpi) {
    info_ = openmpi_info(launching_.words.front());
    if (tuning_.segments != "none") segments_ = measure::parse_sizes(tuning_.segments);
  } else {
    // In the library of MPICH that the benchmark is linked with.
    std::istringstream lines(launch::run({"ldd", launching_.program}).text);
    for (std::string line; std::getline(lines, line) && !report_.trees;) {
      const std::size_t path = line.find("=> /");
      if (line.find("libmpi") == std::string::npos || path == std::string::npos) continue;
      std::string bytes = contents(line.substr(path + 3, line.find(" (", path) - path - 3));
      report_.trees = native::trees_in(bytes);
      if (report_.trees) library_ = std::move(bytes);
    }
  }
  // The first launch tells the number of ranks, by which algorithms are left out.
  say_progress(usual(collectives_.front()));
  if (!measure(usual(collectives_.front()))) return status_;
  std::vector<Plan> plans;
  for (const std::string& collective : collectives_) {
    plans.push_back(plan_of(collective));
    planned_ += plans.back().size();
  }
  plans.front().erase(plans.front().begin());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    // Collectives share the time evenly; what one leaves is for the others.
    until_ = seconds_since(began_) + seconds_left() / static_cast<double>(plans.size() - i);
    if (!measure(plans[i])) return status_;
  }
  write(complete_);
  fmt::print("{} launches, {} points: {}\n", done_, report_.points.size(), tuning_.output);
  return 0;
}

void require_tunable(const std::vector<std::string>& collectives, native::Library library) {
  const std::vector<std::string>& known = native::tunable_collectives(library);
  for (const std::string& one : collectives) {
    if (std::find(known.begin(), known.end(), one) != known.end()) continue;
    throw std::invalid_argument(
        fmt::format("{} has no rules that choose an algorithm of '{}' by size: it has them for {}",
                    native::name(library), one, fmt::join(known, ", ")));
  }
}

// Neither the environment nor the launcher's options may change it.
void require_defaults(const Words& words) {
  for (const std::string& word : words) {
    if (word.starts_with("coll_tuned_") || knowledge::changes_choices(word.substr(0, word.find('=')))) {
      throw std::invalid_argument(fmt::format("the launcher's {} changes the MPI's default: leave it out", word));
    }
  }
  const std::string_view name = knowledge::changing_choices(environ);
  if (!name.empty()) throw std::invalid_argument(fmt::format("{} changes the MPI's default: unset it", name));
}

}  // namespace

int tune_native(const Tuning& tuning) {
  if (tuning.launcher.empty()) {
    throw std::invalid_argument(
        "tune --native starts the launcher itself, which must follow --: quadrille tune --native allreduce -- mpirun "
        "-n 8");
  }
  Launching launching;
  launching.words = tuning.launcher;
  require_defaults(launching.words);
  launching.launcher = require_launcher(launching.words);
  const auto mpi = mpi_of_launch(tuning.mpi, launching.words, launching.launcher);
  if (!mpi) throw std::invalid_argument("this launcher may start either MPI: set --mpi openmpi or --mpi mpich");
  const std::string mpi_name(launch::name(*mpi));
  launching.library = native::library_named(mpi_name).value();
  launching.program = mpi_program(mpi_name);
  launching.report = temporary_report();
  if (!files::is_replaceable(tuning.output)) throw std::invalid_argument(fmt::format("can't write {}", tuning.output));
  require_tunable(tuning.collectives, launching.library);
  if (launching.launcher == launch::Launcher::cluster &&
      std::find(launching.words.begin(), launching.words.end(), "--") == launching.words.end()) {
    launching.words.emplace_back("--");
  }
  return Tuner(std::move(launching), tuning).run();
}

}  // namespace quadrille::tools
