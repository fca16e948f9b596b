#include "stretch/schedules.hpp"

#include "algorithms/catalogue.hpp"
#include "compose/compose.hpp"
#include "patterns/ring.hpp"
#include "patterns/trees.hpp"

namespace quadrille::stretch {

Schedule shared_memory_bcast(const Problem& problem) {
  enum Counter { filled, emptied };
  const std::int64_t segment = problem.segment;
  const std::int64_t segments = (problem.count + segment - 1) / segment;
  const bool is_root = problem.rank == problem.root;
  Builder builder(problem.rank, problem.ranks, Unit::bytes);
  builder.slot(2 * segment);
  builder.counters(2, segments);
  if (segments == 0) return builder.finish();
  const Region slot = builder.slot_of(problem.root, 0, segment);

  // Ranks still busy with the previous collective may be reading the slot.
  builder.in_order([&] {
    if (!is_root) return;
    for (Rank peer = 0; peer < problem.ranks; ++peer) {
      if (peer != problem.rank) builder.wait(peer, emptied, 0);
    }
  });
  builder.fence();
  builder.for_each_segment(problem.count, segment, problem.window, [&](const Segment& piece) {
    const std::int64_t number = piece.offset / segment;
    const std::int64_t step = piece.stride > 0 ? 1 : 0;
    Region half = slot.part(step > 0 ? 0 : number % 2 * segment, piece.length);
    half.stride = step * segment;
    half.cycle = step > 0 ? 2 : 0;
    builder.in_order([&] {
      if (is_root) {
        for (Rank peer = 0; peer < problem.ranks; ++peer) {
          if (peer != problem.rank) builder.wait(peer, emptied, number - 1, step);
        }
        builder.copy(piece.of(problem.output), half);
        builder.publish(filled, number + 1, step);
      } else {
        builder.wait(problem.root, filled, number + 1, step);
        builder.copy(half, piece.of(problem.output));
        builder.publish(emptied, number + 1, step);
      }
    });
  });
  builder.fence();
  // The next root waits for all ranks, including this one.
  if (is_root) builder.publish(emptied, segments);
  return builder.finish();
}

Schedule one_sided_bcast(const Problem& problem) {
  // Counters have one writer each: a child and a parent at a given distance are always the same rank.
  constexpr int distances = 32;
  const auto distance_between = [&](Rank from, Rank to) {
    return patterns::ceil_log2(patterns::at_distance(to, -from, problem.ranks));
  };
  const patterns::Tree tree = patterns::binomial_tree(problem.rank, problem.ranks, problem.root);
  Builder builder(problem.rank, problem.ranks, Unit::bytes);
  builder.notices(2 * distances, 1);
  if (tree.parent) {
    const int distance = distance_between(*tree.parent, problem.rank);
    builder.in_order([&] {
      builder.notify(*tree.parent, distance, 1);  // ready
      builder.await(distances + distance, 1);
    });
  }
  builder.fence();
  for (Rank child : tree.children) {
    const int distance = distance_between(problem.rank, child);
    builder.in_order([&] {
      builder.await(distance, 1);
      builder.put(child, problem.output, builder.at(child, problem.output));
      builder.flush(child);
      builder.notify(child, distances + distance, 1);
    });
  }
  return builder.finish();
}

namespace {

// One part per level of the topology, the innermost domains last, in one pipeline.
Schedule down_the_levels(const Problem& problem, std::initializer_list<std::string_view> names) {
  const Topology& topology = *problem.topology;
  Builder builder(problem.rank, problem.ranks, Unit::bytes);
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    Problem piece = problem;
    piece.output = segment.of(problem.output);
    piece.count = segment.length;
    std::vector<compose::Level> levels = compose::levels_of(problem);
    const int innermost = topology.levels() - 1;
    levels.push_back(
        {innermost, topology.domain(innermost, problem.rank), topology.leader(innermost, problem.rank, problem.root)});
    for (const compose::Level& level : levels) {
      piece.root = level.leader;
      const std::string_view name = *(names.begin() + level.number);
      compose::on(builder, level.leaders, level.number, piece, find_algorithm(Collective::bcast, name)->build);
    }
  });
  return builder.finish(topology.levels());
}

}  // namespace

Schedule two_level_bcast(const Problem& problem) {
  return down_the_levels(problem, {"pipelined_chain", "binomial"});
}

Schedule three_level_bcast(const Problem& problem) {
  return down_the_levels(problem, {"pipelined_chain", "binomial", "linear"});
}

Topology racks(Rank ranks, Rank per_node, Rank nodes_per_rack) {
  std::vector<std::int32_t> rack, node;
  for (Rank rank = 0; rank < ranks; ++rank) {
    node.push_back(rank / per_node);
    rack.push_back(rank / per_node / nodes_per_rack);
  }
  return Topology(ranks, {rack, node});
}

Schedule in_place_alltoallv(const Problem& problem) {
  Builder builder(problem.rank, problem.ranks, Unit::bytes);
  const std::int64_t chunk = problem.segment;
  Region bounce = builder.scratch(in_place_alltoallv_scratch(problem));
  for (Rank step = 0; step < problem.ranks; ++step) {
    const Rank peer = patterns::at_distance(step, -problem.rank, problem.ranks);
    if (peer == problem.rank) continue;
    builder.for_each_chunk(problem.output_block(peer), chunk, problem.window, [&](const Segment& piece) {
      Region out = piece.of(bounce);
      out.cycle = 2;
      builder.copy(piece.of(problem.output_block(peer)), out);
      builder.send(peer, out);
      builder.receive(peer, piece.of(problem.output_block(peer)));
    });
  }
  return builder.finish();
}

std::int64_t in_place_alltoallv_scratch(const Problem& problem) {
  return 2 * problem.segment;
}

}  // namespace quadrille::stretch
