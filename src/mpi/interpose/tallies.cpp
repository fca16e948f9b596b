#include "interpose/tallies.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <type_traits>

#include "algorithms/collective.hpp"
#include "engine/mpi.hpp"

namespace quadrille::interpose {

namespace {

using Kind = Tallies::Kind;

// Beyond these, kinds of communicators are not told apart: each takes 5 KB in a reduction.
constexpr std::size_t most_kinds = 256;
const Kind others = {1, ""};
const Kind failed_calls = {1, "calls that failed"};

std::string name_of(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME> text = {};
  int length = 0;
  if (PMPI_Comm_get_name(comm, text.data(), &length) != MPI_SUCCESS) return "";
  return std::string(given_name(text.data()));
}

// Each as its number of ranks and its name, which has no 0 in it.
std::string packed(const std::set<Kind>& kinds) {
  std::string out;
  for (const auto& [ranks, name] : kinds) out += std::to_string(ranks) + ' ' + name + '\0';
  return out;
}

std::set<Kind> unpacked(std::string_view text) {
  std::set<Kind> kinds;
  while (!text.empty()) {
    const std::string one(text.substr(0, text.find('\0')));
    const std::size_t space = one.find(' ');
    kinds.emplace(std::stoi(one), one.substr(space + 1));
    text.remove_prefix(one.size() + 1);
  }
  return kinds;
}

// The kinds of all ranks, known to all; if there are too many, some of them and the others as one.
std::vector<Kind> kinds_of_all(const std::map<Kind, Tallies::Tally>& mine) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::set<Kind> kinds;
  for (const auto& [kind, tally] : mine) {
    if (kinds.size() < most_kinds) kinds.insert(kind);
  }
  std::string text = packed(kinds);
  int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> offsets(lengths.size());
  for (std::size_t i = 1; i < lengths.size(); ++i) offsets[i] = offsets[i - 1] + lengths[i - 1];
  std::string all(rank == 0 ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0, '\0');
  PMPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    kinds = unpacked(all);
    while (kinds.size() > most_kinds) kinds.erase(std::prev(kinds.end()));
    text = packed(kinds);
    length = static_cast<int>(text.size());
  }
  PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  kinds = unpacked(text);
  std::vector<Kind> list(kinds.begin(), kinds.end());
  list.push_back(others);
  return list;
}

// A vector of structs that have only Number in them.
template <class Number, class Struct>
std::vector<Struct> reduced(const std::vector<Struct>& mine, MPI_Datatype type, MPI_Op op) {
  static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) % sizeof(Number) == 0);
  std::vector<Struct> all(mine.size());
  PMPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size() * (sizeof(Struct) / sizeof(Number))), type, op, 0,
              MPI_COMM_WORLD);
  return all;
}

}  // namespace

std::string_view given_name(std::string_view name) {
  return name.starts_with("MPI COMMUNICATOR ") ? std::string_view() : name;
}

void Tallies::Tally::merge(const Tally& other) {
  counts.communicators += other.counts.communicators;
  for (std::size_t i = 0; i < collectives; ++i) {
    for (std::size_t j = 0; j < sizes; ++j) {
      Count& count = counts.cells[i][j];
      count.calls += other.counts.cells[i][j].calls;
      count.bytes += other.counts.cells[i][j].bytes;
      count.replaced += other.counts.cells[i][j].replaced;
      times[i][j].all += other.times[i][j].all;
      times[i][j].replaced += other.times[i][j].replaced;
    }
  }
}

void Tallies::start() {
  engine::check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key_, this), "MPI_Comm_create_keyval");
}

Tallies::Known& Tallies::of(MPI_Comm comm) {
  // As in DropIn::seen: MPI takes long to find an attribute.
  struct Last {
    MPI_Comm comm = MPI_COMM_NULL;
    Known* known = nullptr;
    std::int64_t forgotten = -1;
  };
  thread_local Last last;
  const std::int64_t forgotten = forgotten_.load(std::memory_order_acquire);
  if (last.comm == comm && last.forgotten == forgotten) return *last.known;
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, key_, static_cast<void*>(&value), &found);
  if (found == 0) {
    auto known = std::make_unique<Known>();
    int inter = 0;
    known->comm = comm;
    PMPI_Comm_rank(comm, &known->rank);
    PMPI_Comm_size(comm, &known->ranks);
    PMPI_Comm_test_inter(comm, &inter);
    known->inter = inter != 0;
    known->tally.counts.communicators = 1;
    value = known.get();
    {
      const std::lock_guard guard(mutex_);
      open_.emplace(value, std::move(known));
    }
    PMPI_Comm_set_attr(comm, key_, value);
  }
  last = {comm, static_cast<Known*>(value), forgotten};
  return *last.known;
}

void Tallies::close(const Known& known) {
  kinds_[{-known.ranks, name_of(known.comm)}].merge(known.tally);
}

// A program may name a communicator at any time: its name is looked up when it is freed, or at the end.
int Tallies::forget(MPI_Comm, int, void* value, void* state) {
  auto& self = *static_cast<Tallies*>(state);
  const std::lock_guard guard(self.mutex_);
  const auto place = self.open_.find(value);
  if (place == self.open_.end()) return MPI_SUCCESS;  // after the end
  self.close(*place->second);
  self.open_.erase(place);
  self.forgotten_.fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
}

void Tallies::gather(profile::Profile& profile) {
  std::vector<MPI_Comm> comms;
  for (const auto& [address, known] : open_) {
    close(*known);
    comms.push_back(known->comm);
  }
  open_.clear();
  // MPI_Finalize is not to look for this object.
  for (MPI_Comm comm : comms) PMPI_Comm_delete_attr(comm, key_);
  forgotten_.fetch_add(1, std::memory_order_release);
  PMPI_Comm_free_keyval(&key_);
  const bool any_failed = std::any_of(failed_.tally.counts.cells.begin(), failed_.tally.counts.cells.end(),
                                      [](const auto& row) { return row[0].calls > 0; });
  if (any_failed) kinds_[failed_calls].merge(failed_.tally);
  const std::vector<Kind> kinds = kinds_of_all(kinds_);
  std::vector<Tally> tallies(kinds.size());
  for (const auto& [kind, tally] : kinds_) {
    const auto place = std::find(kinds.begin(), kinds.end(), kind);
    tallies[static_cast<std::size_t>((place == kinds.end() ? kinds.end() - 1 : place) - kinds.begin())].merge(tally);
  }
  std::vector<Counts> counts(kinds.size());
  std::vector<Times> times(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    counts[i] = tallies[i].counts;
    times[i] = tallies[i].times;
  }
  counts = reduced<std::int64_t>(counts, MPI_INT64_T, MPI_SUM);
  const std::vector<Times> largest = reduced<double>(times, MPI_DOUBLE, MPI_MAX);
  times = reduced<double>(times, MPI_DOUBLE, MPI_SUM);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const int ranks = std::max(0, -kinds[i].first);
    if (i + 1 == kinds.size() && counts[i].communicators == 0) break;
    // Each of its ranks has seen it.
    profile.communicators.push_back({kinds[i].second, ranks, ranks == 0 ? 0 : counts[i].communicators / ranks});
    used.push_back(i);
  }
  for (std::size_t row = 0; row < collectives; ++row) {
    for (std::size_t column = 0; column < sizes; ++column) {
      for (std::size_t i : used) {
        const Count& count = counts[i].cells[row][column];
        if (count.calls == 0) continue;
        const Time& time = times[i][row][column];
        profile.calls.push_back({std::string(name(static_cast<Collective>(row))),
                                 std::string(profile::size_names[column]), i, count.calls, count.replaced, count.bytes,
                                 time.all / profile.ranks, time.replaced / profile.ranks, largest[i][row][column].all});
      }
    }
  }
}

std::array<double, collectives> Tallies::spent() const {
  std::array<double, collectives> sums = {};
  for (const auto& [kind, tally] : kinds_) {
    for (std::size_t row = 0; row < collectives; ++row) {
      for (const Time& time : tally.times[row]) sums[row] += time.all;
    }
  }
  return sums;
}

}  // namespace quadrille::interpose
