// Does reading a peer's memory (process_vm_readv) pay off compared with shared memory? An allreduce of floats between
// two processes on two cores, without a library:
//
//   shared   each copies its data into a ring of slots, copies the other's out and reduces all of it;
//   single   each reads its half of the other's data straight from there, reduces it and puts the result into a ring of
//            slots, from which the other takes it.
//
// single_copy [ROUNDS] prints the best and the mean time of both, by size. Exits with 1 if a result is wrong, with 2 if
// the system does not permit reading the other's memory.

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Counter = std::atomic<std::int64_t>;

constexpr std::int64_t piece = 16384;  // floats
constexpr std::int64_t places = 4;
constexpr int wrong = 1;
constexpr int refused = 2;

// The shared memory of each process. Counters are monotonic.
struct Seat {
  alignas(64) Counter met = 0;
  alignas(64) Counter filled = 0;
  alignas(64) Counter emptied = 0;
  Counter process = 0;
  const float* lent = nullptr;
  alignas(64) std::array<float, piece * places> slots;
};

struct Both {
  std::array<Seat, 2> seats;
};

void wait_for(const Counter& counter, std::int64_t value) {
  while (counter.load(std::memory_order_acquire) < value) {
  }
}

void add(const float* left, const float* right, float* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) target[i] = left[i] + right[i];
}

class Pair {
 public:
  Pair(Both& both, int rank) : own_(both.seats[rank]), other_(both.seats[1 - rank]), rank_(rank) {
    own_.process = getpid();
    wait_for(other_.process, 1);
  }

  void meet() {
    own_.met.store(++meetings_, std::memory_order_release);
    wait_for(other_.met, meetings_);
  }

  // Pieces of `count` floats through the slots: put(offset, count, slot), then, a little later, take likewise.
  template <class Put, class Take>
  void through_slots(std::int64_t count, Put&& put, Take&& take) {
    constexpr std::int64_t ahead = 2;
    const std::int64_t pieces = (count + piece - 1) / piece;
    const auto length = [&](std::int64_t k) { return std::min(piece, count - k * piece); };
    const auto slot = [&](Seat& seat, std::int64_t k) { return seat.slots.data() + k % places * piece; };
    for (std::int64_t k = 0; k < pieces + ahead; ++k) {
      if (k < pieces) {
        wait_for(other_.emptied, passed_ + k + 1 - places);
        put(k * piece, length(k), slot(own_, k));
        own_.filled.store(passed_ + k + 1, std::memory_order_release);
      }
      if (k < ahead) continue;
      const std::int64_t last = k - ahead;
      if (last >= pieces) break;
      wait_for(other_.filled, passed_ + last + 1);
      take(last * piece, length(last), slot(other_, last));
      own_.emptied.store(passed_ + last + 1, std::memory_order_release);
    }
    passed_ += pieces;
  }

  void shared(const float* input, float* output, std::int64_t count) {
    through_slots(
        count, [&](std::int64_t at, std::int64_t length, float* slot) { std::copy_n(input + at, length, slot); },
        [&](std::int64_t at, std::int64_t length, const float* slot) { add(slot, input + at, output + at, length); });
  }

  void single(const float* input, float* output, std::int64_t count) {
    own_.lent = input;
    meet();
    const std::int64_t half = count / 2;
    const std::int64_t mine = rank_ * half;
    const std::int64_t theirs = half - mine;
    through_slots(
        half,
        [&](std::int64_t at, std::int64_t length, float* slot) {
          read(other_.lent + mine + at, length);
          add(fetched_.data(), input + mine + at, output + mine + at, length);
          std::copy_n(output + mine + at, length, slot);
        },
        [&](std::int64_t at, std::int64_t length, const float* slot) {
          std::copy_n(slot, length, output + theirs + at);
        });
  }

 private:
  void read(const float* from, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
    const iovec here{fetched_.data(), bytes};
    const iovec there{const_cast<float*>(from), bytes};
    const auto process = static_cast<pid_t>(other_.process.load(std::memory_order_relaxed));
    if (process_vm_readv(process, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes)) return;
    std::perror("process_vm_readv");
    std::_Exit(refused);
  }

  Seat& own_;
  Seat& other_;
  int rank_;
  std::int64_t meetings_ = 0;
  std::int64_t passed_ = 0;
  std::vector<float> fetched_ = std::vector<float>(piece);
};

struct Times {
  double best = 1e30;
  double sum = 0;
};

// Buffers are used in turn, so that small ones stay in the caches and large ones do not.
bool measure(Pair& pair, std::int64_t bytes, int rounds, bool tell) {
  constexpr std::size_t buffers = 4;
  const std::int64_t count = bytes / std::int64_t{sizeof(float)};
  std::vector<std::vector<float>> inputs(buffers, std::vector<float>(count, 1.5F));
  std::vector<std::vector<float>> outputs(buffers, std::vector<float>(count));
  std::array<Times, 2> times;
  bool right = true;
  for (int round = 0; round < rounds; ++round) {
    std::vector<float>& output = outputs[static_cast<std::size_t>(round) % buffers];
    const std::vector<float>& input = inputs[static_cast<std::size_t>(round) % buffers];
    for (std::size_t way = 0; way < times.size(); ++way) {
      pair.meet();
      const auto start = Clock::now();
      if (way == 0) {
        pair.shared(input.data(), output.data(), count);
      } else {
        pair.single(input.data(), output.data(), count);
      }
      const double took = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      times[way].best = std::min(times[way].best, took);
      times[way].sum += took;
      right &= std::all_of(output.begin(), output.end(), [](float value) { return value == 3.0F; });
      std::fill(output.begin(), output.end(), 0.0F);
      pair.meet();
    }
  }
  if (tell) {
    std::printf("%5ld KiB: shared %8.1f us (mean %8.1f), single %8.1f us (mean %8.1f)\n", bytes >> 10, times[0].best,
                times[0].sum / rounds, times[1].best, times[1].sum / rounds);
    std::fflush(stdout);
  }
  return right;
}

int run(Both& both, int rank, int rounds) {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(rank, &core);
  if (sched_setaffinity(0, sizeof core, &core) != 0) {
    std::perror("sched_setaffinity");
    return refused;
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  Pair pair(both, rank);
  bool right = true;
  for (std::int64_t bytes = 64 << 10; bytes <= 8 << 20; bytes *= 2) right &= measure(pair, bytes, rounds, rank == 0);
  return right ? 0 : wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  void* const memory = mmap(nullptr, sizeof(Both), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (rounds < 1 || memory == MAP_FAILED) {
    std::fputs("usage: single_copy [ROUNDS]\n", stderr);
    return refused;
  }
  Both& both = *new (memory) Both;
  const pid_t child = fork();
  if (child < 0) {
    std::perror("fork");
    return refused;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::_Exit(run(both, 1, rounds));
  }
  const int own = run(both, 0, rounds);
  int status = 0;
  waitpid(child, &status, 0);
  if (own != 0) return own;
  return WIFEXITED(status) ? WEXITSTATUS(status) : wrong;
}
