#include "interpose/learning.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "interpose/errors.hpp"
#include "learn/memory.hpp"
#include "settings/machine.hpp"

namespace quadrille::interpose {

namespace {

using engine::check;

// Jobs are killed when their time is over: what was learned is written now and then, and more seldom where that takes
// long.
constexpr std::chrono::seconds until_written(60);
constexpr int times_of_writing = 1000;
// A program may make communicators again and again.
constexpr std::size_t most_freed = 4096;

int rank_on(MPI_Comm comm) {
  int rank = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

}  // namespace

// Checked mode is for ranks that call differently: then they must not be waiting for each other here.
void Learning::begin(Settings& settings, bool threads) {
  settings_ = &settings;
  if (settings.off || settings.check) settings.learn = 0;
  if (settings.learn <= 0) return;
  int ranks = 0;
  check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  // Calls before which ranks meet are not those that programs make.
  writes_ = rank_on(MPI_COMM_WORLD) == 0 && !(settings.trace && settings.trace_waits);
  // Where other threads may be in calls of their own, only the end of the job is quiet enough.
  writes_early_ = writes_ && !threads;
  write_at_ = Trial::Clock::now() + until_written;
  const engine::Rules rules = writes_ ? recalled(ranks) : engine::Rules();
  settings.remembered = engine::agreed_rules(&rules, MPI_COMM_WORLD);
}

// On rank 0 alone, while the others wait. The program may change its folder and its environment afterwards.
engine::Rules Learning::recalled(int ranks) noexcept {
  engine::Rules rules;
  try {
    folder_ = learned_folder_here();
    mpi_ = engine::mpi_name();
    const learn::Recalled found = learn::recall(folder_, mpi_);
    complain(found.complaint);
    for (const learn::Finding& one : found.findings) {
      if (one.ranks <= ranks) rules.push_back({one.rule, one.ranks, one.nodes, one.seconds, one.native_seconds});
    }
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return rules;
}

std::unique_ptr<learn::Lessons> Learning::begin_on(MPI_Comm comm, const Selector& selector,
                                                   const learn::Credit& credit) {
  if (settings_->learn <= 0 || selector.placement().ranks < 2) return nullptr;
  const std::span<const PlacedRule> remembered =
      settings_->remembered ? std::span(*settings_->remembered) : std::span<const PlacedRule>();
  auto lessons = std::make_unique<learn::Lessons>(selector, remembered, settings_->learn, credit);
  const std::lock_guard lock(mutex_);
  on_.emplace(lessons.get(), comm);
  return lessons;
}

void Learning::end_on(const learn::Lessons& lessons, int rank) {
  const std::lock_guard lock(mutex_);
  const auto known = on_.find(&lessons);
  if (known == on_.end()) return;
  if (rank == 0 && freed_.size() < most_freed) {
    const std::vector<Learned> learned = learned_on(known->second, lessons);
    freed_.insert(freed_.end(), learned.begin(), learned.end());
  }
  on_.erase(known);
}

void Learning::meet(learn::Lesson& lesson, MPI_Comm comm) {
  const auto start = Trial::Clock::now();
  check(PMPI_Barrier(comm), "MPI_Barrier");
  lesson.met(std::chrono::duration<double>(Trial::Clock::now() - start).count());
}

void Learning::agree(learn::Lesson& lesson, MPI_Comm comm) {
  learn::Lesson::Word all = lesson.word();
  const auto start = Trial::Clock::now();
  check(PMPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_MAX, comm),
        "MPI_Allreduce");
  const auto now = Trial::Clock::now();
  lesson.agree(all, std::chrono::duration<double>(now - start).count());
  if (lesson.cost() > 0) round_seconds_ = lesson.cost();
  if (!writes_early_ || now < write_at_) return;
  remember(known_here(true));
  const auto written = Trial::Clock::now();
  write_at_ = written + std::max<Trial::Clock::duration>(until_written, times_of_writing * (written - now));
}

// On this rank's communicators; each of them has one rank 0, which speaks for all when all are asked.
std::vector<Learned> Learning::known_here(bool where_not_first) const {
  const std::lock_guard lock(mutex_);
  std::vector<Learned> all = freed_;
  for (const auto& [lessons, comm] : on_) {
    if (!where_not_first && rank_on(comm) != 0) continue;
    const std::vector<Learned> learned = learned_on(comm, *lessons);
    all.insert(all.end(), learned.begin(), learned.end());
  }
  return all;
}

void Learning::remember(std::span<const Learned> all) noexcept {
  if (all.empty() || folder_.empty()) return;
  try {
    complain(learn::remember(folder_, findings_of(all, mpi_)));
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

void Learning::complain(const std::string& complaint) noexcept {
  if (!complaint.empty() && !std::exchange(complained_, true)) say(complaint);
}

std::vector<Learned> Learning::end() {
  if (!settings_ || settings_->learn <= 0) return {};
  std::vector<Learned> all = of_all_ranks(known_here(false));
  if (writes_) remember(all);
  writes_early_ = false;
  const std::lock_guard lock(mutex_);
  on_.clear();
  return all;
}

}  // namespace quadrille::interpose
