// One collective over and over:
//
//   mpirun -n 4 loop COLLECTIVE... [--bytes N] [--calls N | --seconds S] [--trace FILE]
//
// Bytes are those of a rank's own data, as of `quadrille bench`: what it sends, or receives if only the root sends.
// With
// --seconds, rank 0 decides how many calls follow and tells the others, so that all ranks stop after the same call. The
// results of the first and the last call are checked, outside the time. --trace writes of each call when it started, in
// seconds from the first, and how long it took on the slowest rank.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

struct Options {
  std::vector<std::string> collectives;
  std::int64_t bytes = 8;
  std::int64_t calls = 0;
  double seconds = 1;
  std::string trace;
};

struct Call {
  double start = 0;
  double seconds = 0;
};

// Element i of a rank's input is rank + i % 1000, of an allgather's, alltoall's and scatter's likewise: sums are exact.
class Collective {
 public:
  Collective(const std::string& name, std::int64_t bytes) : name_(name) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const bool in_blocks = name_ == "alltoall" || name_ == "reduce_scatter_block";  // of which each rank has all
    count_ = static_cast<int>(std::max(bytes / 8 / (in_blocks ? ranks_ : 1), std::int64_t{1}));
    input_.resize(static_cast<std::size_t>(count_) * static_cast<std::size_t>(ranks_));
    output_.resize(input_.size());
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = element(rank_, i);
    call_ = calls(input_.data(), output_.data(), count_, rank_).at(name_);
  }

  using Calls = std::map<std::string, std::function<void()>>;
  static Calls calls(double* in, double* out, int count, int rank) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_DOUBLE;
    return {
        {"barrier", [=] { MPI_Barrier(comm); }},
        {"bcast", [=] { MPI_Bcast(rank == 0 ? in : out, count, type, 0, comm); }},
        {"reduce", [=] { MPI_Reduce(in, out, count, type, MPI_SUM, 0, comm); }},
        {"allreduce", [=] { MPI_Allreduce(in, out, count, type, MPI_SUM, comm); }},
        {"scan", [=] { MPI_Scan(in, out, count, type, MPI_SUM, comm); }},
        {"reduce_scatter_block", [=] { MPI_Reduce_scatter_block(in, out, count, type, MPI_SUM, comm); }},
        {"allgather", [=] { MPI_Allgather(in, count, type, out, count, type, comm); }},
        {"alltoall", [=] { MPI_Alltoall(in, count, type, out, count, type, comm); }},
        {"gather", [=] { MPI_Gather(in, count, type, out, count, type, 0, comm); }},
        {"scatter", [=] { MPI_Scatter(in, count, type, out, count, type, 0, comm); }},
    };
  }

  void run() { call_(); }
  void forget() { std::fill(output_.begin(), output_.end(), -1.0); }

  // Of the last call, on this rank.
  bool is_right() const {
    for (std::size_t i = 0; i < results(); ++i) {
      if (output_[i] != expected(i)) return false;
    }
    return true;
  }

 private:
  static double element(int rank, std::size_t i) { return rank + static_cast<double>(i % 1000); }

  std::size_t results() const {
    const bool at_root = name_ == "reduce" || name_ == "gather";
    if (name_ == "barrier" || (at_root && rank_ != 0) || (name_ == "bcast" && rank_ == 0)) return 0;
    const bool many = name_ == "allgather" || name_ == "alltoall" || name_ == "gather";
    return many ? output_.size() : static_cast<std::size_t>(count_);
  }

  double expected(std::size_t i) const {
    const auto count = static_cast<std::size_t>(count_);
    const auto mine = static_cast<std::size_t>(rank_) * count;  // where this rank's block starts
    const double of_ranks = ranks_ * (ranks_ - 1) / 2.0;
    if (name_ == "bcast") return element(0, i);
    if (name_ == "scatter") return element(0, mine + i);
    if (name_ == "alltoall") return element(static_cast<int>(i / count), mine + i % count);
    if (name_ == "allgather" || name_ == "gather") return element(static_cast<int>(i / count), i % count);
    if (name_ == "scan") return (rank_ + 1) * element(0, i) + rank_ * (rank_ + 1) / 2.0;
    return ranks_ * element(0, name_ == "reduce_scatter_block" ? mine + i : i) + of_ranks;
  }

  std::string name_;
  int rank_ = 0;
  int ranks_ = 1;
  int count_ = 1;
  std::vector<double> input_;
  std::vector<double> output_;
  std::function<void()> call_;
};

class Loop {
 public:
  Loop(const Options& options, Collective& collective) : options_(options), collective_(collective) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  // Whether the results were right on all ranks.
  bool run() {
    bool right = checked_call();
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::int64_t more = next(); more > 0; more = next()) {
      const double start = MPI_Wtime();
      for (std::int64_t i = 0; i < more; ++i) call();
      seconds_ += MPI_Wtime() - start;
    }
    right = checked_call() && right;
    int wrong = right ? 0 : 1;
    int anywhere = 0;
    MPI_Allreduce(&wrong, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return anywhere == 0;
  }

  std::int64_t calls() const { return calls_; }
  double seconds() const {
    double slowest = 0;
    MPI_Allreduce(&seconds_, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }

  void write_trace() const {
    std::vector<double> times;
    for (const Call& one : trace_) times.push_back(one.seconds);
    std::vector<double> slowest(times.size());
    MPI_Reduce(times.data(), slowest.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank_ != 0) return;
    std::FILE* const file = std::fopen(options_.trace.c_str(), "w");
    if (!file) return std::perror(options_.trace.c_str());
    std::fprintf(file, "# the first call at %.6f, in seconds since 1970\n", epoch_);
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      std::fprintf(file, "%.6f %.9f\n", trace_[i].start - trace_[0].start, slowest[i]);
    }
    std::fclose(file);
  }

 private:
  void call() {
    const bool traced = !options_.trace.empty();
    const double start = traced ? MPI_Wtime() : 0;
    collective_.run();
    if (traced) trace_.push_back({start, MPI_Wtime() - start});
    ++calls_;
  }

  bool checked_call() {
    collective_.forget();
    MPI_Barrier(MPI_COMM_WORLD);
    if (calls_ == 0)
      epoch_ = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const double start = MPI_Wtime();
    call();
    seconds_ += MPI_Wtime() - start;
    return collective_.is_right();
  }

  // How many calls follow, but for the last: all; or what the time allows, but at most three times those so far, and
  // for a tenth of the time, since calls may get slower.
  std::int64_t next() {
    if (options_.calls > 0) return options_.calls - 1 - calls_;
    const double left = std::min(options_.seconds - seconds_, options_.seconds / 10);
    const auto fit = static_cast<std::int64_t>(left / seconds_ * static_cast<double>(calls_));
    std::int64_t more = left > 0 ? std::clamp(fit, std::int64_t{1}, 3 * calls_) : 0;
    MPI_Bcast(&more, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return more;
  }

  const Options& options_;
  Collective& collective_;
  int rank_ = 0;
  std::int64_t calls_ = 0;
  double seconds_ = 0;
  double epoch_ = 0;
  std::vector<Call> trace_;
};

// Returns whether the command line is valid.
bool parse(int argc, char** argv, Options& options) {
  const Collective::Calls known = Collective::calls(nullptr, nullptr, 0, 0);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_option = word.starts_with("--");
    if (is_option && ++i == argc) return false;
    if (!is_option && known.count(word) == 0) return false;
    if (!is_option) options.collectives.push_back(word);
    if (word == "--bytes") {
      options.bytes = std::atoll(argv[i]);
    } else if (word == "--calls") {
      options.calls = std::atoll(argv[i]);
    } else if (word == "--seconds") {
      options.seconds = std::atof(argv[i]);
    } else if (word == "--trace") {
      options.trace = argv[i];
    } else if (is_option) {
      return false;
    }
  }
  return !options.collectives.empty() && options.bytes > 0 && options.calls != 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Options options;
  const bool valid = parse(argc, argv, options);
  if (!valid && rank == 0) {
    std::fprintf(stderr,
                 "usage: loop COLLECTIVE... [--bytes N] [--calls N, at least 2 | --seconds S] [--trace FILE]\n");
  }
  int status = valid ? 0 : 2;
  double seconds = 0;
  for (std::size_t i = 0; valid && i < options.collectives.size(); ++i) {
    Collective collective(options.collectives[i], options.bytes);
    Loop loop(options, collective);
    const bool right = loop.run();
    if (!right) status = 1;
    seconds += loop.seconds();
    if (rank == 0) {
      std::printf("%s: %s\ncalls: %lld\n", options.collectives[i].c_str(), right ? "right" : "WRONG",
                  static_cast<long long>(loop.calls()));
    }
    if (!options.trace.empty()) loop.write_trace();
  }
  if (valid && rank == 0) std::printf("seconds: %.6f\n", seconds);
  MPI_Finalize();
  return status;
}
