#include "interpose/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "api/local_call.hpp"
#include "engine/mpi.hpp"
#include "engine/places.hpp"
#include "files/replace.hpp"
#include "interpose/command_line.hpp"
#include "interpose/errors.hpp"
#include "interpose/merge_trace.hpp"
#include "interpose/neighbours.hpp"
#include "machine/host.hpp"
#include "text/quantities.hpp"

namespace quadrille::interpose {

using engine::check;
using trace::Activity;
using trace::Traffic;

namespace {

// Beyond these, communicators are not told apart.
constexpr std::size_t most_groups = 4096;
// Beyond these, sizes of a collective are rounded. All ranks of a communicator come to them at the same call.
constexpr int most_exact_kinds = 256;

double seconds(Tracer::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

Tracer::Clock::duration cost_of_clock() {
  Tracer::Clock::duration least = std::chrono::seconds(1);
  for (int i = 0; i < 100; ++i) {
    const auto before = Tracer::Clock::now();
    least = std::min(least, Tracer::Clock::now() - before);
  }
  return least;
}

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  return PMPI_Type_size_x(type, &size) == MPI_SUCCESS ? size : 0;
}

std::vector<Rank> world_ranks(MPI_Comm comm, engine::Members members) {
  std::vector<Rank> world = engine::ranks_in_world(comm, members);
  std::replace(world.begin(), world.end(), MPI_UNDEFINED, trace::another_world);
  return world;
}

bool all_here(const std::vector<Rank>& world) {
  return std::find(world.begin(), world.end(), trace::another_world) == world.end();
}

bool are_their_own(const std::vector<Rank>& world) {
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (world[i] != static_cast<Rank>(i)) return false;
  }
  return true;
}

// Bytes of block `i` of a side whose blocks may have counts and types of their own.
std::int64_t block_bytes(const detail::UserBuffer& side, int i) {
  const std::int64_t count = side.counts ? side.counts[i] : side.count;
  // Of an empty block nobody looks at the type, which may be null.
  return count == 0 ? 0 : count * size_of(side.types ? side.types[i] : side.type);
}

}  // namespace

std::size_t Tracer::KindHash::operator()(const trace::Kind& kind) const {
  constexpr std::uint64_t mix = 0x9e3779b97f4a7c15U;
  const auto flags = static_cast<std::uint64_t>(kind.collective) << 8 | static_cast<std::uint64_t>(kind.form) << 4 |
                     static_cast<std::uint64_t>(kind.neighbours) << 3 | static_cast<std::uint64_t>(kind.in_place) << 2 |
                     static_cast<std::uint64_t>(kind.commutative) << 1 | static_cast<std::uint64_t>(kind.rounded);
  std::uint64_t hash = (flags << 32 ^ static_cast<std::uint32_t>(kind.root)) * mix;
  hash = (hash ^ static_cast<std::uint64_t>(kind.count)) * mix;
  return (hash ^ static_cast<std::uint64_t>(kind.unit_bytes)) * mix >> 16;
}

Tracer::Entry& Tracer::Group::entry(const trace::Kind& kind) {
  const auto place = entries.find(kind);
  if (place != entries.end()) return place->second;
  const std::size_t of_form = static_cast<std::size_t>(kind.form) * 2 + (kind.neighbours ? 1 : 0);
  int& different = kinds[static_cast<std::size_t>(kind.collective) * 6 + of_form];
  if (different >= most_exact_kinds) return entries[kind.coarser()];
  ++different;
  return entries[kind];
}

void Tracer::start(bool threads, bool waits) {
  threads_ = threads;
  waits_ = waits;
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key_, this), "MPI_Comm_create_keyval");
  clock_ = cost_of_clock();
  started_ = Clock::now();
}

int Tracer::forget(MPI_Comm comm, int, void*, void* self) {
  auto& owner = *static_cast<Tracer*>(self);
  const auto guard = owner.lock();
  owner.known_.erase(comm);
  owner.forgotten_.fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
}

Tracer::Group& Tracer::group_of(trace::Communicator communicator) {
  if (groups_.size() >= most_groups && !groups_.contains(communicator)) communicator = {};
  std::unique_ptr<Group>& group = groups_[std::move(communicator)];
  if (!group) group = std::make_unique<Group>();
  return *group;
}

Tracer::Known& Tracer::first_seen(MPI_Comm comm) {
  auto known = std::make_unique<Known>();
  int inter = 0;
  known->comm = comm;
  check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  known->inter = inter != 0;
  check(PMPI_Comm_rank(comm, &known->rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &known->ranks), "MPI_Comm_size");
  std::vector<Rank> here = world_ranks(comm, engine::Members::own);
  trace::Communicator ranks{trace::Ranks(here)};
  known->meets = all_here(here);
  known->world = std::move(here);
  if (known->inter) {
    known->world = world_ranks(comm, engine::Members::remote);
    ranks.remote = trace::Ranks(known->world);
  }
  known->group = &group_of(all_here(known->world) ? std::move(ranks) : trace::Communicator());
  if (are_their_own(known->world)) known->world = {};
  check(PMPI_Comm_set_attr(comm, key_, known.get()), "MPI_Comm_set_attr");
  return *known_.emplace(comm, std::move(known)).first->second;
}

Tracer::Known& Tracer::of(MPI_Comm comm) {
  struct Last {
    MPI_Comm comm = {};
    Known* known = nullptr;
    std::int64_t forgotten = -1;
  };
  static constinit thread_local Last last = {};
  const std::int64_t forgotten = forgotten_.load(std::memory_order_acquire);
  if (last.comm == comm && last.forgotten == forgotten) return *last.known;
  const auto place = known_.find(comm);
  Known& known = place == known_.end() ? first_seen(comm) : *place->second;
  last = {comm, &known, forgotten};
  return known;
}

// What this rank asks to be sent to each other one, where no rank knows all sizes.
template <class Visit>
void Tracer::for_each_block(const detail::Call& call, bool neighbours, Known& known, const Visit& visit) {
  const auto add = [&](int peer, std::int64_t bytes) {
    if (peer >= 0 && peer != known.rank && bytes > 0) visit(Block{peer, bytes});
  };
  if (neighbours) {
    if (!known.neighbours) known.neighbours = neighbours_sent_to(known.comm, known.rank);
    for (std::size_t i = 0; i < known.neighbours->size(); ++i) {
      add((*known.neighbours)[i], block_bytes(call.input, static_cast<int>(i)));
    }
  } else if (known.inter || sizes_are_known(call.collective)) {
    return;
  } else if (call.collective == Collective::gatherv) {
    if (known.rank != call.root) add(call.root, block_bytes(call.input, 0));
  } else if (call.collective != Collective::scatterv || known.rank == call.root) {
    // In place, as much is sent as is received.
    const detail::UserBuffer& side = call.input.address == MPI_IN_PLACE ? call.output : call.input;
    for (int peer = 0; peer < known.ranks; ++peer) add(peer, block_bytes(side, peer));
  }
}

// Of a collective over an intercommunicator only that it was called: its sides mean something else.
Tracer::Described Tracer::describe(const detail::Call& call, const Manner& how, const Known& known) {
  trace::Kind kind{.collective = call.collective, .form = how.form, .neighbours = how.neighbours};
  if (known.inter || how.neighbours) return {kind};
  LocalCall local = api::local_call(call, known.rank, known.ranks, true);
  if (call.op != MPI_OP_NULL) {
    int commutes = 1;
    PMPI_Op_commutative(call.op, &commutes);
    local.commutative = commutes != 0;
  }
  const Case asked = case_of(local, {.ranks = known.ranks});
  kind.in_place = asked.in_place;
  kind.commutative = asked.commutative;
  kind.root = asked.root;
  kind.count = asked.count;
  kind.unit_bytes = asked.unit_bytes;
  return {kind, traits(call.collective).moves_data() ? local.bytes(known.ranks) : 0};
}

void Tracer::count_message(const Block& message) {
  Traffic& traffic = messages_[message.peer];
  ++traffic.messages;
  traffic.bytes += message.bytes;
}

void Tracer::count_block(Entry& entry, const Block& block) {
  Traffic& traffic = entry.blocks[block.peer];
  ++traffic.messages;
  traffic.bytes += block.bytes;
}

void Tracer::spent(Activity activity, Clock::duration time) {
  const auto guard = lock();
  spent_[static_cast<std::size_t>(activity)] += time;
}

void Tracer::sent(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm) {
  if (peer == MPI_PROC_NULL) return;
  const auto guard = lock();
  count_message({of(comm).in_world(peer), count * size_of(type)});
}

// Ranks of another world may not meet. What is wrong with a communicator is for the call itself to find.
Tracer::Clock::duration Tracer::meet(const Manner& how, MPI_Comm comm) {
  int inter = 1;
  if (!waits_ || how.form != trace::Form::blocking || how.neighbours || comm == MPI_COMM_NULL) return {};
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return {};
  {
    const auto guard = lock();
    if (!of(comm).meets) return {};
  }
  const auto start = Clock::now();
  PMPI_Barrier(comm);
  return Clock::now() - start;
}

void Tracer::called(const detail::Call& call, const Manner& how, MPI_Comm comm, Clock::duration time,
                    Clock::duration waited) {
  const auto guard = lock();
  Known& known = of(comm);
  const Described described = describe(call, how, known);
  Entry& entry = known.group->entry(described.kind);
  ++entry.calls;
  entry.bytes += described.bytes;
  entry.time += time;
  entry.waited += waited;
  spent_[static_cast<std::size_t>(Activity::collective)] += time + waited;
  if (!described.kind.has_blocks()) return;
  for_each_block(call, how.neighbours, known, [&](const Block& block) {
    count_block(entry, block);
    entry.bytes += how.neighbours ? block.bytes : 0;
  });
}

void Tracer::prepared_send(int peer, std::int64_t count, MPI_Datatype type, MPI_Comm comm, MPI_Request request) {
  if (peer == MPI_PROC_NULL) return;
  const auto guard = lock();
  prepared_[request] = {.message = {of(comm).in_world(peer), count * size_of(type)}};
}

void Tracer::prepared_call(const detail::Call& call, bool neighbours, MPI_Comm comm, MPI_Request request) {
  const auto guard = lock();
  Known& known = of(comm);
  const Described described = describe(call, {trace::Form::persistent, neighbours}, known);
  Prepared prepared{.entry = &known.group->entry(described.kind), .bytes = described.bytes};
  for_each_block(call, neighbours, known, [&](const Block& block) {
    prepared.blocks.push_back(block);
    prepared.bytes += neighbours ? block.bytes : 0;
  });
  prepared_[request] = std::move(prepared);
}

void Tracer::started(std::span<const MPI_Request> requests) {
  const auto guard = lock();
  if (prepared_.empty()) return;
  for (const auto& request : requests) {
    const auto place = prepared_.find(request);
    if (place == prepared_.end()) continue;  // it receives
    const Prepared& prepared = place->second;
    if (!prepared.entry) {
      count_message(prepared.message);
      continue;
    }
    ++prepared.entry->calls;
    prepared.entry->bytes += prepared.bytes;
    for (const Block& block : prepared.blocks) count_block(*prepared.entry, block);
  }
}

void Tracer::freed(MPI_Request request) {
  const auto guard = lock();
  prepared_.erase(request);
}

// MPI_Finalize is not to look for this object.
void Tracer::forget_all() {
  std::vector<MPI_Comm> comms;
  for (const auto& [comm, known] : known_) comms.push_back(comm);
  for (MPI_Comm comm : comms) PMPI_Comm_delete_attr(comm, key_);
  PMPI_Comm_free_keyval(&key_);
}

trace::Trace Tracer::recorded(int rank) const {
  trace::Trace trace;
  trace::RankTimes& times = trace.times[rank];
  times.wall = seconds(Clock::now() - started_);
  for (std::size_t i = 0; i < spent_.size(); ++i) times.spent[i] = seconds(spent_[i]);
  if (!messages_.empty()) trace.messages[rank] = {messages_.begin(), messages_.end()};
  for (const auto& [communicator, group] : groups_) {
    const std::vector<Rank> members = communicator.ranks.list();
    const auto place = std::find(members.begin(), members.end(), rank);
    const auto own_rank = static_cast<Rank>(place - members.begin());
    for (const auto& [kind, entry] : group->entries) {
      if (entry.calls == 0) continue;  // prepared, and never started
      trace::Calls calls{.calls = entry.calls,
                         .bytes = entry.bytes,
                         .seconds = seconds(entry.time),
                         .longest = seconds(entry.time),
                         .waited = seconds(entry.waited)};
      if (!entry.blocks.empty()) calls.blocks[own_rank] = {entry.blocks.begin(), entry.blocks.end()};
      trace.collectives[communicator].emplace(kind, std::move(calls));
    }
  }
  return trace;
}

void Tracer::write(const std::string& path) {
  int rank = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  trace::Trace trace = recorded(rank);
  check(PMPI_Comm_size(MPI_COMM_WORLD, &trace.ranks), "MPI_Comm_size");
  forget_all();
  merge_over_tree(trace, rank, trace.ranks);
  if (rank != 0) return;
  trace.program = command_line();
  trace.mpi = engine::mpi_name();
  trace.host = machine::host_name();
  trace.date = text::utc_now();
  try {
    files::replace_file(path, to_text(trace));
  } catch (const std::system_error& error) {
    say(fmt::format("can't write the trace to {}: {}; name another file (QUADRILLE_TRACE)", path,
                    error.code().message()));
  }
}

}  // namespace quadrille::interpose
