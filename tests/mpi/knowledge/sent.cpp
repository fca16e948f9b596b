// mpirun sent FOLDER [--policy NAME] [--every N] [--only COLLECTIVE] [--all]: holds what is known of this MPI
// against what it sends.
//
// Runs each collective with a number of sizes, records every message that the MPI sends inside of it, and compares
// messages and bytes for each pair of ranks with those of the schedules that are said to be the same. Calls in the list
// of exceptions, FOLDER/POLICY.exceptions, must differ, all others must not. Prints those of which that is not so, and
// how many calls there were;
// --policy takes what is known under that name instead of this MPI's usual choices; --every runs only one of so many
// calls, --only those of a collective, --all prints every call. Exit status 1 if any is not as it should be.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "exceptions.hpp"
#include "knowledge/library.hpp"
#include "knowledge/parts.hpp"
#include "knowledge/traffic.hpp"
#include "recorder.hpp"
#include "settings/library.hpp"

namespace {

using namespace quadrille;
using knowledge::Traffic;
using test::Call;

// Ranks on their nodes.
Topology found_topology() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 1;
  int first = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &first);
  MPI_Bcast(&first, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  std::vector<std::int32_t> nodes(static_cast<std::size_t>(ranks));
  MPI_Allgather(&first, 1, MPI_INT, nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return {ranks, {nodes}};
}

// All ranks call it for the first time together.
const Topology& where() {
  static const Topology topology = found_topology();
  return topology;
}

Case case_of(const Call& call, Rank ranks) {
  Case asked{.collective = call.collective,
             .in_place = call.in_place,
             .commutative = call.commutative,
             .operation = call.commutative ? 0 : -1,
             .ranks = ranks,
             .nodes = where().domains(1),
             .ranks_per_node = where().largest_domain(1),
             .root = call.root,
             .count = call.count,
             .largest = call.count,
             .unit_bytes = sizeof(double)};
  const Traits& of = traits(call.collective);
  if (call.collective == Collective::allgatherv || of.counts_differ) {
    const Shares shares(call.blocks(ranks));
    asked.count = shares.total();
    asked.largest = shares.most();
  } else if (!sizes_are_known(call.collective)) {
    asked.count = asked.largest = 0;
  }
  return asked;
}

// The size of a block, if blocks of a collective have their own.
std::int64_t block_of(const Call& call, Collective collective, Rank from, Rank to) {
  const bool all_to_all = collective == Collective::alltoallv || collective == Collective::alltoallw;
  if (all_to_all) return call.block(from, to);
  return call.block(collective == Collective::scatterv ? to : from, 0);
}

// What a rank of a part of the communicator is expected to send in a step, by ranks of that part.
std::map<Rank, Traffic> expected(const Call& call, const knowledge::Step& step, const Case& asked, Rank rank) {
  const Collective collective = asked.collective;
  const Shares shares(call.blocks(asked.ranks));
  const Traits& of = traits(collective);
  Problem problem{.rank = rank,
                  .ranks = asked.ranks,
                  .root = asked.root,
                  .count = asked.count,
                  .shares = of.counts_differ ? &shares : nullptr,
                  .separate = of.separate_blocks,
                  .commutative = asked.commutative,
                  .width = step.variant.width};
  if (step.variant.segment > 0) problem.segment = step.variant.segment / std::max<std::int64_t>(1, asked.unit_bytes);
  const auto units_of = [&](const Region& block) {
    const auto sizes = [&](Rank from, Rank to) { return block_of(call, collective, from, to); };
    return block_units(collective, problem, sizes, block.buffer, block.block);
  };
  // Blocks with sizes of their own are counted in doubles, whatever the unit of their total.
  const std::int64_t unit_bytes = of.separate_blocks ? sizeof(double) : asked.unit_bytes;
  return knowledge::sent_by(build(step.variant.algorithm(), problem), unit_bytes, units_of);
}

// What this rank is expected to send.
std::map<Rank, Traffic> expected(const Call& call, const knowledge::Choice& choice, Rank rank) {
  std::map<Rank, Traffic> all;
  for (const knowledge::Step& step : choice.steps) {
    for (const knowledge::Part& part : knowledge::parts_of(step, &where())) {
      const std::optional<Rank> here = part.ranks.index_of(rank);
      if (!here) continue;
      for (const auto& [to, traffic] : expected(call, step, part.asked(step), *here)) {
        all[part.ranks[to]].messages += step.times * traffic.messages;
        all[part.ranks[to]].bytes += step.times * traffic.bytes;
      }
    }
  }
  return all;
}

std::string in_words(const std::map<Rank, Traffic>& sent) {
  std::string text;
  for (const auto& [to, traffic] : sent) text += fmt::format(" {}:{}x{}", to, traffic.messages, traffic.bytes);
  return text.empty() ? " nothing" : text;
}

std::map<Rank, Traffic> sent_in(test::World& world, const Call& call) {
  world.run(call);  // the first may build a tree
  MPI_Barrier(MPI_COMM_WORLD);
  test::start_recording();
  world.run(call);
  return test::stop_recording();
}

using test::Exceptions;

// Whether messages are as many, and an element or 3 % longer or shorter.
bool are_alike(const std::map<Rank, Traffic>& a, const std::map<Rank, Traffic>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    const auto& [to, traffic] = one;
    const std::int64_t bytes = traffic.bytes;
    const std::int64_t most = std::max<std::int64_t>(traffic.messages * std::int64_t{sizeof(double)}, bytes * 3 / 100);
    return to == other.first && traffic.messages == other.second.messages &&
           std::abs(bytes - other.second.bytes) <= most;
  });
}

Exceptions::Differ difference(const std::map<Rank, Traffic>& a, const std::map<Rank, Traffic>& b) {
  if (a == b) return Exceptions::Differ::none;
  if (are_alike(a, b)) return Exceptions::Differ::division;
  const auto bytes = [](const std::map<Rank, Traffic>& sent) {
    std::map<Rank, std::int64_t> all;
    for (const auto& [to, traffic] : sent) {
      if (traffic.bytes > 0) all[to] = traffic.bytes;
    }
    return all;
  };
  return bytes(a) == bytes(b) ? Exceptions::Differ::messages : Exceptions::Differ::bytes;
}

struct Counts {
  std::int64_t as_expected = 0;
  std::int64_t exceptions = 0;
  std::int64_t wrong = 0;
  std::int64_t aborting = 0;  // not run
};

// Runs a call, and counts and prints how it went.
void examine(test::World& world, const knowledge::Library& library, const test::Exceptions& exceptions,
             const Call& call, bool print_all, Counts& counts) {
  const knowledge::Choice choice = library.choose(case_of(call, world.ranks()));
  if (exceptions.aborts(call, choice.name, world.ranks())) {
    ++counts.aborting;
    return;
  }
  const std::map<Rank, Traffic> sent = sent_in(world, call);
  const std::map<Rank, Traffic> wanted = expected(call, choice, world.rank());
  using Differ = Exceptions::Differ;
  const Differ here = choice.steps.empty() ? Differ::bytes : difference(wanted, sent);
  // Of the first rank that differs the most.
  int first = static_cast<int>(here) * world.ranks() + world.ranks() - 1 - world.rank();
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const auto differs = static_cast<Differ>(first / world.ranks());
  first = world.ranks() - 1 - first % world.ranks();
  const Differ listed = exceptions.of(call, choice.name, world.ranks());
  const bool differs_somewhere = differs != Differ::none;
  const bool excepted = listed != Differ::none;
  // What doesn't divide evenly differs; the rest does not.
  const bool divided = listed == Differ::division && !differs_somewhere;
  const bool wrong = differs != listed && !divided;
  ++(wrong ? counts.wrong : excepted ? counts.exceptions : counts.as_expected);
  if (!(wrong || print_all) || world.rank() != (differs_somewhere ? first : 0)) return;
  const std::string what = fmt::format("{}, {} ranks: {}", test::text_of(call), world.ranks(), choice.name);
  if (!differs_somewhere) {
    fmt::print("{}: as expected{}\n", what, excepted ? ", although it is listed as an exception" : "");
  } else {
    fmt::print("{}: rank {} sends{}, {}{}\n", what, first, in_words(sent),
               choice.steps.empty() ? "of which nothing is known" : "expected" + in_words(wanted),
               excepted ? ", an exception" : "");
  }
  std::fflush(stdout);
}

struct Options {
  std::string folder;  // of exceptions
  int every = 1;
  std::string_view policy;  // empty: that of this MPI
  std::string_view only;    // empty: all
  bool print_all = false;
};

int examine_all(test::World& world, const Options& options) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version = {};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const std::string mpi = library_of(version.data()).name;
  const knowledge::Library* const library =
      options.policy.empty() ? knowledge::library_of(mpi) : knowledge::library_with_policy(options.policy);
  if (!library || !test::can_record()) {
    if (world.rank() == 0) fmt::print("{}: {}\n", mpi, library ? "messages can't be seen" : "nothing is known of it");
    return 77;
  }
  const test::Exceptions exceptions(fmt::format("{}/{}.exceptions", options.folder, library->policy));
  Counts counts;
  int number = 0;
  for (const Call& call : test::all_calls(world.ranks())) {
    if (!options.only.empty() && name(call.collective) != options.only) continue;
    if (number++ % options.every == 0) examine(world, *library, exceptions, call, options.print_all, counts);
  }
  if (world.rank() == 0) {
    fmt::print("{}, {} ranks: {} calls send what is expected, {} are exceptions, {} are neither{}\n", library->name,
               world.ranks(), counts.as_expected, counts.exceptions, counts.wrong,
               counts.aborting > 0 ? fmt::format("; {} would abort and were not run", counts.aborting) : "");
  }
  return counts.wrong > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: sent FOLDER [--policy NAME] [--every N] [--only COLLECTIVE] [--all]\n");
    return 2;
  }
  Options options;
  options.folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    options.print_all = options.print_all || word == "--all";
    if (word == "--every" && i + 1 < argc) options.every = std::max(1, std::atoi(argv[i + 1]));
    if (word == "--policy" && i + 1 < argc) options.policy = argv[i + 1];
    if (word == "--only" && i + 1 < argc) options.only = argv[i + 1];
  }
  MPI_Init(&argc, &argv);
  int status = 1;
  {
    test::World world;
    status = examine_all(world, options);
  }
  MPI_Finalize();
  return status;
}
