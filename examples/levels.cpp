// A four-level allreduce composed of persistent collectives that start one another: ranks reduce inside groups of two,
// such as a socket, their leaders inside groups of two, such as a node, and so on; at the top the leaders run an
// allreduce, and the result is broadcast down. Every collective is initialised once, and its completion starts the
// next: one start() starts the whole chain, without waiting in between.
//
// The library has this built in, for the levels of the machine: QUADRILLE_ALGORITHM=allreduce=hierarchical.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <quadrille/quadrille.hpp>
#include <span>
#include <vector>

namespace {

class LevelledAllreduce {
 public:
  // `widths`: the size of a group on each level, from the innermost; one more level joins the rest.
  LevelledAllreduce(MPI_Comm comm, std::span<const int> widths, std::span<double> data) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    int below = 1;  // ranks that a member of the level represents
    std::vector<quadrille::Persistent> ways_down;
    for (const int width : widths) {
      const bool member = rank % below == 0;
      if (const auto group = split(comm, member ? rank / (below * width) : MPI_UNDEFINED)) {
        groups_.emplace_back(*group);
        add_reduce(groups_.back(), data);
        ways_down.push_back(groups_.back().bcast_init(data, 0));
      }
      below *= width;
    }
    if (const auto top = split(comm, rank % below == 0 ? 0 : MPI_UNDEFINED)) {
      groups_.emplace_back(*top);
      stages_.push_back(groups_.back().allreduce_init(data, data, std::plus{}));
    }
    while (!ways_down.empty()) {
      stages_.push_back(std::move(ways_down.back()));
      ways_down.pop_back();
    }
    // The chain. On each communicator collectives start in the same order on all ranks: those of the levels above a
    // group come between its reduce and its broadcast.
    for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
      stages_[i].then([&next = stages_[i + 1]] { next.start(); });
    }
  }

  void start() {
    done_ = 0;
    stages_.front().start();
  }
  // Makes progress; returns whether the chain is complete. A collective is complete once it has started the next.
  bool test() {
    while (done_ < stages_.size() && stages_[done_].test()) ++done_;
    return done_ == stages_.size();
  }
  void wait() {
    for (; done_ < stages_.size(); ++done_) stages_[done_].wait();
  }
  std::size_t stages() const { return stages_.size(); }

 private:
  // A communicator of the ranks with the same group, freed at the end.
  class Split {
   public:
    Split(MPI_Comm comm, int group) { MPI_Comm_split(comm, group, 0, &comm_); }
    Split(const Split&) = delete;
    Split& operator=(const Split&) = delete;
    ~Split() {
      if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
    MPI_Comm operator*() const { return comm_; }

   private:
    MPI_Comm comm_ = MPI_COMM_NULL;
  };
  static Split split(MPI_Comm comm, int group) { return {comm, group}; }

  // In place on the leader, rank 0 of the group.
  void add_reduce(quadrille::Communicator& group, std::span<double> data) {
    const bool leads = group.rank() == 0;
    stages_.push_back(group.reduce_init(leads ? MPI_IN_PLACE : data.data(), leads ? data.data() : nullptr,
                                        static_cast<std::int64_t>(data.size()), MPI_DOUBLE, MPI_SUM, 0));
  }

  std::vector<quadrille::Communicator> groups_;
  std::vector<quadrille::Persistent> stages_;
  std::size_t done_ = 0;
};

bool run() {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> data(1000);
  const std::array widths = {2, 2, 2};
  LevelledAllreduce sum(MPI_COMM_WORLD, widths, data);

  bool right = true;
  for (int round = 1; round <= 3; ++round) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = round * (rank + static_cast<double>(i));
    sum.start();
    for (int work = 0; work < 1000 && !sum.test(); ++work) {
      // Computation goes here.
    }
    sum.wait();
    for (std::size_t i = 0; i < data.size(); ++i) {
      right &= data[i] == round * (ranks * (ranks - 1) / 2.0 + ranks * static_cast<double>(i));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%zu collectives in a chain: %s\n", sum.stages(), right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool right = run();
  MPI_Finalize();
  return right ? 0 : 1;
}
