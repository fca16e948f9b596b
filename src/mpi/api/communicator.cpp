#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <quadrille/quadrille.hpp>

#include "api/handle.hpp"
#include "engine/budget.hpp"
#include "engine/datatype.hpp"
#include "engine/moving.hpp"

namespace quadrille {

using engine::Context;
using engine::Process;
using engine::Task;

namespace detail {

Handle::Handle(std::shared_ptr<Context> context, std::unique_ptr<Task> task)
    : context_(std::move(context)), task_(task.release()) {}

Handle::Handle(Handle&& other) noexcept
    : context_(std::move(other.context_)), task_(std::exchange(other.task_, nullptr)) {}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    finish();
    context_ = std::move(other.context_);
    task_ = std::exchange(other.task_, nullptr);
  }
  return *this;
}

Handle::~Handle() {
  finish();
}

void Handle::finish() noexcept {
  if (!task_) return;
  std::unique_ptr<Task> task(std::exchange(task_, nullptr));
  try {
    context_->wait_quietly(*task);
  } catch (...) {  // NOLINT(bugprone-empty-catch): whoever wanted to know has called wait
  }
  context_->release(std::move(task));
}

void Handle::require() const {
  if (!task_) throw Error(MPI_ERR_REQUEST, "there is no collective here: the handle was moved from");
}

void Handle::start() {
  require();
  context_->start(*task_);
}

void Handle::start_after(const Handle& earlier) {
  require();
  earlier.require();
  context_->start_after(*task_, *earlier.task_);
}

void Handle::declare_after(const Handle& earlier) {
  require();
  earlier.require();
  context_->declare(*task_, *earlier.task_);
}

void Handle::call_when_done(std::function<void()> function, bool also_if_over) {
  require();
  context_->set_callback(*task_, std::move(function), also_if_over);
}

bool Handle::test() {
  return !task_ || context_->test(*task_);
}

void Handle::wait() {
  if (task_) context_->wait(*task_);
}

}  // namespace detail

namespace {

using detail::Call;
using detail::UserBuffer;

[[noreturn]] void refuse(Collective collective, const std::string& why) {
  throw Error(MPI_ERR_COUNT, fmt::format("{}: {}", name(collective), why));
}

// A range that holds a block for each rank; the count becomes a block's.
UserBuffer of_equal_blocks(Collective collective, UserBuffer buffer, int ranks) {
  if (buffer.count % ranks != 0) {
    refuse(collective,
           fmt::format("a range of {} elements can't be cut into a block for each of {} ranks", buffer.count, ranks));
  }
  buffer.count /= ranks;
  return buffer;
}

// The same with blocks of different sizes, one after another.
UserBuffer of_blocks(Collective collective, UserBuffer buffer, std::span<const std::int64_t> counts, int ranks) {
  if (static_cast<int>(counts.size()) != ranks) {
    refuse(collective, fmt::format("{} counts for {} ranks", counts.size(), ranks));
  }
  const std::int64_t wanted = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (wanted > buffer.count) {
    refuse(collective, fmt::format("the counts add up to {} elements, and the range holds {}", wanted, buffer.count));
  }
  buffer.counts = counts.data();
  return buffer;
}

// The rank's own block in a range of blocks.
const void* own_block(const UserBuffer& buffer, std::span<const std::int64_t> counts, int rank) {
  std::int64_t before = rank * buffer.count;
  if (!counts.empty()) before = std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
  return static_cast<const std::byte*>(buffer.address) + before * buffer.element_bytes;
}

}  // namespace

std::shared_ptr<Context> api::context_of(MPI_Comm comm) {
  int initialized = 0;
  engine::check(PMPI_Initialized(&initialized), "MPI_Initialized");
  if (!initialized) throw Error(MPI_ERR_OTHER, "call MPI_Init first; programs of sessions alone are not served");
  int inter = 0;
  engine::check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter) throw Error(MPI_ERR_COMM, "an intercommunicator is not served: merge it with MPI_Intercomm_merge first");
  return std::make_shared<Context>(comm, engine::agreed_settings(comm));
}

namespace {

api::Wishes wishes_of(Collective collective, const Options& options) {
  return {api::named(collective, options.algorithm), options.fixed_order, options.memory};
}

// The one array of a move, whose elements are of that type.
void describe(const Layout& layout, engine::Move& move) {
  engine::Move::Array& array = move.arrays.front();
  array.element_bytes = std::max<std::int64_t>(1, layout.size());
  if (layout.size() == 0) {
    for (auto* counts : {&move.send_counts, &move.receive_counts}) std::fill(counts->begin(), counts->end(), 0);
    return;
  }
  array.data = byte_at(array.data, layout.true_lower_bound());
  const bool has_gaps = !layout.is_contiguous() || layout.size() != layout.extent();
  if (has_gaps && move.complaint.what == engine::Complaint::Of::nothing) {
    move.complaint = {engine::Complaint::Of::gaps, 0};
  }
}

}  // namespace

detail::Handle api::handle(const std::shared_ptr<Context>& context, const Call& call, const Options& options) {
  return {context, prepare(*context, call, wishes_of(call.collective, options), Handles::kept)};
}

void api::run(Context& context, const Call& call, const Options& options) {
  context.run(prepare(context, call, wishes_of(call.collective, options), Handles::borrowed));
}

detail::Handle api::handle(const std::shared_ptr<Context>& context, const detail::Move& move, const Options& options,
                           const std::shared_ptr<Moved>& result) {
  engine::Move wanted;
  // What is wrong on this rank all of them are to throw.
  const auto complain = [&wanted](engine::Complaint::Of what, std::int64_t detail = 0) {
    if (wanted.complaint.what == engine::Complaint::Of::nothing) wanted.complaint = {what, detail};
  };
  const auto listed = [&](std::span<const std::int64_t> numbers, bool may_be_none) {
    const bool fits = std::ssize(numbers) == context->ranks() || (may_be_none && numbers.empty());
    if (!fits) complain(engine::Complaint::Of::lengths, std::ssize(numbers));
    return std::vector<std::int64_t>(numbers.begin(), numbers.end());
  };
  wanted.send_counts = listed(move.send.counts, false);
  wanted.send_at = listed(move.send.displacements, true);
  wanted.receive_counts = listed(move.receive.counts, move.grow != nullptr);
  wanted.receive_at = listed(move.receive.displacements, true);
  wanted.elements = move.elements;
  wanted.taken = move.taken;
  if (!options.algorithm.empty()) complain(engine::Complaint::Of::algorithm);
  if (!move.alike) complain(engine::Complaint::Of::ragged, move.elements);
  if (move.nobody) complain(engine::Complaint::Of::nobody, *move.nobody);
  if (!move.covered) complain(engine::Complaint::Of::uncovered, move.elements);
  for (const auto& [data, bytes] : move.arrays) wanted.arrays.push_back({static_cast<std::byte*>(data), bytes});
  if (move.type != MPI_DATATYPE_NULL) {
    try {
      describe(engine::layout_of(move.type), wanted);
    } catch (const Error&) {
      complain(engine::Complaint::Of::type);
    }
  } else if (wanted.arrays.front().element_bytes == 0) {
    complain(engine::Complaint::Of::type);
  }
  wanted.memory = context->bounded(options.memory);
  wanted.growth = move.growth;
  wanted.reserve = move.reserve;
  wanted.shrink = move.shrink;
  if (move.grow) {
    wanted.grow = [grow = move.grow](std::int64_t elements, std::span<engine::Move::Array> arrays) {
      std::vector<detail::Move::Array> told;
      for (const auto& one : arrays) told.push_back({one.data, one.element_bytes});
      grow(elements, told);
      for (std::size_t i = 0; i < told.size(); ++i) arrays[i].data = static_cast<std::byte*>(told[i].data);
    };
  }
  const std::int64_t memory = wanted.memory;
  return {context, context->prepare(engine::in_place_exchange, memory, engine::plan_of(*context, wanted, result))};
}

Communicator::Communicator(MPI_Comm comm) : context_(api::context_of(comm)) {}

int Communicator::rank() const {
  return context_->rank();
}

int Communicator::size() const {
  return context_->ranks();
}

std::int64_t Communicator::peak_bytes() {
  const auto locked = Process::get().lock();
  return Process::get().arena().peak();
}

detail::Handle Communicator::prepare(const Call& call, const Options& options) {
  return api::handle(context_, call, options);
}

void Communicator::run(const Call& call, const Options& options) {
  api::run(*context_, call, options);
}

detail::Handle Communicator::prepare(const detail::Move& move, const Options& options,
                                     const std::shared_ptr<Moved>& moved) {
  return api::handle(context_, move, options, moved);
}

Moved Communicator::move(const detail::Move& move, const Options& options) {
  const auto moved = std::make_shared<Moved>();
  detail::Handle handle = api::handle(context_, move, options, moved);
  handle.start();
  handle.wait();
  return std::move(*moved);
}

std::int64_t Communicator::budget_for(std::int64_t bytes, const Options& options) const {
  const std::int64_t told = context_->bounded(options.memory);
  return told > 0 ? told : engine::default_budget(bytes);
}

Call Communicator::gathering(Collective collective, UserBuffer input, UserBuffer output, const Details& details) const {
  const bool receives = !traits(collective).rooted || details.root == rank();
  if (receives) {
    output = traits(collective).separate_blocks ? of_blocks(collective, output, details.receive, size())
                                                : of_equal_blocks(collective, output, size());
    if (input.count > 0 && input.address == own_block(output, details.receive, rank())) input.address = MPI_IN_PLACE;
  }
  return detail::moved(collective, input, output, details.root);
}

Call Communicator::scattering(Collective collective, UserBuffer input, UserBuffer output,
                              const Details& details) const {
  if (details.root == rank()) {
    input = traits(collective).separate_blocks ? of_blocks(collective, input, details.send, size())
                                               : of_equal_blocks(collective, input, size());
    if (output.count > 0 && output.address == own_block(input, details.send, rank())) output.address = MPI_IN_PLACE;
  }
  return detail::moved(collective, input, output, details.root);
}

Call Communicator::exchange(Collective collective, UserBuffer input, UserBuffer output, const Details& details) const {
  if (details.same || (input.count > 0 && input.address == output.address)) input.address = MPI_IN_PLACE;
  bool unequal = false;
  if (traits(collective).separate_blocks) {
    if (input.address != MPI_IN_PLACE) {
      input = of_blocks(collective, input, details.send, size());
    } else {
      unequal = !std::equal(details.send.begin(), details.send.end(), details.receive.begin(), details.receive.end());
    }
    output = of_blocks(collective, output, details.receive, size());
  } else {
    input = of_equal_blocks(collective, input, size());
    output = of_equal_blocks(collective, output, size());
  }
  Call call = detail::moved(collective, input, output);
  call.unequal = unequal;
  return call;
}

Call Communicator::reduction(Collective collective, UserBuffer input, UserBuffer output, detail::Combine combine,
                             bool commutative, const Details& details) const {
  const Traits of = traits(collective);
  const bool receives = !of.rooted || details.root == rank();
  if (receives && input.count > 0 && input.address == output.address) input.address = MPI_IN_PLACE;
  if (of.counts_differ) {
    input = of_blocks(collective, input, details.receive, size());
    if (output.count < details.receive[static_cast<std::size_t>(rank())]) {
      refuse(collective, fmt::format("the output holds {} elements, and this rank's share is {}", output.count,
                                     details.receive[static_cast<std::size_t>(rank())]));
    }
    output.counts = details.receive.data();
    input.counts = {};
  } else {
    if (of.input == Traits::Side::all) input = of_equal_blocks(collective, input, size());
    if (input.address == MPI_IN_PLACE && of.input == Traits::Side::all) output.count = input.count;
    if (receives && output.count != input.count) {
      refuse(collective,
             fmt::format("the input holds {} elements and the output {}: make them equal", input.count, output.count));
    }
    output.count = input.count;
  }
  Call call = detail::moved(collective, input, output, details.root);
  call.combine = std::move(combine);
  call.commutative = commutative;
  return call;
}

}  // namespace quadrille

// A pending collective may still need an operation that the user frees; see engine::Kept.
extern "C" QUADRILLE_EXPORT int MPI_Op_free(MPI_Op* op) {
  return quadrille::engine::free_operation(op);
}
