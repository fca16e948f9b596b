#include "machine/workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace quadrille::machine {

namespace {

class Jobs {
 public:
  Jobs(std::size_t jobs, const std::function<void(std::size_t job)>& run) : jobs_(jobs), run_(run) {}

  void work() {
    for (std::size_t job = next_++; job < jobs_; job = next_++) {
      try {
        run_(job);
      } catch (...) {
        keep_exception(job);
      }
    }
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  void keep_exception(std::size_t job) {
    const std::lock_guard guard(mutex_);
    if (exception_ && thrown_by_ < job) return;
    exception_ = std::current_exception();
    thrown_by_ = job;
  }

  std::size_t jobs_;
  const std::function<void(std::size_t job)>& run_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::size_t thrown_by_ = 0;
};

}  // namespace

void run_on_threads(int threads, std::size_t jobs, const std::function<void(std::size_t job)>& run) {
  Jobs all(jobs, run);
  std::vector<std::thread> others;
  const std::size_t most = std::min(static_cast<std::size_t>(std::max(1, threads)), jobs);
  try {
    others.reserve(most);
    while (others.size() + 1 < most) others.emplace_back([&] { all.work(); });
  } catch (const std::system_error&) {
    // A limit on processes: with those that there are.
  }
  all.work();
  for (std::thread& one : others) one.join();
  all.rethrow();
}

}  // namespace quadrille::machine
