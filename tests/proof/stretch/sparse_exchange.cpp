#include "stretch/sparse_exchange.hpp"

#include <stdexcept>

#include "patterns/ring.hpp"
#include "replay/world.hpp"

namespace quadrille::stretch {

namespace {

const Layout byte_layout = Layout::basic(1);
const Layout size_layout = Layout::basic(sizeof(std::int64_t));

std::size_t at(Rank rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace

SparseExchange::SparseExchange(Rank rank, const std::vector<std::vector<std::byte>>& outgoing)
    : rank_(rank), outgoing_(outgoing), sizes_in_(outgoing.size()), incoming_(outgoing.size()) {
  for (const auto& bytes : outgoing) sizes_out_.push_back(static_cast<std::int64_t>(bytes.size()));
}

bool SparseExchange::next(Phase& phase) {
  if (schedules_.size() == 2) return false;
  if (schedules_.empty()) {
    announce(phase);
  } else {
    exchange(phase);
  }
  schedules_.push_back(phase.program->schedule());
  return true;
}

void SparseExchange::announce(Phase& phase) {
  const auto ranks = static_cast<Rank>(outgoing_.size());
  Builder builder(rank_, ranks, Unit::bytes);
  const auto input = [](Rank peer) { return Region{.buffer = Buffer::input, .block = peer}; };
  const auto output = [](Rank peer) { return Region{.buffer = Buffer::output, .block = peer}; };
  builder.copy(input(rank_), output(rank_));
  phase.binding = {};
  for (Rank distance = 0; distance < ranks; ++distance) {
    phase.binding.input.push_back({&sizes_out_[at(distance)], 1, &size_layout});
    phase.binding.output.push_back({&sizes_in_[at(distance)], 1, &size_layout});
    if (distance == 0) continue;
    const Rank to = patterns::at_distance(rank_, distance, ranks);
    const Rank from = patterns::at_distance(rank_, -distance, ranks);
    builder.receive(from, output(from));
    builder.send(to, input(to));
  }
  phase.program = std::make_shared<Program>(builder.finish());
}

void SparseExchange::exchange(Phase& phase) {
  const auto ranks = static_cast<Rank>(outgoing_.size());
  Builder builder(rank_, ranks, Unit::bytes);
  phase.binding = {};
  for (Rank peer = 0; peer < ranks; ++peer) {
    incoming_[at(peer)].resize(static_cast<std::size_t>(sizes_in_[at(peer)]));
    auto* source = const_cast<std::byte*>(outgoing_[at(peer)].data());
    phase.binding.input.push_back({source, sizes_out_[at(peer)], &byte_layout});
    phase.binding.output.push_back({incoming_[at(peer)].data(), sizes_in_[at(peer)], &byte_layout});
  }
  for (Rank distance = 0; distance < ranks; ++distance) {
    const Rank to = patterns::at_distance(rank_, distance, ranks);
    const Rank from = patterns::at_distance(rank_, -distance, ranks);
    const Region input{.buffer = Buffer::input, .block = to, .length = sizes_out_[at(to)]};
    const Region output{.buffer = Buffer::output, .block = from, .length = sizes_in_[at(from)]};
    if (distance == 0) {
      builder.copy(input, output);
    } else {
      builder.receive(from, output);
      builder.send(to, input);
    }
  }
  phase.program = std::make_shared<Program>(builder.finish());
}

verify::Subject replayed_sparse_exchange(Rank ranks, const BlockSizes& sizes, std::uint64_t seed) {
  std::vector<std::vector<std::vector<std::byte>>> outgoing(at(ranks), std::vector<std::vector<std::byte>>(at(ranks)));
  for (Rank from = 0; from < ranks; ++from) {
    for (Rank to = 0; to < ranks; ++to) {
      const auto mark = static_cast<std::byte>(from * 16 + to);
      outgoing[at(from)][at(to)].assign(static_cast<std::size_t>(sizes(from, to)), mark);
    }
  }
  std::vector<std::unique_ptr<Plan>> plans;
  // The replay destroys its plans; the exchanges must outlive them.
  struct Forward final : Plan {
    explicit Forward(SparseExchange& to) : exchange(to) {}
    bool next(Phase& phase) override { return exchange.next(phase); }
    SparseExchange& exchange;
  };
  std::vector<std::unique_ptr<SparseExchange>> own;
  for (Rank rank = 0; rank < ranks; ++rank) {
    own.push_back(std::make_unique<SparseExchange>(rank, outgoing[at(rank)]));
    plans.push_back(std::make_unique<Forward>(*own.back()));
  }
  replay::Options options;
  options.seed = seed;
  options.window = static_cast<std::int64_t>(1 + seed % 3);
  replay::run(std::move(plans), options);
  for (Rank from = 0; from < ranks; ++from) {
    for (Rank to = 0; to < ranks; ++to) {
      if (own[at(to)]->incoming()[at(from)] != outgoing[at(from)][at(to)]) throw std::runtime_error("wrong bytes");
    }
  }

  Problem problem;
  problem.ranks = ranks;
  const auto phase = [&](std::size_t number, const BlockSizes& units) {
    const Build build = [&](const Problem& of) { return own[at(of.rank)]->schedules()[number]; };
    return verify::subject_of(Collective::alltoallv, build, problem, units, 0);
  };
  return verify::in_a_row({phase(0, [](Rank, Rank) { return std::int64_t{8}; }), phase(1, sizes)});
}

}  // namespace quadrille::stretch
