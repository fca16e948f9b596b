#include "interpose/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <string_view>
#include <system_error>

#include "api/local_call.hpp"
#include "engine/mpi.hpp"
#include "engine/process.hpp"
#include "files/replace.hpp"
#include "interpose/command_line.hpp"
#include "interpose/errors.hpp"
#include "machine/host.hpp"
#include "text/quantities.hpp"

namespace quadrille::interpose {

namespace {

// Bytes that this rank puts into the call, or gets out of it where it puts nothing in.
std::int64_t bytes_of(const detail::Call& call, const Tallies::Known& known) {
  if (!traits(call.collective).moves_data() || known.inter) return 0;
  return api::local_call(call, known.rank, known.ranks, true).bytes(known.ranks);
}

// Collective over MPI_COMM_WORLD; right on rank 0.
int nodes_of(int ranks) {
  const std::uint64_t mine = std::hash<std::string>()(machine::host_name());
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
  PMPI_Gather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return static_cast<int>(std::set<std::uint64_t>(all.begin(), all.end()).size());
}

// The sum and the largest of all ranks, on rank 0.
void add_times(profile::Profile& profile, const std::array<double, collectives>& mine) {
  std::array<double, collectives> sum = {};
  std::array<double, collectives> largest = {};
  PMPI_Reduce(mine.data(), sum.data(), collectives, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(mine.data(), largest.data(), collectives, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (std::size_t row = 0; row < collectives; ++row) {
    if (largest[row] == 0) continue;
    profile.collectives.push_back(
        {std::string(name(static_cast<Collective>(row))), sum[row] / profile.ranks, largest[row]});
  }
}

void add_outcomes(profile::Profile& profile, const Counts& counts) {
  std::array<std::array<std::int64_t, outcomes>, collectives> mine = {};
  std::array<std::array<std::int64_t, outcomes>, collectives> all = {};
  for (std::size_t row = 0; row < collectives; ++row) {
    std::copy(counts[row].begin(), counts[row].end(), mine[row].begin());
  }
  PMPI_Reduce(mine.data(), all.data(), collectives * static_cast<int>(outcomes), MPI_INT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  for (std::size_t row = 0; row < collectives; ++row) {
    for (std::size_t why = 1; why < outcomes; ++why) {
      if (all[row][why] == 0) continue;
      profile.passed.push_back(
          {std::string(name(static_cast<Collective>(row))), std::string(outcome_names[why]), all[row][why]});
    }
  }
}

void add_algorithms(profile::Profile& profile, const std::vector<std::int64_t>& mine) {
  std::vector<std::int64_t> all(mine.size());
  PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  for (std::size_t place = 0; place < all.size(); ++place) {
    const Algorithm& algorithm = *catalogue()[place];
    if (all[place] > 0) {
      profile.algorithms.push_back({std::string(name(algorithm.collective)), std::string(algorithm.name), all[place]});
    }
  }
}

void put(const std::string& path, const profile::Profile& profile) {
  if (path == "-") {
    std::fputs(to_text(profile).c_str(), stderr);
    return;
  }
  try {
    files::replace_file(path, to_json(profile));
  } catch (const std::system_error& error) {
    say(fmt::format("can't write the report to {}: {}; name another file (QUADRILLE_REPORT, --report=)", path,
                    error.code().message()));
  }
}

}  // namespace

void Report::start() {
  tallies_.start();
  started_ = Clock::now();
}

void Report::add(const detail::Call& call, MPI_Comm comm, int code, double seconds, const Algorithm* algorithm) {
  const bool succeeded = code == MPI_SUCCESS;
  Tallies::Known& known = succeeded ? tallies_.of(comm) : tallies_.failed();
  const std::int64_t bytes = succeeded ? bytes_of(call, known) : 0;
  const auto row = static_cast<std::size_t>(call.collective);
  const std::size_t column = profile::size_class(bytes);
  const auto lock = tallies_.lock();
  Tallies::Count& count = known.tally.counts.cells[row][column];
  ++count.calls;
  count.bytes += bytes;
  count.replaced += algorithm ? 1 : 0;
  Tallies::Time& time = known.tally.times[row][column];
  time.all += seconds;
  time.replaced += algorithm ? seconds : 0;
  if (algorithm) ++by_[static_cast<std::size_t>(place_of(*algorithm))];
}

void Report::write(const std::string& path, const Counts& counts, Waits waits, std::vector<profile::Learned> learned) {
  constexpr std::array<std::string_view, 3> names_of_waits = {"MPI's", "yielding", "ours"};
  const double wall = std::chrono::duration<double>(Clock::now() - started_).count();
  const std::int64_t peak = engine::Process::get().arena().peak();
  profile::Profile profile;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &profile.ranks);
  PMPI_Reduce(&wall, &profile.wall_seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&peak, &profile.peak_bytes, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  profile.nodes = nodes_of(profile.ranks);
  tallies_.gather(profile);
  add_times(profile, tallies_.spent());
  add_outcomes(profile, counts);
  add_algorithms(profile, by_);
  if (rank != 0) return;
  profile.program = command_line();
  profile.mpi = engine::mpi_name();
  profile.host = machine::host_name();
  profile.date = text::utc_now();
  profile.waits = names_of_waits[static_cast<std::size_t>(waits)];
  profile.learned = std::move(learned);
  put(path, profile);
}

}  // namespace quadrille::interpose
