// Runs schedules under SimGrid, which knows nothing of our model of time: benchmarks/simgrid.py compares the two.
//
//     smpirun ... libsimgrid_judge.so PER_NODE RACK_NODES IN_ORDER MESSAGES FILE
//
// Each line of FILE is a call: a collective, bytes of a rank's data, an algorithm and its segment, or "native" and 0
// for SimGrid's own function. Rank 0 prints a line for each of them: its seconds, from a common start to the last
// rank's end. Those that would
// send more than MESSAGES messages are left out, with -1. Data goes as messages of the right length whose contents are
// left out; ranks of a node share no memory.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forecast/forecast.hpp"
#include "run/runner.hpp"
#include "select/selector.hpp"

namespace {

using namespace quadrille;

struct Line {
  std::string collective;
  std::int64_t bytes = 0;
  std::string algorithm;
  std::int64_t segment = 0;
};

std::vector<Line> read_lines(const char* path) {
  std::ifstream in(path);
  std::vector<Line> lines;
  Line one;
  while (in >> one.collective >> one.bytes >> one.algorithm >> one.segment) lines.push_back(one);
  if (lines.empty()) throw std::invalid_argument(std::string(path) + ": no calls");
  return lines;
}

// One rank's messages. All ranks are one process to SimGrid, and share the memory that is neither read nor written in
// earnest.
class Messages final : public Backend {
 public:
  Messages(const Algorithm& algorithm, const Problem& problem, std::int64_t unit_bytes, bool in_order)
      : collective_(algorithm.collective),
        problem_(problem),
        schedule_(build(algorithm, problem)),
        unit_bytes_(schedule_.unit == Unit::bytes ? 1 : unit_bytes),
        in_order_(in_order) {}

  void run() {
    const Program program = Program::over(schedule_);
    Runner runner(program, *this, Posting{.window = 32});  // the default of QUADRILLE_IN_FLIGHT
    runner.start();
    while (true) {
      while (runner.advance()) {
      }
      if (runner.done()) return;
      if (requests_.empty()) throw std::runtime_error("a schedule has come to a halt");
      int index = MPI_UNDEFINED;
      MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
      if (index == MPI_UNDEFINED) throw std::runtime_error("SimGrid has lost a request");
      const auto place = static_cast<std::size_t>(index);
      const auto [token, to] = begun_[place];
      requests_[place] = requests_.back();
      requests_.pop_back();
      begun_[place] = begun_.back();
      begun_.pop_back();
      if (to != self) {
        lines_[to].busy = false;
        advance(to);
      }
      runner.complete(token);
    }
  }

  std::int64_t units(Buffer buffer, Rank, std::int32_t block) override {
    if (buffer == Buffer::scratch) return schedule_.scratch[static_cast<std::size_t>(block)];
    const auto same = [this](Rank, Rank) { return problem_.count; };
    return block_units(collective_, problem_, same, buffer, block);
  }
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override {
    lines_[to].waiting.push_back({token, channel, bytes_of(data)});
    advance(to);
  }
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override {
    const std::int64_t bytes = bytes_of(data);
    MPI_Irecv(memory(bytes), static_cast<int>(bytes), MPI_BYTE, from, channel, MPI_COMM_WORLD, &begun(token, self));
  }
  void copy(Token, const Piece&, const Piece&) override {}
  void reduce(Token, const Piece&, const Piece&, const Piece&) override {}

  // For messages of all ranks. SimGrid doesn't copy it.
  static char* memory(std::int64_t bytes) {
    static char* const all = static_cast<char*>(SMPI_SHARED_MALLOC(most));
    if (bytes > most) throw std::length_error("a message is longer than 1 GiB");
    return all;
  }

 private:
  std::int64_t bytes_of(std::span<const Piece> data) const {
    std::int64_t units = 0;
    for (const Piece& piece : data) units += piece.length;
    return units * unit_bytes_;
  }
  struct Sent {
    Token token;
    std::int32_t channel;
    std::int64_t bytes;
  };
  // What goes to one rank.
  struct Line {
    std::deque<Sent> waiting;
    bool busy = false;
  };
  void advance(Rank to) {
    Line& line = lines_[to];
    while (!line.busy && !line.waiting.empty()) {
      const Sent one = line.waiting.front();
      line.waiting.pop_front();
      line.busy = in_order_ && one.bytes >= eager;
      MPI_Request& request = begun(one.token, line.busy ? to : self);
      const int bytes = static_cast<int>(one.bytes);
      const auto send = line.busy ? MPI_Issend : MPI_Isend;
      send(memory(bytes), bytes, MPI_BYTE, to, one.channel, MPI_COMM_WORLD, &request);
    }
  }
  MPI_Request& begun(Token token, Rank to) {
    begun_.emplace_back(token, to);
    return requests_.emplace_back(MPI_REQUEST_NULL);
  }

  static constexpr std::int64_t eager = 4096;
  static constexpr std::int64_t most = std::int64_t{1} << 30;

  Collective collective_;
  Problem problem_;
  Schedule schedule_;
  std::int64_t unit_bytes_;
  bool in_order_;
  std::vector<MPI_Request> requests_;
  std::vector<std::pair<Token, Rank>> begun_;  // of the requests: the rank whose line is busy with it
  std::map<Rank, Line> lines_;
};

void call_native(Collective collective, std::int64_t bytes, Rank ranks) {
  char* const data = Messages::memory(bytes * (ranks + 1));
  char* const other = data + bytes * ranks;
  const int count = static_cast<int>(bytes);
  const int block = count / ranks;
  const int doubles = count / 8;
  switch (collective) {
    case Collective::barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      return;
    case Collective::bcast:
      MPI_Bcast(data, count, MPI_BYTE, 0, MPI_COMM_WORLD);
      return;
    case Collective::reduce:
      MPI_Reduce(other, data, doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      return;
    case Collective::allreduce:
      MPI_Allreduce(other, data, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return;
    case Collective::allgather:
      MPI_Allgather(other, count, MPI_BYTE, data, count, MPI_BYTE, MPI_COMM_WORLD);
      return;
    case Collective::alltoall:
      MPI_Alltoall(other, block, MPI_BYTE, data, block, MPI_BYTE, MPI_COMM_WORLD);
      return;
    default:
      throw std::invalid_argument("SimGrid's own functions are called for fewer collectives");
  }
}

// What quadrille predict takes the same call for.
class Judge {
 public:
  Judge(Rank ranks, const forecast::Place& place, bool in_order, std::int64_t most_messages)
      : in_order_(in_order),
        most_messages_(most_messages),
        topology_(forecast::topology_of(ranks, place)),
        selector_(Preferences(), {}, ranks, {.topology = &topology_}) {}

  template <class Run>
  double seconds(const Line& line, Rank rank, const Run& between) const {
    const auto collective = collective_named(line.collective);
    if (!collective) throw std::invalid_argument("unknown collective " + line.collective);
    const Rank ranks = selector_.placement().ranks;
    if (line.algorithm == "native") {
      call_native(*collective, line.bytes, ranks);  // the first call makes communicators
      return between([&] { call_native(*collective, line.bytes, ranks); });
    }
    Variant variant = variant_named(*collective, line.algorithm);
    if (!variant) throw std::invalid_argument("unknown algorithm " + line.algorithm);
    variant.segment = line.segment;
    const Case asked = case_of_bytes(*collective, line.bytes, selector_.placement());
    const Requirements& requirements = selector_.requirements();
    const Variant completed = requirements.completed(variant, asked);
    const Problem problem = problem_of(*collective, requirements.problem(completed, asked), rank);
    const auto predicted = predict(completed.algorithm(), problem);
    if (predicted && predicted->messages > most_messages_) return -1;
    Messages messages(completed.algorithm(), problem, asked.unit_bytes, in_order_);
    return between([&] { messages.run(); });
  }

 private:
  bool in_order_;
  std::int64_t most_messages_;
  Topology topology_;
  Selector selector_;
};

// Of the slowest rank, when all begin at once.
template <class Call>
double timed(const Call& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto now = [] { return simgrid::s4u::Engine::get_clock(); };
  double ready = now();
  double begin = 0;
  MPI_Allreduce(&ready, &begin, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  begin += 1;
  simgrid::s4u::this_actor::sleep_until(begin);
  call();
  double mine = now() - begin;
  double slowest = 0;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 6) {
    std::fprintf(stderr, "usage: simgrid_judge PER_NODE RACK_NODES IN_ORDER MESSAGES FILE\n");
    return 2;
  }
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Judge judge(ranks, {.per_node = std::atoi(argv[1]), .rack_nodes = std::atoi(argv[2])}, std::atoi(argv[3]) != 0,
                    std::atoll(argv[4]));
  for (const Line& line : read_lines(argv[5])) {
    const double seconds = judge.seconds(line, rank, [](const auto& call) { return timed(call); });
    if (rank != 0) continue;
    std::printf("%.9g\n", seconds);
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
