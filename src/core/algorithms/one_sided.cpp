#include "algorithms/one_sided.hpp"

#include <vector>

#include "patterns/ring.hpp"

namespace quadrille::one_sided {

namespace {

void push(Builder& builder, const Problem& problem, const patterns::Tree& tree, const Notices& notices,
          const Beside& beside) {
  const Rank own = problem.rank;
  if (tree.parent) builder.notify(*tree.parent, notices.of_target(own), 1);  // ready
  std::vector<Added> ready;
  for (Rank child : tree.children) ready.push_back(builder.await(notices.of_target(child), 1));
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    const Region data = segment.of(problem.output);
    const Added here = tree.parent ? builder.await(notices.of_source(*tree.parent), segment) : Added{};
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      builder.after(builder.put(tree.children[i], data, builder.at(tree.children[i], data)), {here, ready[i]});
    }
    if (beside) {
      builder.in_order([&] {
        // Nothing else tells what follows that the data is here.
        if (tree.parent) builder.await(notices.of_source(*tree.parent), segment);
        beside(segment, data);
      });
    }
    for (Rank child : tree.children) {
      const Added arrived = builder.flush(child);
      builder.after(builder.notify(child, notices.of_source(own), segment), {arrived});
    }
  });
}

void deposit(Builder& builder, const Problem& problem, const patterns::Tree& tree, const Notices& notices,
             const Beside& beside) {
  const Region box = builder.box(problem.count);
  if (tree.parent) {
    builder.notify(*tree.parent, notices.of_target(problem.rank), 1);  // the box is empty
    builder.collect(box, problem.output);
  }
  for (Rank child : tree.children) {
    const Added ready = builder.await(notices.of_target(child), 1);
    builder.after(builder.deposit(child, problem.output, box), {ready});
  }
  if (!beside) return;
  builder.for_each_segment(problem.count, problem.segment, problem.window,
                           [&](const Segment& segment) { beside(segment, segment.of(problem.output)); });
}

void pull(Builder& builder, const Problem& problem, const patterns::Tree& tree, const Notices& notices,
          const Beside& beside) {
  const Rank own = problem.rank;
  builder.for_each_segment(problem.count, problem.segment, problem.window, [&](const Segment& segment) {
    const Region data = segment.of(problem.output);
    Added here;
    if (tree.parent) {
      const Added there = builder.await(notices.of_source(*tree.parent), segment);
      here = builder.get(*tree.parent, builder.at(*tree.parent, data), data);
      builder.after(here, {there});
    }
    for (Rank child : tree.children) builder.after(builder.notify(child, notices.of_source(own), segment), {here});
    if (beside) beside(segment, data);
  });
  builder.fence();
  if (tree.parent) builder.notify(*tree.parent, notices.of_target(own), 1);  // it may be overwritten
  for (Rank child : tree.children) builder.await(notices.of_target(child), 1);
}

}  // namespace

Transfer transfer_of(const Problem& problem, Rank boxes) {
  // A box is made of words of four bytes.
  const std::int64_t rounded = (problem.count + 3) / 4 * 4;
  if (rounded <= problem.box / boxes) return Transfer::deposit;
  return problem.pulls ? Transfer::pull : Transfer::push;
}

void broadcast(Builder& builder, const Problem& problem, const patterns::Tree& tree, const Beside& beside) {
  if (problem.count == 0 || problem.ranks == 1) return;
  const Notices notices(builder, problem, patterns::segments(problem.count, problem.segment));
  switch (transfer_of(problem)) {
    case Transfer::push:
      return push(builder, problem, tree, notices, beside);
    case Transfer::deposit:
      return deposit(builder, problem, tree, notices, beside);
    case Transfer::pull:
      return pull(builder, problem, tree, notices, beside);
  }
}

}  // namespace quadrille::one_sided
