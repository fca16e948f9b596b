#include "redistribute/redistribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "patterns/tournament.hpp"

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

Job with_limits(Job job) {
  job.in_flight = std::clamp<std::int64_t>(job.in_flight, 1, Redistribution::max_in_flight);
  return job;
}

}  // namespace

std::int64_t Redistribution::bookkeeping_bytes(Rank ranks) {
  const auto bytes = [](std::int64_t count, std::size_t each) { return count * static_cast<std::int64_t>(each); };
  return Inventory::bookkeeping_bytes(ranks, max_in_flight) + bytes(max_in_flight, sizeof(Grant)) +
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
  binding.output.push_back({job.data, end * job.element_bytes, &byte});
  binding.scratch.push_back({job.extra.data(), static_cast<std::int64_t>(job.extra.size()), &byte});
  binding.scratch.push_back({job.words.data(), static_cast<std::int64_t>(job.words.size_bytes()), &byte});
  return binding;
}

Redistribution::Redistribution(const Job& job, Backend& backend)
    : job_(with_limits(job)), backend_(backend), inventory_(job_) {
  if (static_cast<std::int64_t>(job.words.size()) < words(job.ranks)) {
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
  to_serve_.reserve(destinations_.size());
  grants_.resize(index(job_.in_flight));
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
  inventory_.lay_out();
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
    case grant_received:
      destinations_[number].grant = job_.words[number];
      to_serve_.push_back(static_cast<std::int32_t>(number));
      break;
    case data_sent: {
      Range& sent = destinations_[number / at_once].sending[number % at_once];
      inventory_.add_sent(sent);
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

void Redistribution::grant() {
  while (first_open_ < sources_.size() && sources_[first_open_].granted == sources_[first_open_].count) ++first_open_;
  for (std::size_t i = first_open_; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    while (source.granted < source.count && source.out < at_once) {
      if (grants_out_ == job_.in_flight || inventory_.holes().empty() || !grant_to(source)) return;
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
  source.granted += length;
  source.behind = places.end;
  ++source.out;
  ++grants_out_;
  const Piece data = inventory_.space().piece(places.begin, length);
  backend_.receive({data_arrived, number}, source.rank, data_channel, {&data, 1});
  const std::int64_t place = job_.ranks + number;
  job_.words[index(place)] = length;
  const Piece word{.buffer = Buffer::scratch, .block = 1, .offset = place * word_bytes, .length = word_bytes};
  backend_.send({grant_sent, number}, source.rank, grant_channel, {&word, 1});
  return true;
}

std::int64_t Redistribution::chunk(std::int64_t place) const {
  const Space& space = inventory_.space();
  const std::int64_t extra = (space.size() - space.extra_begin()) / job_.in_flight;
  const std::int64_t buffer = place < space.extra_begin() ? buffer_chunk_bytes / job_.element_bytes : 0;
  return std::max<std::int64_t>({extra, buffer, 1});
}

Range Redistribution::choose_at(std::int64_t place, std::int64_t left) const {
  const Range* hole = inventory_.holes().around(place);
  if (!hole) return {};
  return {place, place + std::min({left, chunk(place), hole->end - place, inventory_.space().run(place).length})};
}

Range Redistribution::choose(const Source& source) const {
  const std::int64_t left = source.count - source.granted;
  Range largest;
  for (const Range& hole : inventory_.holes()) {
    for (std::int64_t place = hole.begin; place < hole.end;) {
      const std::int64_t run = std::min(hole.end - place, inventory_.space().run(place).length);
      const std::int64_t length = std::min({left, chunk(place), run});
      if (length >= length_of(largest)) largest = {place, place + length};
      place += run;
    }
  }
  const std::int64_t wanted = std::min(left, chunk(0));
  const std::int64_t possible = std::min(wanted, chunk(inventory_.space().extra_begin()));
  if (inventory_.reserved() > 0 && length_of(largest) * worthwhile_part < possible) return {};
  for (const std::int64_t place : {source.home + source.granted, source.behind}) {
    const Range here = choose_at(place, left);
    if (!here.empty() && 2 * length_of(here) >= length_of(largest)) return here;
  }
  return largest;
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
