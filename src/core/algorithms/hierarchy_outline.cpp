#include "algorithms/hierarchy_outline.hpp"

#include <algorithm>

#include "algorithms/rounds.hpp"

namespace quadrille::hierarchy {

void outline_by(Collective collective, std::string_view name, const Problem& problem, Rank ranks, std::int64_t units,
                Outline& out) {
  if (ranks < 2) return;
  const Algorithm& algorithm = *find_algorithm(collective, name);
  Problem part = problem;
  part.rank = part.root = 0;
  part.ranks = ranks;
  part.count = units;
  part.shares = nullptr;
  part.topology = nullptr;
  part.room = 0;
  part.width = algorithm.width;
  algorithm.outline(part, out);
}

void outline_pieces(const node::Cut& cut, double units, Outline& out, const std::function<void(double piece)>& rounds) {
  const std::int64_t pieces = std::max<std::int64_t>(1, cut.pieces);
  out.pipeline(pieces, [&] { rounds(units / rounds::number(pieces)); });
}

void outline_reduce_inside(const Problem& problem, Outline& out) {
  const Rank seats = node::most_ranks(problem);
  if (seats < 2) return;
  if (!node::shares_memory(problem)) {
    out.inside_nodes([&](Rank ranks) {
      outline_by(Collective::reduce, reduce_name(uncut(problem)), uncut(problem), ranks, problem.count, out);
    });
    return;
  }
  const node::Cut cut = node::Cut::of(problem.count, problem.room);
  outline_pieces(cut, rounds::number(problem.count), out, [&](double piece) {
    if (node::Reduce::is_alone(problem, std::min(cut.piece, problem.count), seats, false)) {
      out.copy(piece, Outline::Who::others);
      out.flag();
      out.reduce(piece, Outline::Who::leader, seats - 1);
    } else {
      out.copy(piece * (seats - 1) / seats);
      out.flag();
      out.reduce(piece / seats, Outline::Who::all, seats - 1);
      out.flag();
      out.copy(piece / seats, Outline::Who::leader, seats);
    }
  });
}

void outline_reduce_to_all(const Problem& problem, Outline& out) {
  const Rank seats = node::most_ranks(problem);
  const node::Cut cut = node::Cut::of(problem.count, problem.room);
  outline_pieces(cut, rounds::number(problem.count), out, [&](double piece) {
    if (node::Reduce::is_alone(problem, std::min(cut.piece, problem.count), seats, true)) {
      out.copy(piece);
      out.flag();
      out.reduce(piece, Outline::Who::all, seats - 1);
    } else {
      out.copy(piece * (seats - 1) / seats);
      out.flag();
      out.reduce(piece / seats, Outline::Who::all, seats - 1);
      out.flag();
      out.copy(piece / seats, Outline::Who::all, seats);
    }
  });
}

void outline_bcast_inside(const Problem& problem, double units, Outline& out) {
  if (node::most_ranks(problem) < 2) return;
  if (!node::shares_memory(problem)) {
    out.inside_nodes([&](Rank ranks) { rounds::down(out, ranks, [&](Rank) { return units; }); });
    return;
  }
  const auto count = static_cast<std::int64_t>(units);
  outline_pieces(node::Cut::of(count, problem.room, problem.segment), units, out, [&](double piece) {
    out.copy(piece, Outline::Who::leader);
    out.flag();
    out.copy(piece, Outline::Who::others);
  });
}

void outline_gather_inside(const Problem& problem, std::int64_t units, Outline& out) {
  const Rank seats = node::most_ranks(problem);
  if (seats < 2) return;
  if (!node::shares_memory(problem)) {
    out.inside_nodes([&](Rank) { out.star(rounds::number(units), Outline::Way::in); });
    return;
  }
  outline_pieces(node::Cut::of(units, problem.room), rounds::number(units), out, [&](double piece) {
    out.copy(piece, Outline::Who::others);
    out.flag();
    out.copy(piece, Outline::Who::leader, seats);
  });
}

void outline_scatter_inside(const Problem& problem, std::int64_t units, Outline& out) {
  const Rank seats = node::most_ranks(problem);
  if (seats < 2) return;
  if (problem.room / seats <= node::Cut::least_places) {
    out.inside_nodes([&](Rank) { out.star(rounds::number(units), Outline::Way::out); });
    return;
  }
  outline_pieces(node::Scatter::cut_of(problem, units), rounds::number(units), out, [&](double piece) {
    out.copy(piece, Outline::Who::leader, seats);
    out.flag();
    out.copy(piece, Outline::Who::others);
  });
}

void outline_reduce_up(const Problem& problem, int to_level, Outline& out) {
  Problem part = problem;
  part.segment = chain_segment(problem);
  for (int level = levels_above_nodes(problem) - 1; level >= to_level; --level) {
    out.among_leaders(level, [&](Rank leaders) {
      outline_by(Collective::reduce, reduce_name(problem), part, leaders, problem.count, out);
    });
  }
}

void outline_gather_up(const Problem& problem, int to_level, Outline::Way way, Outline& out) {
  for (int level = levels_above_nodes(problem) - 1; level >= to_level; --level) {
    // Those of domains of different sizes take as long as as many of the mean.
    const double domain = rounds::number(problem.ranks) / problem.topology->domains(level + 1);
    out.among_leaders(level, [&](Rank) { out.star(domain * rounds::number(problem.count), way); });
  }
}

}  // namespace quadrille::hierarchy
