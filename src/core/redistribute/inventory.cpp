#include "redistribute/inventory.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "redistribute/limits.hpp"

namespace quadrille::redistribute {

std::int64_t Inventory::bookkeeping_bytes(Rank ranks, std::int64_t in_flight) {
  const std::int64_t messages = 2 * std::int64_t{ranks};
  const std::int64_t fragments = fragments_limit(messages, in_flight, default_slack(messages));
  const std::int64_t holes = holes_limit(fragments, messages, in_flight);
  const std::int64_t rooms = rooms_limit(messages, in_flight);
  const auto bytes = [](std::int64_t count, std::size_t each) { return count * static_cast<std::int64_t>(each); };
  return bytes(2 * fragments, sizeof(Fragment)) + bytes(holes + rooms, sizeof(Range)) +
         bytes(rooms + ranks + 1, sizeof(Run)) + bytes(ranks + 1, 3 * sizeof(std::int64_t)) +
         bytes(looks_limit(in_flight), sizeof(Range));
}

Inventory::Inventory(const Job& job) : job_(job), space_(job.receive, job.data, job.extra, job.element) {
  if (space_.size() == space_.extra_begin())
    throw std::invalid_argument("the extra memory must hold at least one element");
  const std::int64_t messages = job.send.used() + job.receive.used();
  const std::int64_t slack = default_slack(messages);
  slack_ = job.slack < 0 ? slack : std::min(job.slack, slack);
  settled_limit_ = settled_fragments(messages, job.in_flight);
  limit_ = fragments_limit(messages, job.in_flight, slack_);
  const auto size = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  holes_.reserve(size(holes_limit(limit_, messages, job.in_flight)));
  fragments_.reserve(size(limit_));
  spare_.reserve(size(limit_));
  rooms_.reserve(size(rooms_limit(messages, job.in_flight)));
  runs_.reserve(rooms_.capacity() + space_.areas());
  to_look_at_.reserve(size(looks_limit(job.in_flight)));
}

bool Inventory::at_home() const {
  return std::all_of(fragments_.begin(), fragments_.end(),
                     [](const Fragment& fragment) { return fragment.place == fragment.home; });
}

void Inventory::lay_out() {
  reserved_ = 0;
  looks_ = 0;
  look_at_all_ = true;
  holes_.clear();
  fragments_.clear();
  holes_.add({0, space_.size()});
  for (std::size_t i = 0; i < job_.send.counts.size(); ++i) {
    const std::int64_t address = job_.send.displacements[i];
    if (job_.send.counts[i] > 0) holes_.take({space_.below(address), space_.below(address + job_.send.counts[i])});
  }
  // The own block counts as received where it is on places.
  const auto own = static_cast<std::size_t>(job_.rank);
  const std::int64_t begin = job_.send.displacements[own];
  const std::int64_t home = space_.below(job_.receive.displacements[own]);
  for (std::int64_t done = 0; done < job_.send.counts[own];) {
    bool places = false;
    const std::int64_t part = space_.alike(begin + done, begin + job_.send.counts[own], places);
    if (places) fragments_.add({space_.below(begin + done), part, home + done});
    done += part;
  }
}

void Inventory::reserve(const Range& places) {
  holes_.take(places);
  ++reserved_;
}

void Inventory::add_arrived(const Fragment& fragment) {
  fragments_.add(fragment);
  if (fragment.place != fragment.home) look_later({fragment.home, fragment.home + fragment.length});
  --reserved_;
}

void Inventory::add_sent(const Range& addresses) {
  const Range places{space_.below(addresses.begin), space_.below(addresses.end)};
  holes_.add(places);
  look_later(places);
}

// Half of the limit is for data in flight.
bool Inventory::has_many_fragments() const {
  return static_cast<std::int64_t>(fragments_.size()) + 2 > settled_limit_ + slack_ / 2;
}

void Inventory::look_later(const Range& places) {
  if (to_look_at_.size() < to_look_at_.capacity()) {
    to_look_at_.push_back(places);
  } else {
    look_at_all_ = true;
  }
}

void Inventory::move_home() {
  while ((look_at_all_ || !to_look_at_.empty()) && !has_many_fragments()) {
    if (std::exchange(look_at_all_, false)) to_look_at_.assign(1, {0, space_.size()});
    const Range places = to_look_at_.back();
    to_look_at_.pop_back();
    move_into(places);
  }
}

// Each hole among these places gets what belongs there.
void Inventory::move_into(const Range& places) {
  for (std::int64_t place = places.begin; place < places.end;) {
    if (has_many_fragments()) return look_later({place, places.end});
    const Range* const hole = holes_.from(place);
    if (!hole || hole->begin >= places.end) return;
    const Range free{std::max(hole->begin, place), std::min(hole->end, places.end)};
    const Fragment* const fragment = fragments_.belonging(free);
    ++looks_;
    place = free.end;
    if (!fragment) continue;
    const Range homes{std::max(free.begin, fragment->home), std::min(free.end, fragment->home + fragment->length)};
    const std::int64_t from = fragment->place + homes.begin - fragment->home;
    const std::int64_t length = length_of(homes);
    space_.copy(from, homes.begin, length);
    fragments_.take(homes);
    fragments_.add({homes.begin, length, homes.begin});
    holes_.take(homes);
    holes_.add({from, from + length});
    look_later({from, from + length});
    place = homes.end;
  }
}

void Inventory::list_rooms() {
  rooms_.clear();
  runs_.clear();
  spare_.assign(fragments_.begin(), fragments_.end());
  std::sort(spare_.begin(), spare_.end(), [](const Fragment& a, const Fragment& b) { return a.place < b.place; });
  std::int64_t before = 0;  // number of places in previous rooms
  const auto add = [&](const Range& range) {
    const std::int64_t first = before;
    if (!rooms_.empty() && rooms_.back().end == range.begin) {
      rooms_.back().end = range.end;
    } else {
      rooms_.push_back(range);
    }
    before += length_of(range);
    return first;
  };
  std::size_t hole = 0;
  for (Fragment& fragment : spare_) {
    while (hole < holes_.size() && holes_[hole].begin < fragment.place) add(holes_[hole++]);
    fragment.place = add({fragment.place, fragment.place + fragment.length});
  }
  while (hole < holes_.size()) add(holes_[hole++]);
  std::sort(spare_.begin(), spare_.end(), [](const Fragment& a, const Fragment& b) { return a.home < b.home; });
  std::int64_t place = 0;
  for (const Range& room : rooms_) {
    for (std::int64_t done = 0; done < length_of(room);) {
      Run run = space_.run(room.begin + done);
      run.length = std::min(run.length, length_of(room) - done);
      run.place = place;
      runs_.push_back(run);
      place += run.length;
      done += run.length;
    }
  }
}

void Inventory::settle_all() {
  look_at_all_ = true;
  list_rooms();
  fragments_.clear();
  holes_.clear();
  std::size_t room = 0;
  std::int64_t used = 0;  // of the room
  for (const Fragment& fragment : spare_) {
    for (std::int64_t done = 0; done < fragment.length;) {
      if (used == length_of(rooms_[room])) {
        ++room;
        used = 0;
      }
      const std::int64_t part = std::min(fragment.length - done, length_of(rooms_[room]) - used);
      fragments_.add({rooms_[room].begin + used, part, fragment.home + done});
      used += part;
      done += part;
    }
  }
  for (; room < rooms_.size(); ++room, used = 0) holes_.add({rooms_[room].begin + used, rooms_[room].end});
  settle(runs_, job_.element.size(), spare_);
}

void Inventory::copy_own() {
  const auto own = static_cast<std::size_t>(job_.rank);
  const std::int64_t begin = job_.send.displacements[own];
  const std::int64_t home = space_.below(job_.receive.displacements[own]);
  for (std::int64_t done = 0; done < job_.send.counts[own];) {
    bool places = false;
    std::int64_t part = space_.alike(begin + done, begin + job_.send.counts[own], places);
    if (!places) {
      if (full()) settle_all();
      // All sent elements and the extra places are free.
      const Range* hole = holes_.around(home + done);
      const std::int64_t to = hole ? home + done : holes_[0].begin;
      part = std::min(part, (hole ? hole->end : holes_[0].end) - to);
      space_.copy_in(begin + done, to, part);
      holes_.take({to, to + part});
      fragments_.add({to, part, home + done});
    }
    done += part;
  }
  look_at_all_ = true;
}

}  // namespace quadrille::redistribute
