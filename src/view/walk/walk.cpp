#include "walk/walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "draw/draw.hpp"

namespace quadrille::walk {

namespace {

using draw::Payload;
using verify::Held;

constexpr std::size_t most_places = 1024;  // 64 ranks by a hierarchical alltoall have 519

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

// The blocks of all ranks, and where their contents are ever divided.
class Blocks {
 public:
  explicit Blocks(const verify::Subject& subject) {
    for (std::size_t rank = 0; rank < subject.schedules.size(); ++rank) {
      const Schedule& schedule = subject.schedules[rank];
      const auto add_all = [&](Buffer buffer, const std::vector<std::int64_t>& units) {
        for (std::size_t i = 0; i < units.size(); ++i)
          add(schedule.rank, buffer, static_cast<std::int32_t>(i), units[i]);
      };
      for (const Buffer buffer : {Buffer::input, Buffer::output}) {
        std::vector<std::int64_t> units;
        const auto next = [&] { return subject.units(schedule.rank, buffer, static_cast<std::int32_t>(units.size())); };
        while (next() >= 0) units.push_back(next());
        add_all(buffer, units);
      }
      add_all(Buffer::scratch, schedule.scratch);
      add_all(Buffer::slot, schedule.slots);
      add_all(Buffer::box, schedule.boxes);
      add_all(Buffer::staging, schedule.staging);
    }
  }

  void divide(Buffer buffer, std::int32_t block, Range part) {
    blocks_[{buffer, block}].cuts.insert({part.begin, part.end});
  }

  std::vector<Place> places() const {
    std::vector<Place> all;
    for (const auto& [key, block] : blocks_) {
      for (auto cut = block.cuts.begin(); cut != block.cuts.end() && std::next(cut) != block.cuts.end(); ++cut) {
        all.push_back({key.first, key.second, {*cut, *std::next(cut)}, block.ranks});
      }
    }
    return all;
  }

 private:
  struct Block {
    std::uint64_t ranks = 0;
    std::set<std::int64_t> cuts;
  };

  void add(Rank rank, Buffer buffer, std::int32_t number, std::int64_t units) {
    if (units <= 0) return;
    Block& block = blocks_[{buffer, number}];
    block.ranks |= std::uint64_t{1} << rank;
    block.cuts.insert({0, units});
  }

  std::map<std::pair<Buffer, std::int32_t>, Block> blocks_;
};

// What is written in a step, or given before the first.
struct Entry {
  std::int64_t step = 0;
  Rank rank = 0;
  Buffer buffer = Buffer::input;
  std::int32_t block = 0;
  std::int64_t begin = 0;
  std::vector<Held> data;
};

std::vector<Entry> entries_of(const verify::Subject& subject, const verify::Execution& execution,
                              verify::Expressions& expressions) {
  std::vector<Entry> entries;
  for (const Schedule& schedule : subject.schedules) {
    for (const Buffer buffer : {Buffer::input, Buffer::output}) {
      for (std::int32_t block = 0; subject.units(schedule.rank, buffer, block) >= 0; ++block) {
        const std::int64_t units = subject.units(schedule.rank, buffer, block);
        const auto given = verify::initial_contents(subject, expressions, schedule.rank, buffer, block);
        if (auto data = given.read({0, units})) entries.push_back({0, schedule.rank, buffer, block, 0, *data});
      }
    }
  }
  for (const verify::Written& one : execution.written) {
    const std::int64_t step = execution.events[at(one.rank)][at(one.instance)].done_step;
    entries.push_back({step, one.owner, one.buffer, one.block, one.begin, one.data});
  }
  // Writes to one place follow one another in the order of the run.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.step < b.step; });
  return entries;
}

// The part of a piece that lies in a place.
Held inside(const Held& piece, std::int64_t begin, const Range& part) {
  return {part, {piece.value.expression, piece.value.offset + part.begin - begin - piece.range.begin}};
}

class Changes {
 public:
  Changes(Walk& walk, const verify::Expressions& expressions) : walk_(walk), expressions_(expressions) {
    for (std::size_t i = 0; i < walk.places.size(); ++i) {
      const Place& place = walk.places[i];
      first_.try_emplace({place.buffer, place.block}, i);
    }
  }

  void add(const Entry& entry) {
    if (entry.step != step_) finish_step(entry.step);
    for (const Held& piece : entry.data) {
      const Range range{entry.begin + piece.range.begin, entry.begin + piece.range.end};
      std::size_t place = first_.at({entry.buffer, entry.block});
      while (walk_.places[place].part.begin < range.begin) ++place;
      for (; is_in(place, entry, range); ++place) {
        const Held held = inside(piece, entry.begin, walk_.places[place].part);
        written_[{entry.rank, static_cast<std::int32_t>(place)}] =
            draw::payload_of({held}, expressions_, walk_.timeline.ranks);
      }
    }
  }

  void finish_step(std::int64_t next) {
    for (const auto& [where, payload] : written_) {
      Payload& before = held_[where];
      if (before == payload) continue;
      before = payload;
      walk_.changes.push_back({step_, where.first, where.second, payload});
    }
    written_.clear();
    step_ = next;
  }

 private:
  bool is_in(std::size_t place, const Entry& entry, const Range& range) const {
    if (place == walk_.places.size()) return false;
    const Place& one = walk_.places[place];
    return one.buffer == entry.buffer && one.block == entry.block && one.part.end <= range.end;
  }

  Walk& walk_;
  const verify::Expressions& expressions_;
  std::map<std::pair<Buffer, std::int32_t>, std::size_t> first_;  // of a block's places
  std::int64_t step_ = 0;
  std::map<std::pair<Rank, std::int32_t>, Payload> written_;  // in this step, by rank and place
  std::map<std::pair<Rank, std::int32_t>, Payload> held_;
};

std::vector<Signal> signals_of(const verify::Execution& execution) {
  std::set<Signal> all;
  const bool notices_are_messages = verify::only_notifies(execution);
  for (std::size_t id = 0; id < execution.ranks.size(); ++id) {
    const verify::Unrolled& rank = execution.ranks[id];
    const auto own = static_cast<Rank>(id);
    for (std::int32_t instance = 0; instance < rank.size(); ++instance) {
      const Operation& operation = rank.operation(instance);
      const std::int64_t step = execution.events[id][at(instance)].done_step;
      if (operation.kind == Kind::notify && !notices_are_messages) {
        all.insert({Board::notice, own, operation.peer, step});
      } else if (operation.kind == Kind::wait && operation.peer != self && operation.peer != own) {
        all.insert({Board::counter, operation.peer, own, step});
      }
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace

std::vector<Payload> Walk::held(Rank rank, std::int64_t step) const {
  std::vector<Payload> all(places.size());
  for (const Change& change : changes) {
    if (change.rank == rank && change.step <= step) all[at(change.place)] = change.held;
  }
  return all;
}

Walk walk_of(const verify::Subject& subject) {
  if (subject.schedules.size() > at(draw::most_ranks)) {
    throw std::invalid_argument(
        fmt::format("a page of {} ranks is not legible: use at most {}", subject.schedules.size(), draw::most_ranks));
  }
  verify::Expressions expressions(subject.commutative);
  const verify::Execution execution = verify::execute(subject, expressions, verify::Keep::data_too);
  if (!execution.fault.empty()) throw std::runtime_error(execution.fault);
  Walk walk{.timeline = draw::timeline_of(subject, execution, expressions),
            .places = {},
            .changes = {},
            .signals = signals_of(execution),
            .nodes = subject.nodes,
            .heard = {}};
  const std::vector<Entry> entries = entries_of(subject, execution, expressions);
  Blocks blocks(subject);
  for (const Entry& entry : entries) {
    for (const Held& piece : entry.data) {
      blocks.divide(entry.buffer, entry.block, {entry.begin + piece.range.begin, entry.begin + piece.range.end});
    }
  }
  walk.places = blocks.places();
  if (walk.places.size() > most_places) {
    throw std::invalid_argument(
        fmt::format("what a rank holds has {} parts, and a page at most {}: lower --count or raise --segment",
                    walk.places.size(), most_places));
  }
  Changes changes(walk, expressions);
  for (const Entry& entry : entries) changes.add(entry);
  changes.finish_step(0);
  const auto& transfers = walk.timeline.transfers;
  const bool only_signals =
      std::all_of(transfers.begin(), transfers.end(), [](const auto& one) { return one.units == 0; });
  if (only_signals && !transfers.empty() && walk.signals.empty()) walk.heard = draw::heard_of(walk.timeline);
  return walk;
}

}  // namespace quadrille::walk
