#include <fmt/format.h>

#include <numeric>
#include <quadrille/quadrille.hpp>

#include "api/calls.hpp"
#include "engine/datatype.hpp"

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
    context_->wait(*task);
  } catch (...) {  // NOLINT(bugprone-empty-catch): whoever wanted to know has called wait
  }
  context_->release(std::move(task));
}

void Handle::start() {
  if (!task_) throw Error(MPI_ERR_REQUEST, "there is nothing to start: the handle was moved from");
  context_->start(*task_);
}

bool Handle::test() {
  return !task_ || context_->test(*task_);
}

void Handle::wait() {
  if (task_) context_->wait(*task_);
}

}  // namespace detail

namespace {

void refuse_sizes(std::span<const std::int64_t> counts, std::int64_t available, int ranks, const char* side) {
  if (static_cast<int>(counts.size()) != ranks) {
    throw Error(MPI_ERR_COUNT, fmt::format("alltoallv: {} counts to {} for {} ranks", counts.size(), side, ranks));
  }
  const std::int64_t wanted = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (wanted > available) {
    throw Error(MPI_ERR_COUNT, fmt::format("alltoallv: the counts to {} add up to {} elements, and the range holds {}",
                                           side, wanted, available));
  }
}

}  // namespace

Communicator::Communicator(MPI_Comm comm) {
  int initialized = 0;
  engine::check(PMPI_Initialized(&initialized), "MPI_Initialized");
  if (!initialized) throw Error(MPI_ERR_OTHER, "call MPI_Init first; programs of sessions alone are not served");
  int inter = 0;
  engine::check(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter) throw Error(MPI_ERR_COMM, "an intercommunicator is not served: merge it with MPI_Intercomm_merge first");
  context_ = std::make_shared<Context>(comm, engine::agreed_settings(comm));
}

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

detail::Handle Communicator::barrier_handle(const Options& options) {
  return {context_, api::barrier(*context_, api::named(Collective::barrier, options.algorithm))};
}

detail::Handle Communicator::bcast_handle(void* data, std::int64_t count, MPI_Datatype type, int root,
                                          const Options& options) {
  return {context_, api::bcast(*context_, data, count, engine::layout_of(type), root,
                               api::named(Collective::bcast, options.algorithm))};
}

detail::Handle Communicator::allreduce_handle(const void* input, void* output, std::int64_t count, MPI_Datatype type,
                                              MPI_Op op, const Options& options, bool keep_handles) {
  const Algorithm* algorithm = api::named(Collective::allreduce, options.algorithm);
  const Layout layout = engine::layout_of(type);
  auto task = api::allreduce(*context_, input, output, count, layout, engine::reduction_of(op, type), algorithm);
  if (keep_handles) task->keep(engine::Kept(op, type));
  return {context_, std::move(task)};
}

detail::Handle Communicator::allreduce_handle(const void* input, void* output, Elements elements,
                                              detail::Combine combine, bool commutative, const Options& options) {
  return {context_,
          api::allreduce(*context_, input, output, elements.count, Layout::basic(elements.bytes),
                         {std::move(combine), commutative}, api::named(Collective::allreduce, options.algorithm))};
}

detail::Handle Communicator::alltoallv_handle(const void* input, const Blocks& send, void* output,
                                              const Blocks& receive, const Options& options) {
  const auto side = [](const void* address, const Blocks& blocks) {
    return api::Blocks{const_cast<void*>(address), blocks.counts, blocks.displacements, engine::layout_of(blocks.type)};
  };
  return {context_, api::alltoallv(*context_, side(input, send), side(output, receive),
                                   api::named(Collective::alltoallv, options.algorithm))};
}

detail::Handle Communicator::alltoallv_handle(const Packed& input, const Packed& output, std::int64_t element_bytes,
                                              const Options& options) {
  refuse_sizes(input.counts, input.count, size(), "send");
  refuse_sizes(output.counts, output.count, size(), "receive");
  const auto side = [&](const Packed& packed) {
    return api::Blocks{const_cast<void*>(packed.address), packed.counts.data(), {}, Layout::basic(element_bytes)};
  };
  return {context_,
          api::alltoallv(*context_, side(input), side(output), api::named(Collective::alltoallv, options.algorithm))};
}

void Communicator::refuse_lengths(std::int64_t input, std::int64_t output) {
  throw Error(MPI_ERR_COUNT,
              fmt::format("allreduce: the input holds {} elements and the output {}: make them equal", input, output));
}

}  // namespace quadrille

// A pending collective may still need an operation that the user frees; see engine::Kept.
extern "C" QUADRILLE_EXPORT int MPI_Op_free(MPI_Op* op) {
  return quadrille::engine::free_operation(op);
}
