// mpirun --mca pml_monitoring_enable 2 sent [--all]: holds what is known of this MPI against what it sends.
//
// Runs each collective with a number of sizes, records every message that Open MPI sends inside of it, and compares
// messages and bytes for each pair of ranks with those of the schedules that are said to be the same. Prints what
// differs, and how many calls were compared; --all prints every call. Exit status 1 if any differs.
//
// Open MPI's component pml/monitoring reports each message by a function of a library of its own, which this program
// has in place of it.

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/library.hpp"
#include "knowledge/traffic.hpp"

namespace {

using namespace quadrille;
using knowledge::Traffic;

std::map<Rank, Traffic> recorded;
bool records = false;

}  // namespace

extern "C" __attribute__((visibility("default"))) void mca_common_monitoring_record_pml(int rank, std::size_t bytes,
                                                                                        int) {
  if (!records) return;
  Traffic& to = recorded[rank];
  ++to.messages;
  to.bytes += static_cast<std::int64_t>(bytes);
}

namespace {

struct Call {
  Collective collective;
  Rank root;
  std::int64_t count;  // doubles, of a rank or block
  bool commutative;
  bool in_place;
};

void concatenate(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(right)[i] += 2 * static_cast<double*>(left)[i];
}

class World {
 public:
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Op_create(concatenate, 0, &not_commutative_);
  }
  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }

  void run(const Call& call) {
    const auto all = static_cast<std::size_t>(call.count * ranks_ + 1);
    in_.assign(all, 1.0);
    out_.assign(all, 1.0);
    const int count = static_cast<int>(call.count);
    const MPI_Op op = call.commutative ? MPI_SUM : not_commutative_;
    const MPI_Comm comm = MPI_COMM_WORLD;
    const MPI_Datatype type = MPI_DOUBLE;
    const bool at_root = rank_ == call.root;
    const auto input = [&](bool here) -> const void* { return call.in_place && here ? MPI_IN_PLACE : in_.data(); };
    switch (call.collective) {
      case Collective::barrier:
        MPI_Barrier(comm);
        return;
      case Collective::bcast:
        MPI_Bcast(in_.data(), count, type, call.root, comm);
        return;
      case Collective::reduce:
        MPI_Reduce(input(at_root), out_.data(), count, type, op, call.root, comm);
        return;
      case Collective::allreduce:
        MPI_Allreduce(input(true), out_.data(), count, type, op, comm);
        return;
      case Collective::gather:
        MPI_Gather(input(at_root), count, type, out_.data(), count, type, call.root, comm);
        return;
      case Collective::scatter:
        MPI_Scatter(in_.data(), count, type, call.in_place && at_root ? MPI_IN_PLACE : out_.data(), count, type,
                    call.root, comm);
        return;
      case Collective::allgather:
        MPI_Allgather(input(true), count, type, out_.data(), count, type, comm);
        return;
      case Collective::alltoall:
        MPI_Alltoall(in_.data(), count, type, out_.data(), count, type, comm);
        return;
      case Collective::reduce_scatter_block:
        MPI_Reduce_scatter_block(input(true), out_.data(), count, type, op, comm);
        return;
      case Collective::scan:
        MPI_Scan(input(true), out_.data(), count, type, op, comm);
        return;
      case Collective::exscan:
        MPI_Exscan(input(true), out_.data(), count, type, op, comm);
        return;
      default:
        return;
    }
  }

 private:
  int rank_ = 0;
  int ranks_ = 1;
  MPI_Op not_commutative_ = MPI_OP_NULL;
  std::vector<double> in_;
  std::vector<double> out_;
};

Case case_of(const Call& call, Rank ranks) {
  const bool reduces = traits(call.collective).reduces;
  constexpr std::int64_t element = sizeof(double);
  return {.collective = call.collective,
          .commutative = call.commutative,
          .ranks = ranks,
          .nodes = 1,
          .ranks_per_node = ranks,
          .root = call.root,
          .count = reduces ? call.count : call.count * element,
          .largest = reduces ? call.count : call.count * element,
          .unit_bytes = reduces ? element : 1};
}

// What this rank is expected to send.
std::map<Rank, Traffic> expected(const knowledge::Choice& choice, Rank rank) {
  std::map<Rank, Traffic> all;
  for (const knowledge::Step& step : choice.steps) {
    const Problem problem{.rank = rank,
                          .ranks = step.asked.ranks,
                          .root = step.asked.root,
                          .count = step.asked.count,
                          .commutative = step.asked.commutative,
                          .width = step.variant.width};
    for (const auto& [to, traffic] :
         knowledge::sent_by(build(step.variant.algorithm(), problem), step.asked.unit_bytes)) {
      all[to].messages += traffic.messages;
      all[to].bytes += traffic.bytes;
    }
  }
  return all;
}

std::string in_words(const std::map<Rank, Traffic>& sent) {
  std::string text;
  for (const auto& [to, traffic] : sent) text += fmt::format(" {}:{}x{}", to, traffic.messages, traffic.bytes);
  return text.empty() ? " nothing" : text;
}

std::vector<Call> calls(Rank ranks) {
  constexpr std::array counts = {std::int64_t{0},    std::int64_t{1},     std::int64_t{3},     std::int64_t{9},
                                 std::int64_t{40},   std::int64_t{100},   std::int64_t{400},   std::int64_t{1500},
                                 std::int64_t{5000}, std::int64_t{20000}, std::int64_t{70000}, std::int64_t{500000}};
  std::vector<Call> all;
  for (const Collective collective :
       {Collective::barrier, Collective::bcast, Collective::reduce, Collective::allreduce, Collective::gather,
        Collective::scatter, Collective::allgather, Collective::alltoall, Collective::reduce_scatter_block,
        Collective::scan, Collective::exscan}) {
    const Traits& of = traits(collective);
    for (const std::int64_t count : counts) {
      if (!of.moves_data() && count > 0) continue;
      // What all ranks have together is not to exceed some memory.
      if (of.in_blocks() && count * ranks > 2000000) continue;
      for (const Rank root : {Rank{0}, ranks - 1}) {
        if (!of.rooted && root > 0) continue;
        for (const bool commutative : {true, false}) {
          if (!of.reduces && !commutative) continue;
          all.push_back({collective, root, count, commutative, false});
          if (of.may_be_in_place && collective != Collective::alltoall) {
            all.push_back({collective, root, count, commutative, true});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool print_all = argc > 1 && std::string_view(argv[1]) == "--all";
  World world;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version = {};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const knowledge::Library* const library = knowledge::library_of(version.data());
  if (!library) {
    if (world.rank() == 0) fmt::print("nothing is known of this MPI: {}\n", version.data());
    MPI_Finalize();
    return 77;
  }
  std::int64_t same = 0;
  std::int64_t different = 0;
  std::map<std::string, int> unknown;
  for (const Call& call : calls(world.ranks())) {
    const knowledge::Choice choice = library->choose(case_of(call, world.ranks()));
    if (choice.steps.empty()) {
      ++unknown[fmt::format("{} {}", name(call.collective), choice.name)];
      continue;
    }
    world.run(call);  // the first may build a tree
    MPI_Barrier(MPI_COMM_WORLD);
    recorded.clear();
    records = true;
    world.run(call);
    records = false;
    const std::map<Rank, Traffic> wanted = expected(choice, world.rank());
    int differs = wanted == recorded ? 0 : 1;
    int anywhere = 0;
    MPI_Allreduce(&differs, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ++(anywhere != 0 ? different : same);
    const auto text = [&] {
      return fmt::format("{} of {} doubles from {}, {} ranks{}{}: {}", name(call.collective), call.count, call.root,
                         world.ranks(), call.commutative ? "" : ", not commutative", call.in_place ? ", in place" : "",
                         choice.name);
    };
    int first = differs != 0 ? world.rank() : world.ranks();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == world.rank()) {
      fmt::print("{}: rank {} sends{}, expected{}\n", text(), first, in_words(recorded), in_words(wanted));
    } else if (print_all && anywhere == 0 && world.rank() == 0) {
      fmt::print("{}: as expected\n", text());
    }
    std::fflush(stdout);
  }
  if (world.rank() == 0) {
    for (const auto& [what, times] : unknown) fmt::print("not in the catalogue: {}, {} calls\n", what, times);
    fmt::print("{}, {} ranks: {} calls send what is expected, {} something else\n", library->name, world.ranks(), same,
               different);
  }
  MPI_Finalize();
  return different > 0 ? 1 : 0;
}
