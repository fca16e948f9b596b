#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/mpi.hpp"
#include "engine/rules.hpp"
#include "interpose/learned.hpp"
#include "learn/lessons.hpp"
#include "select/selector.hpp"
#include "settings/settings.hpp"

namespace quadrille::interpose {

// A call about to be made, that a lesson counts and times if it wants to know how long it takes, or whose time is added
// to a sum, several times, as no more than `most`.
class Trial {
 public:
  using Clock = std::chrono::steady_clock;

  Trial() = default;
  explicit Trial(learn::Lesson& lesson) {
    if (lesson.timed()) {
      lesson_ = &lesson;
      start_ = Clock::now();
    } else {
      lesson.ran();
    }
  }
  Trial(double& sum, int times, double most) : sum_(&sum), times_(times), most_(most), start_(Clock::now()) {}
  // The call was made, or failed: it must be counted on all ranks.
  void end() {
    if (lesson_) std::exchange(lesson_, nullptr)->ran(seconds());
    if (sum_) *std::exchange(sum_, nullptr) += times_ * std::min(seconds(), most_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  learn::Lesson* lesson_ = nullptr;
  double* sum_ = nullptr;
  int times_ = 1;
  double most_ = 0;
  Clock::time_point start_;
};

// What the program's own calls teach, on all communicators, and what becomes of it when the job ends.
class Learning {
 public:
  // After MPI_Init, with settings that all ranks agree on, which must outlive it. Collective over MPI_COMM_WORLD: every
  // rank gets what rank 0 finds in the user's cache. `threads`: several may be in calls at once.
  void begin(Settings& settings, bool threads);
  // The lessons of a communicator; null: nothing is to be learned.
  std::unique_ptr<learn::Lessons> begin_on(MPI_Comm comm, const Selector& selector, const learn::Credit& credit);
  // The communicator is about to be freed, on which this rank has that number.
  void end_on(const learn::Lessons& lessons, int rank);

  // Seconds that the ranks of a communicator have last waited for each other in a round of trials; 0: in none yet.
  double round_seconds() const { return round_seconds_; }

  // A lesson's next call, which begins now.
  struct Turn {
    Variant variant;  // that runs it; none: the MPI's own function
    bool trial = false;
    Trial time;
  };
  // In a call that all ranks of the communicator make: they agree first, if it is time.
  Turn next(learn::CaseLesson& about, MPI_Comm comm) {
    if (about.lesson.must_agree()) agree(about.lesson, comm);
    if (about.lesson.must_meet()) meet(about.lesson, comm);
    const Variant variant = about.next();
    const bool trial = about.lesson.on_trial();
    return {variant, trial, Trial(about.lesson)};
  }

  // Before MPI_Finalize, collective over MPI_COMM_WORLD: rank 0 writes all that was learned to the user's cache, and
  // returns it.
  std::vector<Learned> end();

 private:
  void agree(learn::Lesson& lesson, MPI_Comm comm);
  static void meet(learn::Lesson& lesson, MPI_Comm comm);
  std::vector<Learned> known_here(bool where_not_first) const;
  void remember(std::span<const Learned> all) noexcept;
  void complain(const std::string& complaint) noexcept;
  engine::Rules recalled(int ranks) noexcept;

  const Settings* settings_ = nullptr;
  bool writes_ = false;        // this rank does, at the end
  bool writes_early_ = false;  // and now and then before
  std::string folder_;
  std::string mpi_;
  bool complained_ = false;  // of it: nobody needs to know twice
  Trial::Clock::time_point write_at_;
  std::atomic<double> round_seconds_ = 0;
  mutable std::mutex mutex_;
  std::map<const learn::Lessons*, MPI_Comm> on_;  // under the mutex
  std::vector<Learned> freed_;                    // likewise: of communicators that are freed, whose rank 0 this was
};

}  // namespace quadrille::interpose
