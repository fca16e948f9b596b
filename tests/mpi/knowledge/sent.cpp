// mpirun --mca pml_monitoring_enable 2 sent EXCEPTIONS [--all]: holds what is known of this MPI against what it sends.
//
// Runs each collective with a number of sizes, records every message that Open MPI sends inside of it, and compares
// messages and bytes for each pair of ranks with those of the schedules that are said to be the same. Calls in the list
// of exceptions must differ, all others must not. Prints those of which that is not so, and how many calls there were;
// --all prints every call. Exit status 1 if any is not as it should be.
//
// Open MPI's component pml/monitoring reports each message by a function of a library of its own, which this program
// has in place of it.

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "calls.hpp"
#include "exceptions.hpp"
#include "knowledge/library.hpp"
#include "knowledge/traffic.hpp"

namespace {

using namespace quadrille;
using knowledge::Traffic;
using test::Call;

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

Case case_of(const Call& call, Rank ranks) {
  Case asked{.collective = call.collective,
             .in_place = call.in_place,
             .commutative = call.commutative,
             .ranks = ranks,
             .nodes = 1,
             .ranks_per_node = ranks,
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

// What this rank is expected to send.
std::map<Rank, Traffic> expected(const Call& call, const knowledge::Choice& choice, Rank rank) {
  std::map<Rank, Traffic> all;
  for (const auto& [asked, variant] : choice.steps) {
    const Collective collective = asked.collective;
    const Shares shares(call.blocks(asked.ranks));
    const Traits& of = traits(collective);
    const Problem problem{.rank = rank,
                          .ranks = asked.ranks,
                          .root = asked.root,
                          .count = asked.count,
                          .shares = of.counts_differ ? &shares : nullptr,
                          .separate = of.separate_blocks,
                          .commutative = asked.commutative,
                          .width = variant.width};
    const auto units_of = [&](const Region& block) {
      const auto sizes = [&](Rank from, Rank to) { return block_of(call, collective, from, to); };
      return block_units(collective, problem, sizes, block.buffer, block.block);
    };
    // Blocks with sizes of their own are counted in doubles, whatever the unit of their total.
    const std::int64_t unit_bytes = of.separate_blocks ? sizeof(double) : asked.unit_bytes;
    for (const auto& [to, traffic] : knowledge::sent_by(build(variant.algorithm(), problem), unit_bytes, units_of)) {
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

std::map<Rank, Traffic> sent_in(test::World& world, const Call& call) {
  world.run(call);  // the first may build a tree
  MPI_Barrier(MPI_COMM_WORLD);
  recorded.clear();
  records = true;
  world.run(call);
  records = false;
  return recorded;
}

struct Counts {
  std::int64_t as_expected = 0;
  std::int64_t exceptions = 0;
  std::int64_t wrong = 0;
};

// Runs a call, and counts and prints how it went.
void examine(test::World& world, const knowledge::Library& library, const test::Exceptions& exceptions,
             const Call& call, bool print_all, Counts& counts) {
  const knowledge::Choice choice = library.choose(case_of(call, world.ranks()));
  const std::map<Rank, Traffic> sent = sent_in(world, call);
  const std::map<Rank, Traffic> wanted = expected(call, choice, world.rank());
  const bool differs = choice.steps.empty() || wanted != sent;
  int first = differs ? world.rank() : world.ranks();
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const bool differs_somewhere = first < world.ranks();
  const bool excepted = exceptions.contain(call, choice.name, world.ranks());
  const bool wrong = differs_somewhere != excepted;
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

int examine_all(test::World& world, const std::string& exceptions_path, bool print_all) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version = {};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const knowledge::Library* const library = knowledge::library_of(version.data());
  if (!library) {
    if (world.rank() == 0) fmt::print("nothing is known of this MPI: {}\n", version.data());
    return 77;
  }
  const test::Exceptions exceptions(exceptions_path);
  Counts counts;
  for (const Call& call : test::all_calls(world.ranks())) {
    examine(world, *library, exceptions, call, print_all, counts);
  }
  if (world.rank() == 0) {
    fmt::print("{}, {} ranks: {} calls send what is expected, {} are exceptions, {} are neither\n", library->name,
               world.ranks(), counts.as_expected, counts.exceptions, counts.wrong);
  }
  return counts.wrong > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: sent EXCEPTIONS [--all]\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int status = 1;
  {
    test::World world;
    status = examine_all(world, argv[1], argc > 2 && std::string_view(argv[2]) == "--all");
  }
  MPI_Finalize();
  return status;
}
