#include <fmt/format.h>

#include <algorithm>
#include <quadrille/communicator.hpp>
#include <quadrille/error.hpp>

#include "api/handle.hpp"
#include "api/range_calls.hpp"
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
    context_->release(std::move(task));
  } catch (...) {  // NOLINT(bugprone-empty-catch): whoever wanted to know has called wait
  }
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

void Handle::set_callback(std::function<void()> callback, bool also_if_complete) {
  require();
  context_->set_callback(*task_, std::move(callback), also_if_complete);
}

bool Handle::test() {
  return !task_ || context_->test(*task_);
}

void Handle::wait() {
  if (task_) context_->wait(*task_);
}

bool Handle::failed() const {
  return task_ && task_->state() == Ordered::State::failed;
}

}  // namespace detail

using detail::Call;
using detail::InPlaceExchange;

void api::require_intracommunicator(MPI_Comm comm) {
  int initialized = 0;
  engine::check(PMPI_Initialized(&initialized), "MPI_Initialized");
  if (!initialized) throw Error(MPI_ERR_OTHER, "call MPI_Init first; sessions alone are not supported");
  // MPI itself would abort the program.
  if (comm == MPI_COMM_NULL) {
    throw Error(MPI_ERR_COMM, "MPI_COMM_NULL: only the ranks of a communicator can make one of it");
  }
  int inter = 0;
  engine::check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter) throw Error(MPI_ERR_COMM, "intercommunicators are not supported: merge it with MPI_Intercomm_merge first");
}

// Until all ranks are here. A rank that waited inside MPI instead could keep back a pending collective that another one
// needs before it comes.
void api::meet(MPI_Comm comm) {
  MPI_Request all_here = MPI_REQUEST_NULL;
  engine::check(PMPI_Ibarrier(comm, &all_here), "MPI_Ibarrier");
  engine::Process::get().wait_for_mpi([&] {
    int here = 0;
    engine::check(PMPI_Test(&all_here, &here, MPI_STATUS_IGNORE), "MPI_Test");
    return here != 0;
  });
}

std::shared_ptr<Context> api::context_of(MPI_Comm comm) {
  require_intracommunicator(comm);
  meet(comm);
  return std::make_shared<Context>(comm, engine::agreed_settings(comm));
}

namespace {

api::CallOptions call_options(Collective collective, const Options& options, Form form) {
  return {.request = {.variant = options.algorithm.empty() ? Variant{} : api::named(collective, options.algorithm)},
          .form = form,
          .fixed_order = options.fixed_order,
          .memory = options.memory};
}

// The one array of a move, whose elements are of that type.
void describe(const Layout& layout, engine::Move& move) {
  if (layout.size() == 0) {
    for (auto* counts : {&move.send_counts, &move.receive_counts}) std::fill(counts->begin(), counts->end(), 0);
    return;
  }
  if (layout.extent() < layout.true_extent()) {
    if (move.complaint.what == engine::Complaint::Of::nothing) {
      move.complaint = {engine::Complaint::Of::extent, layout.extent()};
    }
    return;
  }
  // A lower bound says nothing of the data, and would hide that it is contiguous.
  move.arrays.front().element = layout.resized(layout.true_lower_bound(), layout.extent());
}

}  // namespace

detail::Handle api::handle(const std::shared_ptr<Context>& context, const Call& call, const Options& options) {
  const CallOptions with = call_options(call.collective, options, Form::non_blocking);
  return {context, prepare(*context, call, with, Handles::kept).task};
}

void api::run(Context& context, const Call& call, const Options& options) {
  const CallOptions with = call_options(call.collective, options, Form::blocking);
  context.run(prepare(context, call, with, Handles::borrowed).task);
}

detail::Handle api::handle(const std::shared_ptr<Context>& context, const InPlaceExchange& exchange,
                           const Options& options, const std::shared_ptr<ExchangeResult>& result) {
  engine::Move wanted;
  // An error on this rank is to be thrown on all of them.
  const auto complain = [&wanted](engine::Complaint::Of what, std::int64_t detail = 0) {
    if (wanted.complaint.what == engine::Complaint::Of::nothing) wanted.complaint = {what, detail};
  };
  const auto listed = [&](std::span<const std::int64_t> numbers, bool may_be_none) {
    const bool fits = std::ssize(numbers) == context->ranks() || (may_be_none && numbers.empty());
    if (!fits) complain(engine::Complaint::Of::lengths, std::ssize(numbers));
    return std::vector<std::int64_t>(numbers.begin(), numbers.end());
  };
  wanted.send_counts = listed(exchange.send.counts, false);
  wanted.send_at = listed(exchange.send.displacements, true);
  wanted.receive_counts = listed(exchange.receive.counts, exchange.grow != nullptr);
  wanted.receive_at = listed(exchange.receive.displacements, true);
  wanted.elements = exchange.elements;
  wanted.taken = exchange.sort_bytes;
  if (!options.algorithm.empty()) complain(engine::Complaint::Of::algorithm);
  if (!exchange.equal_lengths) complain(engine::Complaint::Of::ragged, exchange.elements);
  if (exchange.no_rank) complain(engine::Complaint::Of::nobody, *exchange.no_rank);
  if (!exchange.counts_fit) complain(engine::Complaint::Of::uncovered, exchange.elements);
  for (const auto& [data, bytes] : exchange.arrays) {
    wanted.arrays.push_back({static_cast<std::byte*>(data), Layout::basic(std::max<std::int64_t>(1, bytes))});
  }
  if (exchange.type != MPI_DATATYPE_NULL) {
    try {
      describe(engine::layout_of(exchange.type), wanted);
    } catch (const Error&) {
      complain(engine::Complaint::Of::type);
    }
  } else if (exchange.arrays.front().element_bytes == 0) {
    complain(engine::Complaint::Of::type);
  }
  wanted.memory = context->budget(options.memory).bytes();
  wanted.growth = exchange.growth_bytes;
  wanted.reserve = exchange.reserve;
  wanted.shrink = exchange.shrink;
  if (exchange.grow) {
    wanted.grow = [grow = exchange.grow](std::int64_t elements, std::span<engine::Move::Array> arrays) {
      std::vector<InPlaceExchange::Array> grown;
      for (const auto& one : arrays) grown.push_back({one.data, one.element.size()});
      grow(elements, grown);
      for (std::size_t i = 0; i < grown.size(); ++i) arrays[i].data = static_cast<std::byte*>(grown[i].data);
    };
  }
  const Placement& placement = context->selector().placement();
  const Case asked =
      case_of({.collective = Collective::alltoallv, .form = Form::non_blocking, .in_place = true}, placement);
  return {context, context->prepare(asked, Budget(wanted.memory), engine::plan_of(*context, wanted, result))};
}

static_assert(sizeof(Communicator) == sizeof(std::shared_ptr<Context>), "the families of collectives are empty");

detail::CommunicatorCore::CommunicatorCore(MPI_Comm comm) : context_(api::context_of(comm)) {}

int detail::CommunicatorCore::rank() const {
  return context_->rank();
}

int detail::CommunicatorCore::size() const {
  return context_->ranks();
}

std::int64_t detail::CommunicatorCore::peak_bytes() {
  const auto locked = Process::get().lock();
  return Process::get().arena().peak();
}

void detail::CommunicatorCore::run(const Call& call, const Options& options) {
  api::run(*context_, call, options);
}

detail::Handle detail::CommunicatorCore::prepare(const Call& call, const Options& options) {
  return api::handle(context_, call, options);
}

detail::Handle detail::CommunicatorCore::prepare(const InPlaceExchange& exchange, const Options& options,
                                                 const std::shared_ptr<ExchangeResult>& result) {
  return api::handle(context_, exchange, options, result);
}

ExchangeResult detail::CommunicatorCore::run(const InPlaceExchange& exchange, const Options& options) {
  const auto result = std::make_shared<ExchangeResult>();
  Handle handle = api::handle(context_, exchange, options, result);
  handle.start();
  handle.wait();
  return std::move(*result);
}

std::int64_t detail::CommunicatorCore::in_place_budget(std::int64_t data_bytes, const Options& options) const {
  const Budget set = context_->budget(options.memory);
  return (set.limited() ? set : Budget::in_place(data_bytes)).bytes();
}

detail::Call detail::CommunicatorCore::checked(const RangeCall& call) const {
  return api::checked(call, rank(), size());
}

}  // namespace quadrille

// A pending collective may still need an operation that the user frees; see engine::Kept.
extern "C" QUADRILLE_EXPORT int MPI_Op_free(MPI_Op* op) {
  return quadrille::engine::free_operation(op);
}
