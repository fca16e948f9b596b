#include "redistribute/redistribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "patterns/tournament.hpp"

namespace quadrille::redistribute {

namespace {

constexpr std::int32_t data_channel = 0;

// A token's operation; its iteration is the number of a grant, of a place to await one in, or of a send.
enum Completion : std::int32_t { data_arrived, grant_sent, grant_came, data_sent };

// Maximum chunk into a hole of the buffer, as opposed to the extra memory.
constexpr std::int64_t buffer_chunk_bytes = std::int64_t{256} << 10;
// A hole smaller than this fraction of the possible chunk is not granted while other data is in flight, since it may
// grow.
constexpr std::int64_t worthwhile_part = 4;

// Holes to look at for a large one.
constexpr int most_looks = 16;

// A grant: the rank that gives it, the first element, and one past the last.
constexpr std::int64_t grant_words = 3;
constexpr std::int64_t grant_bytes = grant_words * std::int64_t{sizeof(std::int64_t)};

std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

Job with_limits(Job job) {
  job.in_flight = std::clamp<std::int64_t>(job.in_flight, 1, Redistribution::max_in_flight);
  return job;
}

}  // namespace

std::int64_t Redistribution::bookkeeping_bytes(Rank ranks) {
  const auto bytes = [](std::int64_t count, std::size_t each) { return count * static_cast<std::int64_t>(each); };
  return Inventory::bookkeeping_bytes(ranks, max_in_flight) + bytes(max_in_flight, sizeof(Grant)) +
         bytes(max_awaited, sizeof(std::int32_t)) +
         bytes(ranks, sizeof(Source) + sizeof(Destination) + sizeof(std::int32_t));
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
  binding.output.push_back({job.data, end, &job.element});
  binding.scratch.push_back({job.extra.data(), static_cast<std::int64_t>(job.extra.size()), &byte});
  binding.scratch.push_back({job.words.data(), static_cast<std::int64_t>(job.words.size_bytes()), &byte});
  return binding;
}

Redistribution::Redistribution(const Job& job, Backend& backend)
    : job_(with_limits(job)), backend_(backend), inventory_(job_) {
  if (static_cast<std::int64_t>(job.words.size()) < words) {
    throw std::invalid_argument("too few words for the grants");
  }
  sources_.reserve(index(job.receive.used()));
  destinations_.reserve(index(job.send.used()));
  for (Rank round = 0; round < patterns::tournament_rounds(job.ranks); ++round) {
    const auto peer = patterns::tournament_partner(job.rank, job.ranks, round);
    if (!peer) continue;
    const std::size_t of = index(*peer);
    if (job.receive.counts[of] > 0) {
      sources_.push_back({.rank = *peer,
                          .home = inventory_.space().below(job.receive.displacements[of]),
                          .count = job.receive.counts[of]});
    }
    if (job.send.counts[of] > 0) {
      destinations_.push_back({.rank = *peer, .address = job.send.displacements[of], .count = job.send.counts[of]});
    }
  }
  by_rank_.resize(destinations_.size());
  std::iota(by_rank_.begin(), by_rank_.end(), 0);
  std::sort(by_rank_.begin(), by_rank_.end(), [this](std::int32_t a, std::int32_t b) {
    return destinations_[index(a)].rank < destinations_[index(b)].rank;
  });
  unused_.reserve(index(max_awaited));
  grants_.resize(index(job_.in_flight));
}

void Redistribution::start() {
  done_ = false;
  changed_ = true;
  times_full_ = 0;
  looks_ = 0;
  look_from_ = 0;
  awaited_ = 0;
  unsent_ = 0;
  first_open_ = sources_.empty() ? -1 : 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    source.granted = source.arrived = 0;
    source.behind = -1;
    source.next = i + 1 < sources_.size() ? static_cast<std::int32_t>(i) + 1 : -1;
    awaited_ += source.count;
  }
  for (Destination& destination : destinations_) {
    destination.sent = destination.granted = 0;
    destination.grants = {};
    destination.queued = destination.waits = false;
    destination.next = -1;
    unsent_ += destination.count;
  }
  open_destinations_ = std::ssize(destinations_);
  first_to_serve_ = last_to_serve_ = -1;
  sends_out_ = 0;
  inventory_.lay_out();
  unused_.clear();
  for (std::int64_t place = 0; place < max_awaited; ++place) unused_.push_back(static_cast<std::int32_t>(place));
  await_grants();
}

bool Redistribution::advance() {
  if (done_ || !changed_) return false;
  changed_ = false;
  send_what_was_granted();
  inventory_.move_home();
  grant();
  if (ended()) {
    inventory_.copy_own();
    inventory_.move_home();
    if (!inventory_.at_home()) inventory_.settle_all();
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
      inventory_.add_arrived(grant.fragment);
      grant.arrived = true;
      source.arrived += length;
      --source.out;
      awaited_ -= length;
      end_grant(grant);
      break;
    }
    case grant_sent:
      grants_[number].sent = true;
      end_grant(grants_[number]);
      break;
    case grant_came:
      grant_received(number);
      break;
    case data_sent: {
      Destination& destination = destinations_[number / at_once];
      Range& sent = destination.sending[number % at_once];
      inventory_.add_sent(sent);
      unsent_ -= length_of(sent);
      sent = {};
      --sends_out_;
      if (std::exchange(destination.waits, false)) serve_later(static_cast<std::int32_t>(number / at_once));
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

// From anyone, but no more than there are destinations that must grant something yet: each will be answered.
void Redistribution::await_grants() {
  while (!unused_.empty() && max_awaited - std::ssize(unused_) < open_destinations_) {
    const auto place = index(unused_.back());
    unused_.pop_back();
    await_grant(place);
  }
}

void Redistribution::await_grant(std::size_t place) {
  const Piece word{.buffer = Buffer::scratch,
                   .block = 1,
                   .offset = static_cast<std::int64_t>(place) * grant_bytes,
                   .length = grant_bytes};
  backend_.receive({grant_came, static_cast<std::int64_t>(place)}, anyone, job_.grants, {&word, 1});
}

// Two grants of a rank may be heard of in either order.
void Redistribution::grant_received(std::size_t place) {
  const std::size_t word = place * index(grant_words);
  const auto rank = static_cast<Rank>(job_.words[word]);
  const Range elements{job_.words[word + 1], job_.words[word + 2]};
  unused_.push_back(static_cast<std::int32_t>(place));
  const auto found = std::lower_bound(by_rank_.begin(), by_rank_.end(), rank, [this](std::int32_t one, Rank of) {
    return destinations_[index(one)].rank < of;
  });
  const bool known = found != by_rank_.end() && destinations_[index(*found)].rank == rank;
  if (!known) throw std::logic_error("a grant of a rank that gets nothing");
  Destination& destination = destinations_[index(*found)];
  auto* const unused =
      std::find_if(destination.grants.begin(), destination.grants.end(), [](const Range& one) { return one.empty(); });
  const bool fits = unused != destination.grants.end() && elements.begin >= destination.sent && !elements.empty() &&
                    elements.end <= destination.count;
  if (!fits) throw std::logic_error("a grant of what is not to be sent");
  *unused = elements;
  destination.granted += length_of(elements);
  if (destination.granted == destination.count) --open_destinations_;
  serve_later(*found);
}

void Redistribution::serve_later(std::int32_t number) {
  Destination& destination = destinations_[index(number)];
  if (std::exchange(destination.queued, true)) return;
  destination.next = -1;
  (first_to_serve_ < 0 ? first_to_serve_ : destinations_[index(last_to_serve_)].next) = number;
  last_to_serve_ = number;
}

void Redistribution::send_what_was_granted() {
  while (first_to_serve_ >= 0 && sends_out_ < job_.sends) {
    const std::int32_t number = first_to_serve_;
    Destination& destination = destinations_[index(number)];
    first_to_serve_ = destination.next;
    destination.queued = false;
    serve(number);
  }
  await_grants();
}

void Redistribution::serve(std::int32_t number) {
  Destination& destination = destinations_[index(number)];
  for (;;) {
    ++looks_;
    auto* const next = std::find_if(destination.grants.begin(), destination.grants.end(),
                                    [&](const Range& one) { return !one.empty() && one.begin == destination.sent; });
    if (next == destination.grants.end()) return;
    if (sends_out_ == job_.sends) return serve_later(number);
    auto* const free = std::find_if(destination.sending.begin(), destination.sending.end(),
                                    [](const Range& range) { return range.empty(); });
    // A peer may know of the arrival of data before the local send completes.
    destination.waits = free == destination.sending.end();
    if (destination.waits) return;
    const Range elements = std::exchange(*next, {});
    *free = {destination.address + elements.begin, destination.address + elements.end};
    destination.sent = elements.end;
    const Piece data{.buffer = Buffer::output,
                     .offset = free->begin * job_.element.size(),
                     .length = length_of(elements) * job_.element.size()};
    const std::int64_t send = number * at_once + (free - destination.sending.begin());
    ++sends_out_;
    backend_.send({data_sent, send}, destination.rank, data_channel, {&data, 1});
  }
}

void Redistribution::grant() {
  for (std::int32_t* link = &first_open_; *link >= 0;) {
    Source& source = sources_[index(*link)];
    ++looks_;
    while (source.granted < source.count && source.out < at_once) {
      if (grants_out_ == job_.in_flight || inventory_.holes().empty() || !grant_to(source)) return;
    }
    if (source.granted == source.count) {
      *link = source.next;
    } else {
      link = &source.next;
    }
  }
}

bool Redistribution::grant_to(Source& source) {
  if (inventory_.full()) {
    ++times_full_;
    inventory_.settle_all();
    for (Source& one : sources_) one.behind = -1;
  }
  const Range places = choose(source);
  if (places.empty()) return false;
  const auto free = std::find_if(grants_.begin(), grants_.end(), [](const Grant& one) { return one.source < 0; });
  const std::int64_t number = free - grants_.begin();
  const std::int64_t length = length_of(places);
  *free = {.source = static_cast<std::int32_t>(&source - sources_.data()),
           .fragment = {places.begin, length, source.home + source.granted}};
  inventory_.reserve(places);
  const Range elements{source.granted, source.granted + length};
  source.granted += length;
  source.behind = places.end;
  ++source.out;
  ++grants_out_;
  const Piece data = inventory_.space().piece(places.begin, length);
  backend_.receive({data_arrived, number}, source.rank, data_channel, {&data, 1});
  const std::int64_t place = (max_awaited + number) * grant_words;
  job_.words[index(place)] = job_.rank;
  job_.words[index(place) + 1] = elements.begin;
  job_.words[index(place) + 2] = elements.end;
  const Piece word{
      .buffer = Buffer::scratch, .block = 1, .offset = (max_awaited + number) * grant_bytes, .length = grant_bytes};
  backend_.send({grant_sent, number}, source.rank, job_.grants, {&word, 1});
  return true;
}

std::int64_t Redistribution::chunk(std::int64_t place) const {
  const Space& space = inventory_.space();
  const std::int64_t extra = (space.size() - space.extra_begin()) / job_.in_flight;
  const std::int64_t bytes = job_.element.size();
  const std::int64_t buffer = place < space.extra_begin() ? buffer_chunk_bytes / bytes : 0;
  return std::max<std::int64_t>(std::min(std::max(extra, buffer), job_.part / bytes), 1);
}

Range Redistribution::choose_at(std::int64_t place, std::int64_t left) const {
  const Range* hole = inventory_.holes().around(place);
  if (!hole) return {};
  return {place, place + std::min({left, chunk(place), hole->end - place, inventory_.space().run(place).length})};
}

// The largest of a few, each time others; the first that is as large as can be used.
Range Redistribution::large_hole(std::int64_t left, std::int64_t wanted) {
  const Space& space = inventory_.space();
  Range largest;
  for (int look = 0; look < most_looks && length_of(largest) < wanted; ++look) {
    const Range* hole = inventory_.holes().from(look_from_);
    if (!hole) {
      look_from_ = 0;
      hole = inventory_.holes().from(0);
    }
    const std::int64_t place = std::max(look_from_, hole->begin);
    const std::int64_t run = std::min(hole->end - place, space.run(place).length);
    const std::int64_t length = std::min({left, chunk(place), run});
    if (length > length_of(largest)) largest = {place, place + length};
    look_from_ = place + run;
    ++looks_;
  }
  return largest;
}

Range Redistribution::choose(const Source& source) {
  const std::int64_t left = source.count - source.granted;
  const std::int64_t wanted = std::min(left, chunk(0));
  const std::int64_t possible = std::min(wanted, chunk(inventory_.space().extra_begin()));
  const Range largest = large_hole(left, wanted);
  Range chosen = largest;
  for (const std::int64_t place : {source.behind, source.home + source.granted}) {
    const Range here = choose_at(place, left);
    if (!here.empty() && 2 * length_of(here) >= length_of(largest)) chosen = here;
  }
  const std::int64_t length = std::max(length_of(chosen), length_of(largest));
  if (inventory_.reserved() > 0 && length * worthwhile_part < possible) return {};
  if (chosen == largest) look_from_ = largest.begin;
  return chosen;
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
    if (destination.granted < destination.count) list.push_back(fmt::format("a grant of rank {}", destination.rank));
  }
  for (const Grant& grant : grants_) {
    if (grant.source >= 0 && !grant.sent) {
      list.push_back(fmt::format("a grant to rank {}", sources_[index(grant.source)].rank));
    }
  }
  return list;
}

}  // namespace quadrille::redistribute
