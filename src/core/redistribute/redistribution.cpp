#include "redistribute/redistribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "patterns/tournament.hpp"
#include "redistribute/limits.hpp"

namespace quadrille::redistribute {

namespace {

constexpr std::int32_t data_channel = 0;
constexpr std::int32_t grant_channel = 1;

// A token's operation; its iteration is the number of a grant, of a destination, or of a send.
enum Completion : std::int32_t { data_arrived, grant_sent, grant_received, data_sent };

// Maximum chunk into a hole of the buffer, as opposed to the extra memory.
constexpr std::int64_t buffer_chunk_bytes = std::int64_t{256} << 10;
// A hole smaller than this fraction of the possible chunk is not granted while other data is in flight, since it may
// grow.
constexpr std::int64_t worthwhile_part = 4;

constexpr std::int64_t word_bytes = sizeof(std::int64_t);

std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

std::int64_t length_of(const Range& range) {
  return range.end - range.begin;
}

std::int64_t clamp_in_flight(std::int64_t in_flight) {
  return std::clamp<std::int64_t>(in_flight, 1, Redistribution::max_in_flight);
}

}  // namespace

std::int64_t Redistribution::bookkeeping_bytes(Rank ranks) {
  const std::int64_t messages = 2 * std::int64_t{ranks};
  const std::int64_t fragments = fragments_limit(messages, max_in_flight, default_slack(messages));
  const std::int64_t holes = holes_limit(fragments, messages, max_in_flight);
  const std::int64_t rooms = rooms_limit(messages, max_in_flight);
  const auto bytes = [](std::int64_t count, std::size_t each) { return count * static_cast<std::int64_t>(each); };
  return bytes(ranks, sizeof(Source) + sizeof(Destination) + sizeof(std::int32_t)) +
         bytes(max_in_flight, sizeof(Grant)) + bytes(2 * fragments, sizeof(Fragment)) +
         bytes(holes + rooms, sizeof(Range)) + bytes(rooms + ranks + 1, sizeof(Run)) +
         bytes(ranks + 1, 3 * sizeof(std::int64_t));
}

Binding Redistribution::binding(const Job& job) {
  static const Layout byte = Layout::basic(1);
  std::int64_t end = 0;
  for (const Blocks& blocks : {job.send, job.receive}) {
    for (std::size_t i = 0; i < blocks.counts.size(); ++i) {
      if (blocks.counts[i] > 0) end = std::max(end, blocks.displacements[i] + blocks.counts[i]);
    }
  }
  Binding binding;
  binding.output.push_back({job.data, end * job.element_bytes, &byte});
  binding.scratch.push_back({job.extra.data(), static_cast<std::int64_t>(job.extra.size()), &byte});
  binding.scratch.push_back({job.words.data(), static_cast<std::int64_t>(job.words.size_bytes()), &byte});
  return binding;
}

Redistribution::Redistribution(const Job& job, Backend& backend)
    : job_(job), backend_(backend), space_(job.receive, job.data, job.extra, job.element_bytes) {
  if (space_.size() == space_.extra_begin())
    throw std::invalid_argument("the extra memory must hold at least one element");
  if (static_cast<std::int64_t>(job.words.size()) < words(job.ranks)) {
    throw std::invalid_argument("too few words for the grants");
  }
  job_.in_flight = clamp_in_flight(job.in_flight);
  const auto blocks = [](const Blocks& of) {
    return static_cast<std::int64_t>(of.counts.size()) - std::count(of.counts.begin(), of.counts.end(), 0);
  };
  const std::int64_t messages = blocks(job.send) + blocks(job.receive);
  const std::int64_t slack = default_slack(messages);
  job_.slack = job.slack < 0 ? slack : std::min(job.slack, slack);
  settled_limit_ = settled_fragments(messages, job_.in_flight);
  limit_ = fragments_limit(messages, job_.in_flight, job_.slack);
  sources_.reserve(index(blocks(job.receive)));
  destinations_.reserve(index(blocks(job.send)));
  for (Rank round = 0; round < patterns::tournament_rounds(job.ranks); ++round) {
    const auto peer = patterns::tournament_partner(job.rank, job.ranks, round);
    if (!peer) continue;
    const std::size_t of = index(*peer);
    if (job.receive.counts[of] > 0) {
      sources_.push_back(
          {.rank = *peer, .home = space_.below(job.receive.displacements[of]), .count = job.receive.counts[of]});
    }
    if (job.send.counts[of] > 0) {
      destinations_.push_back({.rank = *peer, .address = job.send.displacements[of], .count = job.send.counts[of]});
    }
  }
  to_serve_.reserve(destinations_.size());
  grants_.resize(index(job_.in_flight));
  holes_.reserve(index(holes_limit(limit_, messages, job_.in_flight)));
  fragments_.reserve(index(limit_));
  spare_.reserve(index(limit_));
  rooms_.reserve(index(rooms_limit(messages, job_.in_flight)));
  runs_.reserve(rooms_.capacity() + space_.areas());
}

void Redistribution::start() {
  done_ = false;
  changed_ = true;
  times_full_ = 0;
  first_open_ = 0;
  awaited_ = 0;
  unsent_ = 0;
  for (Source& source : sources_) {
    source.granted = source.arrived = 0;
    source.behind = -1;
    awaited_ += source.count;
  }
  for (std::size_t i = 0; i < destinations_.size(); ++i) {
    destinations_[i].sent = 0;
    unsent_ += destinations_[i].count;
    await_grant(i);
  }
  lay_out();
}

void Redistribution::lay_out() {
  holes_.clear();
  fragments_.clear();
  holes_.add({0, space_.size()});
  for (std::size_t i = 0; i < job_.send.counts.size(); ++i) {
    const std::int64_t address = job_.send.displacements[i];
    if (job_.send.counts[i] > 0) holes_.take({space_.below(address), space_.below(address + job_.send.counts[i])});
  }
  // The own block counts as received where it is on places.
  const std::size_t own = index(job_.rank);
  const std::int64_t begin = job_.send.displacements[own];
  const std::int64_t home = space_.below(job_.receive.displacements[own]);
  for (std::int64_t done = 0; done < job_.send.counts[own];) {
    bool places = false;
    const std::int64_t part = space_.alike(begin + done, begin + job_.send.counts[own], places);
    if (places) fragments_.add({space_.below(begin + done), part, home + done});
    done += part;
  }
}

bool Redistribution::advance() {
  if (done_ || !changed_) return false;
  changed_ = false;
  send_what_was_granted();
  move_home();
  grant();
  if (ended()) {
    copy_own();
    move_home();
    const bool at_home = std::all_of(fragments_.begin(), fragments_.end(),
                                     [](const Fragment& fragment) { return fragment.place == fragment.home; });
    if (!at_home) settle_all();
    done_ = true;
  }
  return true;
}

void Redistribution::complete(Token token) {
  changed_ = true;
  const std::size_t number = index(token.iteration);
  switch (token.operation) {
    case data_arrived: {
      Grant& grant = grants_[number];
      Source& source = sources_[index(grant.source)];
      const std::int64_t length = grant.fragment.length;
      fragments_.add(grant.fragment);
      grant.arrived = true;
      source.arrived += length;
      --source.out;
      --reserved_;
      awaited_ -= length;
      end_grant(grant);
      break;
    }
    case grant_sent:
      grants_[number].sent = true;
      end_grant(grants_[number]);
      break;
    case grant_received:
      destinations_[number].grant = job_.words[number];
      to_serve_.push_back(static_cast<std::int32_t>(number));
      break;
    case data_sent: {
      Range& sent = destinations_[number / at_once].sending[number % at_once];
      holes_.add({space_.below(sent.begin), space_.below(sent.end)});
      unsent_ -= length_of(sent);
      sent = {};
      break;
    }
    default:
      throw std::logic_error("Redistribution::complete: no such token");
  }
}

void Redistribution::end_grant(Grant& grant) {
  if (!grant.sent || !grant.arrived) return;
  grant = {};
  --grants_out_;
}

void Redistribution::await_grant(std::size_t destination) {
  const Piece word{.buffer = Buffer::scratch,
                   .block = 1,
                   .offset = static_cast<std::int64_t>(destination) * word_bytes,
                   .length = word_bytes};
  backend_.receive({grant_received, static_cast<std::int64_t>(destination)}, destinations_[destination].rank,
                   grant_channel, {&word, 1});
}

void Redistribution::send_what_was_granted() {
  std::size_t kept = 0;
  const std::size_t came = to_serve_.size();
  for (std::size_t i = 0; i < came; ++i) {
    const std::size_t number = index(to_serve_[i]);
    Destination& destination = destinations_[number];
    auto* const free = std::find_if(destination.sending.begin(), destination.sending.end(),
                                    [](const Range& range) { return range.empty(); });
    // A peer may know of the arrival of data before the local send completes.
    if (free == destination.sending.end()) {
      to_serve_[kept++] = to_serve_[i];
      continue;
    }
    const std::int64_t begin = destination.address + destination.sent;
    *free = {begin, begin + destination.grant};
    destination.sent += destination.grant;
    const Piece data{.buffer = Buffer::output,
                     .offset = begin * job_.element_bytes,
                     .length = destination.grant * job_.element_bytes};
    const auto send = static_cast<std::int64_t>(number) * at_once + (free - destination.sending.begin());
    backend_.send({data_sent, send}, destination.rank, data_channel, {&data, 1});
    if (destination.sent < destination.count) await_grant(number);
  }
  to_serve_.resize(kept);
}

void Redistribution::move_home() {
  // Half of the limit is for data in flight.
  const auto enough = [this] {
    return static_cast<std::int64_t>(fragments_.size()) + 2 > settled_limit_ + job_.slack / 2;
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < holes_.size() && !enough(); ++i) {
      const Range hole = holes_[i];
      const Fragment* fragment = fragments_.belonging(hole);
      if (!fragment) continue;
      const Range homes{std::max(hole.begin, fragment->home), std::min(hole.end, fragment->home + fragment->length)};
      const std::int64_t from = fragment->place + homes.begin - fragment->home;
      const std::int64_t length = length_of(homes);
      space_.copy(from, homes.begin, length);
      fragments_.take(homes);
      fragments_.add({homes.begin, length, homes.begin});
      holes_.take(homes);
      holes_.add({from, from + length});
      again = true;
    }
  }
}

void Redistribution::grant() {
  while (first_open_ < sources_.size() && sources_[first_open_].granted == sources_[first_open_].count) ++first_open_;
  for (std::size_t i = first_open_; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    while (source.granted < source.count && source.out < at_once) {
      if (grants_out_ == job_.in_flight || holes_.empty() || !grant_to(source)) return;
    }
  }
}

bool Redistribution::grant_to(Source& source) {
  if (fragments_to_come() + 1 > limit_) {
    ++times_full_;
    settle_all();
  }
  const Range places = choose(source);
  if (places.empty()) return false;
  const auto free = std::find_if(grants_.begin(), grants_.end(), [](const Grant& one) { return one.source < 0; });
  const std::int64_t number = free - grants_.begin();
  const std::int64_t length = length_of(places);
  *free = {.source = static_cast<std::int32_t>(&source - sources_.data()),
           .fragment = {places.begin, length, source.home + source.granted}};
  holes_.take(places);
  source.granted += length;
  source.behind = places.end;
  ++source.out;
  ++grants_out_;
  ++reserved_;
  const Piece data = space_.piece(places.begin, length);
  backend_.receive({data_arrived, number}, source.rank, data_channel, {&data, 1});
  const std::int64_t place = job_.ranks + number;
  job_.words[index(place)] = length;
  const Piece word{.buffer = Buffer::scratch, .block = 1, .offset = place * word_bytes, .length = word_bytes};
  backend_.send({grant_sent, number}, source.rank, grant_channel, {&word, 1});
  return true;
}

std::int64_t Redistribution::chunk(std::int64_t place) const {
  const std::int64_t extra = (space_.size() - space_.extra_begin()) / job_.in_flight;
  const std::int64_t buffer = place < space_.extra_begin() ? buffer_chunk_bytes / job_.element_bytes : 0;
  return std::max<std::int64_t>({extra, buffer, 1});
}

Range Redistribution::choose_at(std::int64_t place, std::int64_t left) const {
  const Range* hole = holes_.around(place);
  if (!hole) return {};
  return {place, place + std::min({left, chunk(place), hole->end - place, space_.run(place).length})};
}

Range Redistribution::choose(const Source& source) const {
  const std::int64_t left = source.count - source.granted;
  Range largest;
  for (const Range& hole : holes_) {
    for (std::int64_t place = hole.begin; place < hole.end;) {
      const std::int64_t run = std::min(hole.end - place, space_.run(place).length);
      const std::int64_t length = std::min({left, chunk(place), run});
      if (length >= length_of(largest)) largest = {place, place + length};
      place += run;
    }
  }
  const std::int64_t wanted = std::min(left, chunk(0));
  if (reserved_ > 0 && length_of(largest) * worthwhile_part < std::min(wanted, chunk(space_.extra_begin()))) return {};
  for (const std::int64_t place : {source.home + source.granted, source.behind}) {
    const Range here = choose_at(place, left);
    if (!here.empty() && 2 * length_of(here) >= length_of(largest)) return here;
  }
  return largest;
}

void Redistribution::copy_own() {
  const std::size_t own = index(job_.rank);
  const std::int64_t begin = job_.send.displacements[own];
  const std::int64_t home = space_.below(job_.receive.displacements[own]);
  for (std::int64_t done = 0; done < job_.send.counts[own];) {
    bool places = false;
    std::int64_t part = space_.alike(begin + done, begin + job_.send.counts[own], places);
    if (!places) {
      if (fragments_to_come() + 1 > limit_) settle_all();
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
}

void Redistribution::list_rooms() {
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

void Redistribution::settle_all() {
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
  settle(runs_, job_.element_bytes, spare_);
  for (Source& source : sources_) source.behind = -1;
}

std::vector<std::string> Redistribution::awaited() const {
  std::vector<std::string> list;
  for (const Source& source : sources_) {
    if (source.arrived == source.count) continue;
    list.push_back(fmt::format("data from rank {}: {} of {} elements", source.rank, source.arrived, source.count));
  }
  for (const Destination& destination : destinations_) {
    for (const Range& range : destination.sending) {
      if (!range.empty())
        list.push_back(fmt::format("data to rank {}: {} elements", destination.rank, length_of(range)));
    }
    if (destination.sent < destination.count) list.push_back(fmt::format("a grant of rank {}", destination.rank));
  }
  for (const Grant& grant : grants_) {
    if (grant.source >= 0 && !grant.sent) {
      list.push_back(fmt::format("a grant to rank {}", sources_[index(grant.source)].rank));
    }
  }
  return list;
}

}  // namespace quadrille::redistribute
