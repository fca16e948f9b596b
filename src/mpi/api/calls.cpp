#include "api/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <quadrille/error.hpp>

#include "engine/budget.hpp"
#include "engine/datatype.hpp"
#include "select/choose.hpp"
#include "select/guide.hpp"

namespace quadrille::api {

namespace {

using engine::Context;
using engine::Shape;

// Of counts and sizes, which may be anything.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return result;
  throw Error(MPI_ERR_COUNT, fmt::format("{} times {} bytes or blocks are more than 64 bits can count", a, b));
}

Layout layout_of(const detail::UserBuffer& buffer) {
  if (buffer.type == MPI_DATATYPE_NULL && buffer.element_bytes == 0) {
    throw Error(MPI_ERR_TYPE, "the type is MPI_DATATYPE_NULL");
  }
  return buffer.type == MPI_DATATYPE_NULL ? Layout::basic(buffer.element_bytes) : engine::layout_of(buffer.type);
}

// A call and all that this rank's part in it is made of.
class Preparation {
 public:
  Preparation(Context& context, const detail::Call& call, const Wishes& wishes)
      : context_(context), call_(call), wishes_(wishes), of_(traits(call.collective)) {
    refuse_root();
    find_places();
    if (!of_.reduces) return;
    if (of_.counts_differ && !call.output.counts) {
      throw Error(MPI_ERR_ARG, fmt::format("{}: the counts are NULL", name(call.collective)));
    }
    if (call.op == MPI_OP_NULL && !call.combine) throw Error(MPI_ERR_OP, "the operation is MPI_OP_NULL");
    if (call.op != MPI_OP_NULL && !engine::fits(call.op, call.output.type)) {
      throw Error(MPI_ERR_OP, "the operation has no meaning for elements of this type");
    }
    element_ = layout_of(call.output);
    refuse_negative({.buffer = &call.output});
  }

  // Null where wishes keep to the table, and it has no rule.
  Prepared task(Handles handles);
  // Whether the next call like this one, at other addresses, can have its task.
  bool memorable() const;

 private:
  // One of the caller's buffers, if this rank has it.
  struct Side {
    const detail::UserBuffer* buffer = nullptr;
    std::int32_t blocks = 0;  // 0: it has none
    bool all = false;         // of all ranks, not only its own
    Layout layout = Layout::basic(1);

    std::int64_t bytes() const { return product(buffer->count, layout.size()); }
  };

  void refuse_root() const;
  void find_places();
  void refuse_negative(const Side& side) const;
  Shape shape();
  std::int64_t count() const;
  const Guide::Entry* rule(const Shape& shape) const;
  Shape with_algorithm(const Shape& shape, const Guide::Entry* rule) const;
  static std::int64_t segment_bytes(std::int64_t told, std::int64_t memory);
  bool staged(const Algorithm& algorithm) const;
  std::int64_t data_bytes(const Side& side) const;
  Shape cut_to_swap(Shape shape, std::int32_t lanes) const;
  void bind(const Side& side, std::vector<Layout>& layouts, std::vector<Typed>& blocks) const;
  std::int64_t elements(const Side& side) const;
  std::int64_t to_myself(const Side& side) const;
  void refuse_unequal_ends() const;
  void agree_on_chunks(engine::Task& task) const;

  Context& context_;
  const detail::Call& call_;
  const Wishes& wishes_;
  Traits of_;
  bool in_place_ = false;
  Side input_;
  Side output_;
  Layout element_ = Layout::basic(1);  // of a reduction: all ranks have one type
  std::shared_ptr<const Shares> shares_;
};

void Preparation::refuse_root() const {
  if (!of_.rooted || (call_.root >= 0 && call_.root < context_.ranks())) return;
  throw Error(MPI_ERR_ROOT, fmt::format("{}: root is {}: it must be a rank, 0 to {}", name(call_.collective),
                                        call_.root, context_.ranks() - 1));
}

void Preparation::find_places() {
  input_.buffer = &call_.input;
  output_.buffer = &call_.output;
  input_.all = of_.input == Traits::Side::all;
  output_.all = of_.output == Traits::Side::all;
  const bool receives_in_place = of_.rooted && input_.all;
  const detail::UserBuffer& told = receives_in_place ? call_.output : call_.input;
  // Some programs give a reduction one buffer twice. MPI forbids it, and Open MPI lets it pass.
  const bool twice = of_.reduces && call_.input.address && call_.input.address == call_.output.address &&
                     (!of_.rooted || call_.root == context_.rank());
  in_place_ = of_.may_be_in_place && (told.address == MPI_IN_PLACE || twice);
  if (in_place_ && of_.rooted && call_.root != context_.rank()) {
    throw Error(MPI_ERR_BUFFER, fmt::format("{}: MPI_IN_PLACE is for the root alone", name(call_.collective)));
  }
  const Problem place{.rank = context_.rank(), .ranks = context_.ranks(), .root = call_.root, .in_place = in_place_};
  input_.blocks = block_count(call_.collective, place, Buffer::input);
  output_.blocks = block_count(call_.collective, place, Buffer::output);
  for (Side* side : {&input_, &output_}) {
    if (side->blocks == 0) continue;
    if (side->buffer->address == MPI_IN_PLACE) {
      const std::string_view where = receives_in_place ? "output of the root" : "input";
      throw Error(MPI_ERR_BUFFER, fmt::format("{}: MPI_IN_PLACE {}", name(call_.collective),
                                              of_.may_be_in_place ? fmt::format("may only stand for the {}", where)
                                                                  : "has no meaning here"));
    }
    if (of_.separate_blocks && side->all && !side->buffer->counts) {
      throw Error(MPI_ERR_ARG, fmt::format("{}: the counts are NULL", name(call_.collective)));
    }
    if (!side->buffer->types) side->layout = layout_of(*side->buffer);
    // A type of the user's own may have addresses in it.
    const bool nowhere = !side->buffer->address && !side->buffer->counts && side->buffer->count > 0;
    if (nowhere && (side->buffer->type == MPI_DATATYPE_NULL || engine::is_predefined(side->buffer->type))) {
      throw Error(MPI_ERR_BUFFER, fmt::format("{}: the buffer is NULL", name(call_.collective)));
    }
    refuse_negative(*side);
  }
}

void Preparation::refuse_negative(const Side& side) const {
  const bool many = static_cast<bool>(side.buffer->counts);
  for (Rank i = 0; i < (many ? context_.ranks() : 1); ++i) {
    const std::int64_t count = many ? side.buffer->counts[i] : side.buffer->count;
    if (count < 0) {
      throw Error(MPI_ERR_COUNT,
                  fmt::format("{}: a count is {}: it must not be negative", name(call_.collective), count));
    }
  }
}

// What all ranks count alike: elements of a reduction, else bytes of a rank's data or of a block.
std::int64_t Preparation::count() const {
  if (!of_.moves_data() || of_.separate_blocks || of_.counts_differ) return 0;
  if (of_.reduces) return call_.output.count;
  return input_.blocks > 0 && !input_.all ? input_.bytes() : output_.blocks > 0 ? output_.bytes() : input_.bytes();
}

// Packing matters only where memory is bound.
bool Preparation::staged(const Algorithm& algorithm) const {
  const auto has_gaps = [](const Side& side) {
    return side.blocks > 0 && (side.buffer->types != nullptr || !side.layout.is_contiguous());
  };
  return algorithm.gathers || has_gaps(input_) || has_gaps(output_);
}

// Several segments wait in scratch at a time: under a bound on memory they are so small that this does not matter.
std::int64_t Preparation::segment_bytes(std::int64_t told, std::int64_t memory) {
  constexpr std::int64_t segments_in_memory = 32;
  return memory == 0 ? told : std::clamp<std::int64_t>(memory / segments_in_memory, 1, told);
}

// What it holds for other ranks and itself. Counts may be anything: what is too much to count is very much.
std::int64_t Preparation::data_bytes(const Side& side) const {
  if (side.blocks == 0) return 0;
  const detail::UserBuffer& buffer = *side.buffer;
  if (!buffer.counts) return product(side.bytes(), context_.ranks());
  constexpr std::int64_t very_much = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  for (Rank peer = 0; peer < context_.ranks(); ++peer) {
    if (buffer.counts[peer] == 0) continue;
    const std::int64_t size = buffer.types ? engine::layout_of(buffer.types[peer]).size() : side.layout.size();
    std::int64_t block = 0;
    if (__builtin_mul_overflow(buffer.counts[peer], size, &block)) return very_much;
    if (__builtin_add_overflow(bytes, block, &bytes)) return very_much;
  }
  return bytes;
}

// In place, a rank's budget is its own affair: where blocks differ, partners agree on a chunk first.
Shape Preparation::cut_to_swap(Shape shape, std::int32_t lanes) const {
  shape.swaps = true;
  shape.staged = staged(*shape.algorithm);
  if (shape.memory == 0) shape.memory = engine::default_budget(data_bytes(output_));
  engine::Cut::Wanted wanted{.ranks = context_.ranks(), .staged = shape.staged, .longest = context_.settings().part};
  wanted.staged_anywhere = wanted.rest = !of_.separate_blocks;
  if (lanes > 0) wanted.lanes = lanes;
  const engine::Cut cut = engine::Cut::of(shape.memory, wanted);
  shape.segment = cut.chunk;
  shape.window = cut.window;
  shape.width = cut.lanes;
  if (cut.chunk > 0) shape.memory = cut.bytes;
  return shape;
}

// What the table says of this size, as the benchmark counts it: of a block for each rank, all of them.
const Guide::Entry* Preparation::rule(const Shape& shape) const {
  if (!context_.guide().knows(call_.collective)) return nullptr;
  const bool block_of_many = input_.all && !of_.rooted && !shape.shares;
  const std::int64_t units = shape.shares ? shape.shares->total() : shape.count;
  const std::int64_t bytes = product(units, element_.size());
  return context_.guide().find(call_.collective, product(bytes, block_of_many ? context_.ranks() : 1));
}

// Only what the caller asked for by name may turn out not to serve. Whether a rooted collective is in place is the
// root's affair: the choice must be the same on every rank. No algorithm: the table alone was to be followed, and what
// it names can't serve.
Shape Preparation::with_algorithm(const Shape& shape, const Guide::Entry* rule) const {
  const std::int64_t unit_bytes = element_.size();
  const auto with = [&](const Choice& choice, std::int64_t segment = 0) {
    Shape whole = shape;
    whole.algorithm = choice.algorithm;
    whole.width = choice.width;
    // Algorithms that do not cut their data must not be cached once for each segment size.
    const std::int64_t told = segment > 0 ? segment : context_.settings().segment;
    const std::int64_t units = segment_bytes(told, shape.memory) / std::max<std::int64_t>(1, unit_bytes);
    whole.segment = choice.algorithm->segmented ? std::max<std::int64_t>(1, units) : 0;
    whole.room = choice.algorithm->hierarchical ? context_.room_for(element_) : 0;
    whole.staged = whole.memory > 0 && staged(*choice.algorithm);
    return choice.algorithm->swaps && in_place_ ? cut_to_swap(whole, choice.width) : whole;
  };
  if (wishes_.algorithm) return with(wishes_.algorithm);
  const Problem problem{.ranks = context_.ranks(),
                        .in_place = !of_.rooted && shape.in_place,
                        .commutative = shape.commutative,
                        .fixed_order = shape.fixed_order,
                        .topology = &context_.topology()};
  const auto can = [&](const Choice& choice) {
    Problem own = problem;
    own.width = choice.width;
    return refusal(*choice.algorithm, own).empty();
  };
  const auto serves = [&](const Choice& choice, std::int64_t segment = 0) {
    return can(choice) && context_.memory_for(with(choice, segment), element_) <= shape.memory;
  };
  if (wishes_.by_table && !(rule && can(rule->choice))) return {};
  const Choice told = context_.settings().told(call_.collective);
  if (told && serves(told)) return with(told);
  // What takes too much memory is then handed down for that.
  if (rule && (wishes_.by_table || serves(rule->choice, rule->segment))) return with(rule->choice, rule->segment);
  const std::int64_t total = shape.shares ? shape.shares->total() : shape.count;
  const Choice chosen{&choose({.collective = call_.collective,
                               .ranks = context_.ranks(),
                               .bytes = product(total, unit_bytes),
                               .count = total,
                               .segment = context_.settings().segment,
                               .in_place = problem.in_place,
                               .commutative = shape.commutative,
                               .fixed_order = shape.fixed_order})};
  if (serves(chosen)) return with(chosen);
  for (const Algorithm* other : catalogue()) {
    if (other->collective == call_.collective && serves({other})) return with({other});
  }
  return with(chosen);
}

Shape Preparation::shape() {
  if (of_.counts_differ) shares_ = context_.shares(call_.output.counts);
  Shape shape{.root = of_.rooted ? call_.root : 0, .count = count(), .shares = shares_};
  shape.memory = context_.bounded(wishes_.memory);
  shape.in_place = in_place_;
  // In place a uniform all-to-all is bound in any case, whatever serves it; others are bound when they are cut.
  if (in_place_ && shape.memory == 0 && call_.collective == Collective::alltoall) {
    shape.memory = engine::default_budget(data_bytes(output_));
  }
  shape.fixed_order = of_.reduces && wishes_.fixed_order;
  return shape;
}

// Of a buffer that is one block.
std::int64_t Preparation::elements(const Side& side) const {
  // In place, a reduce_scatter's output holds the input.
  const bool all = side.all || (in_place_ && of_.reduces && input_.all);
  if (!shares_) return product(side.buffer->count, all ? context_.ranks() : 1);
  const Range own = shares_->of(context_.rank());
  return all ? shares_->total() : own.end - own.begin;
}

void Preparation::bind(const Side& side, std::vector<Layout>& layouts, std::vector<Typed>& blocks) const {
  const detail::UserBuffer& buffer = *side.buffer;
  auto* address = static_cast<std::byte*>(const_cast<void*>(buffer.address));
  layouts.assign(buffer.types ? static_cast<std::size_t>(side.blocks) : 1, side.layout);
  blocks.resize(static_cast<std::size_t>(side.blocks));
  if (side.blocks == 0) return;
  const bool separate = of_.separate_blocks && side.all;
  if (!separate) {
    blocks.front() = {address, elements(side), &layouts.front()};
    return;
  }
  std::int64_t next = 0;
  for (Rank peer = 0; peer < side.blocks; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    // Of an empty block nobody looks at the type, which may be null.
    if (buffer.types && buffer.counts[peer] != 0) layouts[at] = engine::layout_of(buffer.types[peer]);
    const Layout& layout = buffer.types ? layouts[at] : layouts.front();
    const std::int64_t count = buffer.counts[peer];
    const std::int64_t displacement = buffer.displacements ? buffer.displacements[peer] : next;
    next += count;
    blocks[at] = {byte_at(address, buffer.types ? displacement : displacement * layout.extent()), count, &layout};
  }
}

// Bytes that this rank sends to itself, or has from itself.
std::int64_t Preparation::to_myself(const Side& side) const {
  const detail::UserBuffer& buffer = *side.buffer;
  const bool separate = of_.separate_blocks && side.all;
  if (!separate) return side.bytes();
  if (buffer.counts[context_.rank()] == 0) return 0;
  const std::int64_t size = buffer.types ? engine::layout_of(buffer.types[context_.rank()]).size() : side.layout.size();
  return buffer.counts[context_.rank()] * size;
}

void Preparation::refuse_unequal_ends() const {
  if (of_.reduces || input_.blocks == 0 || output_.blocks == 0) return;
  if (to_myself(input_) == to_myself(output_)) return;
  throw Error(MPI_ERR_TRUNCATE, fmt::format("{}: rank {} sends itself {} bytes and receives {}", name(call_.collective),
                                            context_.rank(), to_myself(input_), to_myself(output_)));
}

void Preparation::agree_on_chunks(engine::Task& task) const {
  constexpr std::int64_t word = sizeof(std::int64_t);
  auto allgather = context_.program({.algorithm = find_algorithm(Collective::allgather, "bruck"), .count = word});
  using engine::AgreeOnChunks;
  const std::int64_t own = call_.unequal ? AgreeOnChunks::unequal : task.shape().segment;
  task.set_plan([allgather, &task, own] {
    const bool had = own <= 0 || task.reserve();
    return std::make_unique<AgreeOnChunks>(allgather, had ? own : AgreeOnChunks::exhausted, task.binding().chunks);
  });
}

Prepared Preparation::task(Handles handles) {
  Shape shape = this->shape();
  const Guide::Entry* const rule = this->rule(shape);
  if (wishes_.by_table && !rule) return nullptr;
  engine::Reduction reduction{call_.combine, call_.commutative};
  if (of_.reduces) {
    if (call_.op != MPI_OP_NULL) reduction = engine::reduction_of(call_.op, call_.output.type);
    shape.commutative = reduction.commutative && !shape.fixed_order;
  }
  refuse_unequal_ends();
  shape = with_algorithm(shape, rule);
  if (!shape.algorithm) return nullptr;
  Prepared task = context_.prepare(shape);
  if (shape.swaps && of_.separate_blocks) agree_on_chunks(*task);
  if (of_.reduces) {
    task->use_element(element_);
    task->set_operation(reduction.code);
    task->binding().reduce = std::move(reduction.function);
    task->binding().combine = reduction.kernel;
    if (handles == Handles::kept && call_.op != MPI_OP_NULL) task->keep(engine::Kept(call_.op, call_.output.type));
  }
  bind(input_, task->input_layouts(), task->binding().input);
  bind(output_, task->output_layouts(), task->binding().output);
  return task;
}

bool Preparation::memorable() const {
  if (of_.counts_differ || of_.separate_blocks || call_.combine) return false;
  if (of_.reduces && !engine::is_predefined_operation(call_.op)) return false;
  for (const Side& side : {input_, output_}) {
    const bool own_type = side.blocks > 0 && side.buffer->type != MPI_DATATYPE_NULL;
    if (own_type && !engine::is_predefined(side.buffer->type)) return false;
  }
  return !of_.reduces || engine::is_predefined(call_.output.type);
}

engine::Signature signature_of(const detail::Call& call, const Wishes& wishes) {
  return {.collective = call.collective,
          .input_in_place = call.input.address == MPI_IN_PLACE,
          .output_in_place = call.output.address == MPI_IN_PLACE,
          .fixed_order = wishes.fixed_order,
          .root = call.root,
          .width = wishes.algorithm.width,
          .algorithm = wishes.algorithm.algorithm,
          .memory = wishes.memory,
          .input_count = call.input.count,
          .output_count = call.output.count,
          .input_element = call.input.element_bytes,
          .output_element = call.output.element_bytes,
          .input_type = call.input.type,
          .output_type = call.output.type,
          .op = call.op};
}

}  // namespace

Choice named(Collective collective, std::string_view name) {
  if (name.empty()) return {};
  const Choice found = choice_of(collective, name);
  if (found && found.width == 0) return found;
  if (found) {
    const std::string why = refusal(*found.algorithm, {.width = found.width});
    if (why.empty()) return found;
    throw Error(MPI_ERR_ARG, why);
  }
  std::string known;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective) known += fmt::format("{}{}", known.empty() ? "" : ", ", algorithm->name);
  }
  throw Error(MPI_ERR_ARG,
              fmt::format("{} has no algorithm '{}'; there are {}", quadrille::name(collective), name, known));
}

Prepared prepare(Context& context, const detail::Call& call, const Wishes& wishes, Handles handles) {
  const engine::Signature signature = signature_of(call, wishes);
  const bool twice = call.input.address && call.input.address == call.output.address;  // see find_places
  const bool simple = !call.combine && !call.input.counts && !call.output.counts && !twice;
  if (simple) {
    if (wishes.by_table && context.passed_by(signature)) return nullptr;
    if (Prepared known = context.recall(signature, call.input.address, call.output.address)) return known;
  }
  Preparation preparation(context, call, wishes);
  Prepared task = preparation.task(handles);
  if (!simple || !preparation.memorable()) return task;
  if (task) {
    task->remember_as(signature);
  } else {
    context.pass_by(signature);
  }
  return task;
}

}  // namespace quadrille::api
