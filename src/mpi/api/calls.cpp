#include "api/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <quadrille/error.hpp>

#include "algorithms/naming.hpp"
#include "api/local_call.hpp"
#include "engine/chunks.hpp"
#include "engine/datatype.hpp"

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
  Preparation(Context& context, const detail::Call& call, const CallOptions& options)
      : context_(context), call_(call), options_(options), request_(options.request), of_(traits(call.collective)) {
    refuse_root();
    local_ = local_call(call, context.rank(), context.ranks());
    local_.form = options.form;
    local_.memory = context.budget(options.memory).bytes();
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

  // Decides how the call is run; the task is null where the MPI's own function is to.
  std::unique_ptr<engine::Task> task(Handles handles);
  const Decision& decision() const { return decision_; }
  // What was asked for; empty: the MPI's own function.
  const std::optional<Request>& request() const { return request_; }
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
  bool packed(const Algorithm& algorithm) const;
  Shape shape(const Case& asked) const;
  void cut_to_swap(Shape& shape) const;
  void bind(const Side& side, std::vector<Layout>& layouts, std::vector<Typed>& blocks) const;
  std::int64_t elements(const Side& side) const;
  std::int64_t to_myself(const Side& side) const;
  void refuse_unequal_ends() const;
  void agree_on_chunks(engine::Task& task) const;

  Context& context_;
  const detail::Call& call_;
  const CallOptions& options_;
  std::optional<Request> request_;
  Traits of_;
  LocalCall local_;
  Decision decision_;
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
  if (local_.in_place && of_.rooted && call_.root != context_.rank()) {
    throw Error(MPI_ERR_BUFFER, fmt::format("{}: MPI_IN_PLACE is for the root alone", name(call_.collective)));
  }
  const Problem place{
      .rank = context_.rank(), .ranks = context_.ranks(), .root = call_.root, .in_place = local_.in_place};
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
    if (!side->buffer->counts) side->bytes();  // throws where they can't be counted
    // An exscan leaves rank 0's output as it is: there it may be anywhere. A type of the user's own may have addresses
    // in it.
    const bool unused = of_.exclusive && context_.rank() == 0 && side == &output_ && !local_.in_place;
    const bool nowhere = !unused && !side->buffer->address && !side->buffer->counts && side->buffer->count > 0;
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

// Packing matters only where memory is limited.
bool Preparation::packed(const Algorithm& algorithm) const {
  const auto has_gaps = [](const Side& side) {
    return side.blocks > 0 && (side.buffer->types != nullptr || !side.layout.is_contiguous());
  };
  return algorithm.gathers || has_gaps(input_) || has_gaps(output_);
}

// In place, a rank's budget is its own affair: where blocks differ, partners agree on a chunk first.
void Preparation::cut_to_swap(Shape& shape) const {
  shape.swaps = true;
  shape.packed = packed(shape.variant.algorithm());
  if (!shape.budget.limited()) {
    shape.budget = local_.memory > 0 ? Budget(local_.memory)
                                     : Budget::in_place(LocalCall::bytes(local_.output, true, context_.ranks()));
  }
  ChunkingNeeds needs{.ranks = context_.ranks(),
                      .packed = shape.packed,
                      .packed_anywhere = !of_.separate_blocks,
                      .spare = !of_.separate_blocks,
                      .longest = context_.settings().preferences.part};
  if (shape.variant.width > 0) needs.partners = shape.variant.width;
  const Chunking chunking = shape.budget.chunking(needs);
  shape.variant.segment = chunking.chunk;
  shape.variant.window = chunking.window;
  shape.variant.width = chunking.partners;
  if (chunking.chunk > 0) shape.budget = Budget(chunking.bytes);
}

Shape Preparation::shape(const Case& asked) const {
  const Algorithm& algorithm = decision_.variant.algorithm();
  const bool sized = !of_.separate_blocks && !of_.counts_differ;
  Shape shape{.variant = decision_.variant,
              .root = asked.root,
              .count = sized ? asked.count : 0,
              .shares = shares_,
              .unit_bytes = std::max<std::int64_t>(1, asked.unit_bytes),
              .room = algorithm.hierarchical ? context_.selector().requirements().room(asked) : 0,
              .budget = Budget(asked.memory),
              .in_place = local_.in_place,
              .commutative = asked.commutative,
              .fixed_order = asked.fixed_order,
              .offloads = algorithm.restrictions.offloads && context_.selector().requirements().offloads(asked)};
  shape.packed = shape.budget.limited() && packed(algorithm);
  // Matters to segments, and to what each rank of a node reduces.
  const bool matters = shape.variant.segment > 0 || (of_.reduces && algorithm.hierarchical);
  if (!matters) shape.unit_bytes = 1;
  // One schedule for all sizes, unless what it may take depends on them. What is empty sends nothing.
  const bool scaled = sized && asked.memory == 0 &&
                      scales(algorithm, context_.selector().requirements().problem(decision_.variant, asked));
  if (scaled) shape.count = 1;
  if (algorithm.swaps && local_.in_place) cut_to_swap(shape);
  return shape;
}

// Of a buffer that is one block.
std::int64_t Preparation::elements(const Side& side) const {
  // In place, a reduce_scatter's output holds the input.
  const bool all = side.all || (local_.in_place && of_.reduces && input_.all);
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
  auto allgather = context_.words_program(word);
  using engine::AgreeOnChunks;
  std::int64_t own = std::numeric_limits<std::int64_t>::max();
  if (task.shape().swaps) own = task.shape().variant.segment;
  if (call_.unequal) own = AgreeOnChunks::unequal;
  task.set_plan([allgather, &task, own] {
    const bool had = own <= 0 || task.reserve();
    return std::make_unique<AgreeOnChunks>(allgather, had ? own : AgreeOnChunks::exhausted, task.binding().chunks);
  });
}

std::unique_ptr<engine::Task> Preparation::task(Handles handles) {
  if (of_.counts_differ) shares_ = context_.shares(call_.output.counts);
  engine::Reduction reduction{call_.combine ? *call_.combine : detail::Combine(), call_.commutative};
  if (of_.reduces) {
    if (call_.op != MPI_OP_NULL) reduction = engine::reduction_of(call_.op, call_.output.type);
    local_.fixed_order = options_.fixed_order;
    local_.commutative = reduction.commutative && !options_.fixed_order;
    local_.operation = reduction.code;
  }
  const Case asked = case_of(local_, context_.selector().placement());
  if (options_.chooser) request_ = options_.chooser->choose(asked);
  if (!request_) return nullptr;
  decision_ = context_.decide(asked, *request_);
  if (decision_.native()) return nullptr;
  refuse_unequal_ends();
  auto task = context_.prepare(shape(asked), asked, decision_);
  task->binding().scale = task->shape().count == 1 && asked.count > 0 ? asked.count : 1;
  if ((task->shape().swaps && of_.separate_blocks) || call_.own_send_counts) agree_on_chunks(*task);
  if (of_.reduces) {
    task->use_element(element_);
    task->binding().reduce = std::move(reduction.function);
    task->binding().combine = reduction.kernel;
    task->use_operation({call_.op, call_.output.type});
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

engine::CallKey key_of(const detail::Call& call, const CallOptions& options, const Request& request) {
  using engine::CallKey;
  return {.collective = static_cast<std::uint16_t>(call.collective),
          .form = options.form,
          .native = request.native,
          .input_in_place = call.input.address == MPI_IN_PLACE,
          .output_in_place = call.output.address == MPI_IN_PLACE,
          .fixed_order = options.fixed_order,
          .root = call.root,
          .width = request.variant.width,
          .place = request.variant.place,
          .segment = request.variant.segment,
          .memory = options.memory,
          .input_count = call.input.count,
          .output_count = call.output.count,
          .input_element = call.input.element_bytes,
          .output_element = call.output.element_bytes,
          .input_type = CallKey::bits(call.input.type),
          .output_type = CallKey::bits(call.output.type),
          .op = CallKey::bits(call.op)};
}

}  // namespace

Variant named(Collective collective, std::string_view name) {
  if (name.empty()) return {};
  const Variant found = variant_named(collective, name);
  if (found && found.width == 0) return found;
  if (found) {
    const std::string why = refusal(found.algorithm(), {.width = found.width});
    if (why.empty()) return found;
    throw Error(MPI_ERR_ARG, why);
  }
  throw Error(MPI_ERR_ARG, no_such_algorithm(collective, name));
}

Prepared prepare(Context& context, const detail::Call& call, const CallOptions& options, Handles handles) {
  const bool twice = call.input.address && call.input.address == call.output.address;  // see local_call
  const bool simple = !call.combine && !call.input.counts && !call.output.counts && !twice;
  if (simple && !options.chooser) {
    const engine::CallKey key = key_of(call, options, options.request);
    engine::Cache::Recalled known = context.recall(key, call.input.address, call.output.address);
    if (known.task) return {.task = std::move(known.task), .memorable = true};
    if (known.native) return {.task = nullptr, .why_native = *known.native, .memorable = true};
  }
  Preparation preparation(context, call, options);
  Prepared prepared{.task = preparation.task(handles), .why_native = preparation.decision().source()};
  prepared.memorable = simple && preparation.memorable();
  if (!prepared.memorable || !preparation.request()) return prepared;
  const engine::CallKey key = key_of(call, options, *preparation.request());
  if (prepared.task) {
    prepared.task->set_key(key);
  } else {
    context.keep_native(key, preparation.decision());
  }
  return prepared;
}

}  // namespace quadrille::api
