#include "bench/session.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "algorithms/catalogue.hpp"
#include "machine/cores.hpp"
#include "text/quantities.hpp"

namespace quadrille::bench {

namespace {

constexpr double sync_every = 10;  // seconds; how fast clocks drift apart is learned, and small
// A repeat is long against the start of it: by the clock, or by a scheduler that has to wake many ranks on few cores.
constexpr double least_repeat = 500e-6;
constexpr double least_repeat_oversubscribed = 10e-3;

double from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::atof(value) : 0;
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

Place place_of(Communicator& comm, const Clocks& clocks) {
  Place place;
  place.rank = comm.rank();
  place.ranks = comm.size();
  place.nodes = clocks.nodes();
  place.neighbours = clocks.neighbours();
  place.cores = machine::usable_cores();
  place.rate_bits = from_environment("QUADRILLE_CLUSTER_RATE");
  place.uplink_bits = from_environment("QUADRILLE_CLUSTER_UPLINK");
  // Who has a core of his own waits for others who have none: one node that is short of cores is enough.
  const int crowded = place.neighbours > place.cores ? 1 : 0;
  int anywhere = 0;
  comm.allreduce(&crowded, &anywhere, 1, MPI_INT, MPI_MAX);
  place.oversubscribed = anywhere != 0;
  return place;
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
      exercises_(exercises_of(options, place_)),
      late_(lateness_of(place_.rank)),
      lateness_(options.seed) {
  prctl(PR_SET_TIMERSLACK, 1UL);  // to wake up in time
  synced_at_ = clocks_.now();
}

std::vector<Candidate> Session::variants(const Exercise& exercise) const {
  const Collective collective = exercise.collective();
  std::vector<Candidate> all = {{.name = std::string(measure::native)}};
  if (options_.control) all.push_back({.name = "control"});
  if (options_.delay > 0) all.push_back({.name = "delayed", .delay = options_.delay});
  const auto add = [&](std::string_view name) {
    const Variant choice = variant_named(collective, name);
    const bool known = std::any_of(all.begin(), all.end(), [&](const Candidate& one) { return one.name == name; });
    if (!choice || choice.width < 0 || known) return;
    const Problem problem = exercise.problem(choice, measured_->settings().preferences.segment);
    all.push_back({.name = std::string(name), .ours = true, .algorithm = std::string(name)});
    if (!refusal(choice.algorithm(), problem).empty()) return;
    const auto predicted = predict(choice.algorithm(), problem);
    if (predicted && predicted->steps != Prediction::unknown_steps) all.back().steps = predicted->steps;
  };
  for (const std::string& name : options_.algorithms) {
    if (name == "default") {
      all.push_back({.name = name, .ours = true});
    } else if (name == "all") {
      for (const Algorithm* one : catalogue()) {
        if (one->collective == collective) add(one->name);
      }
    } else {
      add(name);
    }
  }
  return all;
}

// Nobody can end an allreduce before all have begun it, but the root of a broadcast can. A barrier and whatever gives
// every rank something of all others keep ranks together; of the rest, calls back to back would run as a pipeline.
measure::CellOptions Session::cell_options(Collective collective) const {
  const Traits of = traits(collective);
  return {.least_repeat = place_.oversubscribed ? least_repeat_oversubscribed : least_repeat,
          .one_call = of.rooted || of.prefix,
          .rooted = of.rooted,
          .own_cores = !place_.oversubscribed};
}

void Session::miss(const std::string& why) {
  complete_ = false;
  if (place_.rank == 0) fmt::print(stderr, "quadrille bench: not measured: {}\n", why);
}

measure::Report Session::run() {
  measure::Report report;
  // Before anything is measured, which may take hours.
  for (const Exercise& exercise : exercises_) {
    if (!exercise.refusal().empty()) miss(exercise.refusal());
  }
  for (const Exercise& exercise : exercises_) {
    if (exercise.refusal().empty()) run_cell(exercise, report);
    ++cells_done_;
  }
  const double mine = clocks_.uncertainty();
  control_.allreduce(&mine, &place_.clock_uncertainty, 1, MPI_DOUBLE, MPI_MAX);
  measure::summarise(report);
  return report;
}

void Session::run_cell(const Exercise& exercise, measure::Report& report) {
  const std::vector<Candidate> ways = variants(exercise);
  Scene scene{exercise, ways,
              Buffers(exercise.input_bytes(), exercise.output_bytes(), place_.neighbours, options_.warm)};
  measure::Cell cell(static_cast<int>(ways.size()), place_.ranks, options_.goal, cell_options(exercise.collective()),
                     options_.seed + cells_done_);
  std::vector<measure::Timing> timings(static_cast<std::size_t>(place_.ranks));
  for (;;) {
    measure::Instruction instruction = place_.rank == 0 ? next(cell, ways) : measure::Instruction{};
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
    show_progress(exercise, cell);
  }
  if (place_.rank == 0) add_points(exercise, ways, cell, report);
}

void Session::add_points(const Exercise& exercise, const std::vector<Candidate>& ways, const measure::Cell& cell,
                         measure::Report& report) {
  const std::string_view collective = name(exercise.collective());
  if (cell.given_up()) {
    miss(fmt::format("{}, {}: given up after {} rounds, since a rank was late for every start", collective,
                     text::bytes(exercise.bytes()), cell.rounds()));
  }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const measure::Cell::Variant& measured = cell.variants()[i];
    if (!measured.usable) fmt::print(stderr, "{}: {}\n", ways[i].name, measured.refusal);
    if (!measured.usable || cell.rounds() == 0) continue;
    measure::Point point;
    point.collective = collective;
    point.bytes = exercise.bytes();
    point.variant = ways[i].name;
    point.seconds.assign(measured.seconds.begin(), measured.seconds.begin() + cell.rounds());
    point.discarded = measured.discarded;
    point.calls = cell.calls();
    point.steps = ways[i].steps;
    point.floor = floor_of(exercise.collective(), exercise.bytes(), place_);
    point.settled = cell.settled(measured);
    report.points.push_back(std::move(point));
  }
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
  const Candidate& variant = scene.variants[static_cast<std::size_t>(instruction.variant)];
  const Buffers::Pair buffers = scene.buffers.next();
  if (variant.ours) {
    scene.exercise.ours(buffers.input, buffers.output, instruction.root, *measured_, {.algorithm = variant.algorithm});
  } else {
    scene.exercise.native(buffers.input, buffers.output, instruction.root, comm_);
  }
  if (instruction.delay > 0) clocks_.wait_until(clocks_.now() + instruction.delay, !place_.oversubscribed);
}

void Session::show_progress(const Exercise& exercise, const measure::Cell& cell) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  const double now = clocks_.now();
  if (now - shown_at_ < (terminal ? 0.1 : 10)) return;
  shown_at_ = now;
  const std::string line =
      fmt::format("{} of {}: {} {}, {} variants, {} rounds", cells_done_ + 1, exercises_.size(),
                  name(exercise.collective()), text::bytes(exercise.bytes()), cell.variants().size(), cell.rounds());
  if (terminal) {
    fmt::print(stderr, "\r{:<78}\r", line);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

std::optional<double> floor_of(Collective collective, std::int64_t bytes, const Place& place) {
  if (place.rate_bits <= 0 || place.nodes < 2 || bytes == 0) return std::nullopt;
  const auto n = static_cast<double>(bytes);
  const auto nodes = static_cast<double>(place.nodes);
  const double elsewhere = (nodes - 1) / nodes;  // the part of all ranks that is on other nodes
  const double each = static_cast<double>(place.ranks) / nodes;
  const Traits of = traits(collective);
  double crossing = 0;
  switch (collective) {
    case Collective::barrier:
      return std::nullopt;
    case Collective::allreduce:
      crossing = 2 * n * elsewhere;
      break;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      crossing = n * elsewhere;
      break;
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      crossing = each * n * elsewhere;
      break;
    default:
      crossing = of.in_blocks() ? n * static_cast<double>(place.ranks) * elsewhere : n;
  }
  constexpr double with_headers = 1.045;  // of TCP, IP and Ethernet, on full packets
  return crossing * with_headers * 8 / place.rate_bits;
}

}  // namespace quadrille::bench
