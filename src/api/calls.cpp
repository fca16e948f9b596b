#include "api/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <quadrille/error.hpp>

#include "algorithms/catalogue.hpp"
#include "select/choose.hpp"

namespace quadrille::api {

namespace {

using engine::Context;
using engine::Shape;

// Algorithms that do not cut their data must not be cached once for each segment size.
std::int64_t segment_for(const Context& context, const Algorithm& algorithm, std::int64_t unit_bytes) {
  const std::int64_t units = context.settings().segment / std::max<std::int64_t>(1, unit_bytes);
  return algorithm.segmented ? std::max<std::int64_t>(1, units) : 0;
}

// Fills in the algorithm and what depends on it. Only what the caller asked for by name may turn out not to serve.
Shape completed(const Context& context, Collective collective, const Algorithm* wanted, Shape shape,
                const Layout& layout) {
  const std::int64_t unit_bytes = traits(collective).reduces ? layout.size() : 1;
  const auto with = [&](const Algorithm& algorithm) {
    Shape whole = shape;
    whole.algorithm = &algorithm;
    whole.segment = segment_for(context, algorithm, unit_bytes);
    return whole;
  };
  if (wanted) return with(*wanted);
  const auto serves = [&](const Algorithm& algorithm) {
    return refusal(algorithm, {.in_place = shape.in_place, .commutative = shape.commutative}).empty() &&
           context.memory_for(with(algorithm), layout) <= context.settings().memory;
  };
  const Algorithm* told = context.settings().told(collective);
  if (told && serves(*told)) return with(*told);
  const Algorithm& chosen = choose({.collective = collective,
                                    .ranks = context.ranks(),
                                    .bytes = shape.count * unit_bytes,
                                    .count = shape.count,
                                    .segment = context.settings().segment});
  if (serves(chosen)) return with(chosen);
  for (const Algorithm* other : catalogue()) {
    if (other->collective == collective && serves(*other)) return with(*other);
  }
  return with(chosen);
}

// Packing matters only where memory is bound.
bool staged(const Context& context, const Layout& layout) {
  return context.settings().memory > 0 && !layout.is_contiguous();
}

void refuse_negative(std::int64_t count) {
  if (count < 0) throw Error(MPI_ERR_COUNT, fmt::format("count is {}: it must not be negative", count));
}

}  // namespace

const Algorithm* named(Collective collective, std::string_view name) {
  if (name.empty()) return nullptr;
  if (const Algorithm* found = find_algorithm(collective, name)) return found;
  std::string known;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective) known += fmt::format("{}{}", known.empty() ? "" : ", ", algorithm->name);
  }
  throw Error(MPI_ERR_ARG,
              fmt::format("{} has no algorithm '{}'; there are {}", quadrille::name(collective), name, known));
}

Prepared barrier(Context& context, const Algorithm* wanted) {
  return context.prepare(completed(context, Collective::barrier, wanted, {}, Layout::basic(1)));
}

Prepared bcast(Context& context, void* data, std::int64_t count, const Layout& layout, Rank root,
               const Algorithm* wanted) {
  refuse_negative(count);
  if (root < 0 || root >= context.ranks()) {
    throw Error(MPI_ERR_ROOT, fmt::format("root is {}: it must be a rank, 0 to {}", root, context.ranks() - 1));
  }
  const Shape shape{.root = root, .count = count * layout.size(), .staged = staged(context, layout)};
  Prepared task = context.prepare(completed(context, Collective::bcast, wanted, shape, layout));
  task->use_layouts(layout, layout);
  task->binding().output.assign(1, {data, count, &task->output_layout()});
  return task;
}

Prepared allreduce(Context& context, const void* input, void* output, std::int64_t count, const Layout& layout,
                   const engine::Reduction& reduction, const Algorithm* wanted) {
  refuse_negative(count);
  const bool in_place = input == MPI_IN_PLACE;
  const Shape shape{
      .count = count, .in_place = in_place, .commutative = reduction.commutative, .staged = staged(context, layout)};
  Prepared task = context.prepare(completed(context, Collective::allreduce, wanted, shape, layout));
  task->use_layouts(layout, layout);
  Binding& binding = task->binding();
  if (!in_place) binding.input.assign(1, {const_cast<void*>(input), count, &task->input_layout()});
  binding.output.assign(1, {output, count, &task->output_layout()});
  binding.reduce = reduction.function;
  task->set_operation(reduction.code);
  return task;
}

namespace {

void bind(std::vector<Typed>& blocks, const Blocks& side, const Layout& layout, Rank ranks) {
  blocks.resize(static_cast<std::size_t>(ranks));
  std::int64_t next = 0;
  for (Rank peer = 0; peer < ranks; ++peer) {
    const std::int64_t count = side.counts[peer];
    refuse_negative(count);
    const std::int64_t displacement = side.displacements ? side.displacements[peer] : next;
    next += count;
    blocks[static_cast<std::size_t>(peer)] = {byte_at(side.address, displacement * layout.extent()), count, &layout};
  }
}

}  // namespace

Prepared alltoallv(Context& context, const Blocks& input, const Blocks& output, const Algorithm* wanted) {
  if (input.address == MPI_IN_PLACE) {
    throw Error(MPI_ERR_BUFFER, "alltoallv in place is not served yet: pass separate buffers");
  }
  const Shape shape{.staged = staged(context, input.layout) || staged(context, output.layout)};
  Prepared task = context.prepare(completed(context, Collective::alltoallv, wanted, shape, Layout::basic(1)));
  const std::int64_t to_myself = input.counts[context.rank()] * input.layout.size();
  const std::int64_t from_myself = output.counts[context.rank()] * output.layout.size();
  if (to_myself != from_myself) {
    throw Error(MPI_ERR_COUNT, fmt::format("alltoallv: rank {} sends itself {} bytes and receives {}", context.rank(),
                                           to_myself, from_myself));
  }
  task->use_layouts(input.layout, output.layout);
  bind(task->binding().input, input, task->input_layout(), context.ranks());
  bind(task->binding().output, output, task->output_layout(), context.ranks());
  return task;
}

}  // namespace quadrille::api
