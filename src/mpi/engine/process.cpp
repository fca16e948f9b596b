#include "engine/process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <quadrille/error.hpp>
#include <string>
#include <utility>

#include "engine/places.hpp"
#include "machine/cores.hpp"

namespace quadrille::engine {

namespace {

volatile std::sig_atomic_t signalled = 0;

extern "C" void note_signal(int) {
  signalled = 1;
}

}  // namespace

bool Process::alive() {
  int finalized = 0;
  PMPI_Finalized(&finalized);
  return finalized == 0;
}

Process& Process::get() {
  // Never destroyed: handles of static duration may outlive anything.
  static Process& process = *new Process;
  return process;
}

Process::Process() {
  int level = MPI_THREAD_SINGLE;
  int ranks = 0;
  check(PMPI_Query_thread(&level), "MPI_Query_thread");
  check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  threads_ = level == MPI_THREAD_MULTIPLE;
  crowded_ = machine::ranks_on_node(ranks) > machine::usable_cores();
  patience_ = Patience::of(crowded_);
  requests_.open_unfinished();
  // MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else.
  int key = MPI_KEYVAL_INVALID;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  check(PMPI_Comm_set_attr(MPI_COMM_SELF, key, this), "MPI_Comm_set_attr");
  check(PMPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

const Place& Process::place() {
  const Lock locked = lock();
  if (!place_) place_ = own_place();
  return *place_;
}

int Process::at_finalize(MPI_Comm, int, void* process, void*) {
  static_cast<Process*>(process)->stop_progress();
  auto& residents = static_cast<Process*>(process)->residents_;
  while (!residents.empty()) residents.front()->close();
  static_cast<Process*>(process)->requests_.close_unfinished();
  return MPI_SUCCESS;
}

void Process::enter(Resident& resident, const Habits& habits) {
  residents_.push_back(&resident);
  watched_ |= habits.watched;
  // Blocks that lie unused would be outside anybody's limit.
  if (!habits.keeps_blocks) arena_.keep(0);
  if (habits.signal != 0) std::signal(habits.signal, note_signal);
}

void Process::leave(Resident& resident) {
  std::erase(residents_, &resident);
  std::erase(starved_, &resident);
}

void Process::starve(Resident& resident) {
  if (std::find(starved_.begin(), starved_.end(), &resident) == starved_.end()) starved_.push_back(&resident);
}

// Where all that is awaited is one counter of ours, whoever sets it wakes this rank. Not among threads: another one may
// end what this one sleeps on.
bool Process::rest(Waiter& waiter, bool for_ours) {
  const bool may_be_woken = for_ours && crowded_ && !threads_ && requests_.open() == 0 && starved_.empty();
  const Watched* const watched = may_be_woken ? watch_.only() : nullptr;
  const auto awaited = watched ? watched->awaits_one() : std::nullopt;
  const std::chrono::nanoseconds nap = waiter.rest(awaited.has_value());
  if (nap <= std::chrono::nanoseconds::zero()) return false;
  // Nobody falls asleep without a look at MPI.
  if (awaited && waiter.first_sleep()) {
    const Lock locked = lock();
    if (look()) {
      waiter.busy();
      return false;
    }
  }
  if (awaited) {
    watched->sleep(*awaited, nap);
  } else {
    std::this_thread::sleep_for(nap);
  }
  return true;
}

bool Process::feed() {
  bool happened = false;
  for (Resident* resident : std::exchange(starved_, {})) happened |= resident->pump();
  return happened;
}

bool Process::asked_to_report() {
  if (signalled == 0) return false;
  signalled = 0;
  return true;
}

void Process::call_back(const std::shared_ptr<Callback>& callback) {
  ++callback->due;
  callbacks_.push_back(callback);
  callbacks_wait_.store(true, std::memory_order_relaxed);
  wake();
}

void Process::run_waiting_callbacks() {
  Lock locked = lock();
  if (calling_back_ != std::thread::id()) return;
  calling_back_ = std::this_thread::get_id();
  while (!callbacks_.empty()) {
    const std::shared_ptr<Callback> callback = std::move(callbacks_.front());
    callbacks_.pop_front();
    if (threads_) locked.unlock();
    std::exception_ptr error;
    try {
      callback->function();
    } catch (...) {
      error = std::current_exception();
    }
    if (threads_) locked.lock();
    --callback->due;
    if (error && !callback_error_) {
      callback_error_ = error;
      callback_failed_.store(true, std::memory_order_relaxed);
    }
  }
  callbacks_wait_.store(false, std::memory_order_relaxed);
  calling_back_ = std::thread::id();
}

void Process::rethrow_from_callback() {
  if (!callback_failed_.load(std::memory_order_relaxed)) return;
  std::exception_ptr error;
  {
    const Lock locked = lock();
    error = std::exchange(callback_error_, nullptr);
    callback_failed_.store(false, std::memory_order_relaxed);
  }
  if (error) std::rethrow_exception(error);
}

void Process::start_progress() {
  const Lock locked = lock();
  if (progress_.joinable()) return;
  if (!threads_) {
    throw Error(MPI_ERR_OTHER, "QUADRILLE_PROGRESS=1 needs MPI_THREAD_MULTIPLE: ask for it in MPI_Init_thread");
  }
  stopping_ = false;
  progress_ = std::thread([this] { keep_going(); });
}

void Process::stop_progress() {
  if (!progress_.joinable()) return;
  {
    const Lock locked = lock();
    stopping_ = true;
  }
  work_.notify_one();
  progress_.join();
}

// The progress thread. It sleeps while nothing is under way.
void Process::keep_going() {
  for (Waiter waiter(patience_);;) {
    bool advanced = false;
    {
      Lock locked = lock();
      work_.wait(locked, [this] {
        return stopping_ || requests_.open() > 0 || callbacks_wait_ || !watch_.empty() || !starved_.empty();
      });
      if (stopping_) return;
      advanced = look();
    }
    run_callbacks();
    if (advanced) {
      waiter.busy();
    } else {
      waiter.idle();
    }
  }
}

void Process::report() const {
  std::string text;
  for (const Resident* resident : residents_) text += resident->in_flight();
  if (text.empty()) text = "quadrille: no collective in flight\n";
  std::fputs(text.c_str(), stderr);
}

void Process::report_overdue() {
  const auto now = std::chrono::steady_clock::now();
  std::string text;
  for (Resident* resident : residents_) text += resident->overdue(now);
  std::fputs(text.c_str(), stderr);
}

}  // namespace quadrille::engine
