#include "bench/session.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "algorithms/catalogue.hpp"
#include "machine/load.hpp"
#include "text/quantities.hpp"

namespace quadrille::bench {

namespace {

constexpr double least_observed = 0.5;  // seconds; the system counts in hundredths
constexpr double sync_every = 10;       // seconds; how fast clocks drift apart is learned, and small
// A repeat is long against the start of it: by the clock, or by a scheduler that has to wake many ranks on few cores.
constexpr double least_repeat = 500e-6;
constexpr double least_repeat_oversubscribed = 10e-3;

// Of progress: a line that is overwritten, or one now and then.
bool on_terminal() {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  return terminal;
}

// QUADRILLE_BENCH_LATE=RANK:SECONDS makes that rank late by up to so much: a test of the benchmark itself.
double lateness_of(int rank) {
  const char* value = std::getenv("QUADRILLE_BENCH_LATE");
  int late_rank = -1;
  double seconds = 0;
  char colon = 0;
  if (!value || !(std::istringstream(value) >> late_rank >> colon >> seconds) || late_rank != rank) return 0;
  return seconds;
}

// Sizes that come down to the same blocks are one cell.
std::vector<Exercise> exercises_of(const measure::BenchOptions& options, const Place& place) {
  std::vector<Exercise> all;
  for (Collective collective : options.collectives) {
    const bool sized = traits(collective).moves_data();
    for (std::int64_t bytes : sized ? options.sizes : std::vector<std::int64_t>{0}) {
      Exercise one(collective, bytes, place.rank, place.ranks);
      const bool known = std::any_of(all.begin(), all.end(), [&one](const Exercise& other) {
        return other.collective() == one.collective() && other.bytes() == one.bytes();
      });
      if (!known) all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace

Session::Session(MPI_Comm comm, const measure::BenchOptions& options)
    : comm_(comm),
      options_(options),
      control_(comm),
      measured_(api::context_of(comm)),
      clocks_(comm),
      place_(place_of(control_, clocks_)),
      goal_(options.goal),
      progress_({}, goal_),
      late_(lateness_of(place_.rank)),
      lateness_(options.seed) {
  prctl(PR_SET_TIMERSLACK, 1UL);  // to wake up in time
  synced_at_ = shown_at_ = clocks_.now();
  std::vector<int> points;
  for (Exercise& exercise : exercises_of(options, place_)) {
    if (!exercise.refusal().empty()) {
      miss(exercise.refusal());  // before anything is measured, which may take hours
      continue;
    }
    std::vector<Candidate> ways = candidates_of(options, exercise, *measured_);
    points.push_back(static_cast<int>(ways.size()));
    tasks_.push_back({std::move(exercise), std::move(ways)});
  }
  const int all = std::accumulate(points.begin(), points.end(), 0);
  if (options.total > 0 && all > 0) goal_.seconds = options.total / all;
  progress_ = measure::Progress(std::move(points), goal_);
  compare_uncertainties();
}

measure::TableColumns Session::columns() const {
  measure::TableColumns columns;
  for (const Task& task : tasks_) {
    columns.floor |= floor_of(task.exercise.collective(), task.exercise.bytes(), place_).has_value();
    for (const Candidate& one : task.variants) columns.variant = std::max(columns.variant, one.name.size());
  }
  return columns;
}

// Nobody can end an allreduce before all have begun it, but the root of a broadcast can. A barrier and whatever gives
// every rank something of all others keep ranks together; of the rest, calls back to back would run as a pipeline.
measure::CellOptions Session::cell_options(const Task& task) const {
  const Traits of = traits(task.exercise.collective());
  const auto named = std::find_if(task.variants.begin(), task.variants.end(),
                                  [](const Candidate& one) { return !one.algorithm.empty(); });
  return {.least_repeat = place_.oversubscribed ? least_repeat_oversubscribed : least_repeat,
          .one_call = of.rooted || of.prefix,
          .rooted = of.rooted,
          .own_cores = !place_.oversubscribed,
          .kept = static_cast<int>(named - task.variants.begin())};
}

void Session::miss(const std::string& why) {
  complete_ = false;
  if (place_.rank == 0) fmt::print(stderr, "quadrille bench: not measured: {}\n", why);
}

void Session::run(measure::Report& report, const CellDone& cell_done) {
  if (place_.rank == 0 && !options_.quiet) fmt::print(stderr, "quadrille bench: {}\n", progress_.announcement());
  load_before_ = load_of_ranks();
  began_ = clocks_.now();
  progress_.begin(began_);
  report.complete = false;
  for (const Task& task : tasks_) {
    if (!share_out_time()) return;
    std::vector<measure::Point> points = run_cell(task);
    progress_.end_cell(clocks_.now());
    compare_uncertainties();
    load_now_ = load_of_ranks();
    if (place_.rank != 0) continue;
    clear_progress();
    measure::summarise(points);
    report.provenance.clock_uncertainty = place_.clock_uncertainty;
    report.points.insert(report.points.end(), points.begin(), points.end());
    judge_machine(report);
    cell_done(points);
  }
  report.complete = true;
}

// What is left of the time of all points is shared by those that are left. Returns whether anything is.
bool Session::share_out_time() {
  if (options_.total == 0) return true;
  double left = began_ + options_.total - clocks_.now();
  control_.bcast(&left, 1, MPI_DOUBLE, 0);
  std::size_t points = 0;
  for (std::size_t i = progress_.done(); i < tasks_.size(); ++i) points += tasks_[i].variants.size();
  if (left <= 0 && place_.rank == 0) {
    fmt::print(stderr, "quadrille bench: the time is up: {} of {} cells are not measured\n",
               tasks_.size() - progress_.done(), tasks_.size());
  }
  if (left <= 0) return false;
  goal_.seconds = left / static_cast<double>(points);
  return true;
}

// To rank 0, by rank.
std::vector<measure::RankLoad> Session::load_of_ranks() {
  const machine::Load load = machine::load();
  const measure::RankLoad mine{
      .machine = machine::identity(), .processors = machine::processors(), .busy = load.busy, .own = load.own};
  std::vector<measure::RankLoad> all(static_cast<std::size_t>(place_.ranks));
  control_.gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0);
  return all;
}

// Says what is wrong as soon as it is known.
void Session::judge_machine(measure::Report& report) {
  const double seconds = clocks_.now() - began_;
  measure::Provenance& from = report.provenance;
  const measure::MachineLoad load =
      seconds < least_observed ? measure::MachineLoad{} : load_between(load_before_, load_now_, seconds);
  from.other_load = load.others;
  from.warnings = measure::warnings(load, report.points);
  if (from.warnings.size() > warned_) fmt::print(stderr, "quadrille bench: warning: {}\n", from.warnings.back());
  warned_ = std::max(warned_, from.warnings.size());
}

void Session::compare_uncertainties() {
  const double mine = clocks_.uncertainty();
  control_.allreduce(&mine, &place_.clock_uncertainty, 1, MPI_DOUBLE, MPI_MAX);
}

std::vector<measure::Point> Session::run_cell(const Task& task) {
  const Exercise& exercise = task.exercise;
  Scene scene{task, Buffers(exercise.input_bytes(), exercise.output_bytes(), place_.neighbours, options_.warm)};
  measure::Cell cell(static_cast<int>(task.variants.size()), place_.ranks, goal_, cell_options(task),
                     options_.seed + progress_.done());
  const std::vector<std::string> same_as =
      twins_of(task.variants, exercise, scene.buffers, cell.roots(), *measured_, control_);
  std::vector<measure::Timing> timings(static_cast<std::size_t>(place_.ranks));
  for (;;) {
    measure::Instruction instruction = place_.rank == 0 ? next(cell, task.variants) : measure::Instruction{};
    control_.bcast(&instruction, sizeof instruction, MPI_BYTE, 0);
    if (instruction.variant < 0 && instruction.sync == 0) break;
    if (instruction.sync != 0) {
      clocks_.sync();
      continue;
    }
    const measure::Timing mine = perform(scene, instruction);
    control_.gather(&mine, sizeof mine, MPI_BYTE, timings.data(), sizeof mine, MPI_BYTE, 0);
    if (place_.rank != 0) continue;
    cell.record(timings, scene.refusal);
    show_progress(task, cell);
  }
  return place_.rank == 0 ? points_of(task, cell, same_as) : std::vector<measure::Point>{};
}

std::vector<measure::Point> Session::points_of(const Task& task, const measure::Cell& cell,
                                               std::span<const std::string> twins) {
  const std::string_view collective = name(task.exercise.collective());
  const std::int64_t bytes = task.exercise.bytes();
  if (cell.given_up()) {
    miss(fmt::format("{}, {}: given up after {} rounds, since a rank was late for every start", collective,
                     text::bytes(bytes), cell.rounds()));
  }
  std::vector<measure::Point> points;
  for (std::size_t i = 0; i < task.variants.size(); ++i) {
    const Candidate& variant = task.variants[i];
    const measure::Cell::Variant& measured = cell.variants()[i];
    if (!measured.usable) fmt::print(stderr, "{}: {}\n", variant.name, measured.refusal);
    if (!measured.usable || cell.rounds() == 0) continue;
    measure::Point point;
    point.collective = collective;
    point.bytes = bytes;
    point.variant = variant.name;
    point.seconds.assign(measured.seconds.begin(), measured.seconds.begin() + cell.rounds());
    point.discarded = measured.discarded;
    point.calls = cell.calls();
    point.steps = variant.steps;
    point.price = variant.price;
    point.floor = floor_of(task.exercise.collective(), bytes, place_);
    point.settled = cell.settled(measured);
    point.same_as = twins[i];
    points.push_back(std::move(point));
  }
  return points;
}

measure::Instruction Session::next(measure::Cell& cell, const std::vector<Candidate>& variants) {
  const double now = clocks_.now();
  if (place_.nodes > 1 && now - synced_at_ > sync_every) {
    synced_at_ = now;
    return {.sync = 1};
  }
  measure::Instruction instruction = cell.next(now, options_.pause);
  if (instruction.variant < 0) return instruction;
  instruction.delay = variants[static_cast<std::size_t>(instruction.variant)].delay * cell.variants().front().probed();
  return instruction;
}

measure::Timing Session::perform(Scene& scene, const measure::Instruction& instruction) {
  if (late_ > 0) {
    const double seconds = std::uniform_real_distribution(0.0, late_)(lateness_);
    clocks_.wait_until(clocks_.now() + seconds, !place_.oversubscribed);
  }
  measure::Timing timing{.arrived = clocks_.now()};
  clocks_.wait_until(instruction.start, !place_.oversubscribed);
  timing.began = clocks_.now();
  try {
    for (int i = 0; i < instruction.calls; ++i) call(scene, instruction);
  } catch (const Error& error) {  // a refusal, the same on every rank, before a byte has moved
    timing.refused = 1;
    scene.refusal = error.what();
  }
  timing.ended = clocks_.now();
  return timing;
}

void Session::call(Scene& scene, const measure::Instruction& instruction) {
  const Candidate& variant = scene.task.variants[static_cast<std::size_t>(instruction.variant)];
  const Buffers::Pair buffers = scene.buffers.next();
  if (variant.ours) {
    scene.task.exercise.ours(buffers.input, buffers.output, instruction.root, *measured_,
                             {.algorithm = variant.algorithm});
  } else {
    scene.task.exercise.native(buffers.input, buffers.output, instruction.root, comm_);
  }
  if (instruction.delay > 0) clocks_.wait_until(clocks_.now() + instruction.delay, !place_.oversubscribed);
}

void Session::show_progress(const Task& task, const measure::Cell& cell) {
  if (options_.quiet) return;
  const double now = clocks_.now();
  if (now - shown_at_ < (on_terminal() ? 0.1 : 10)) return;
  shown_at_ = now;
  const std::string line =
      fmt::format("{} of {}: {} {}, {} variants, {} rounds; about {} left", progress_.done() + 1, progress_.cells(),
                  name(task.exercise.collective()), text::bytes(task.exercise.bytes()), cell.variants().size(),
                  cell.rounds(), text::duration(progress_.left(now)));
  if (on_terminal()) {
    fmt::print(stderr, "\r{:<78}\r", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

void Session::clear_progress() const {
  if (on_terminal()) fmt::print(stderr, "{:<78}\r", "");
}

}  // namespace quadrille::bench
