#include "api/exposed.hpp"

#include <fmt/format.h>

#include <new>
#include <quadrille/detail/call.hpp>
#include <quadrille/error.hpp>
#include <utility>

#include "algorithms/node.hpp"
#include "api/calls.hpp"
#include "api/handle.hpp"
#include "select/rules_of_thumb.hpp"

namespace quadrille::detail {

Exposed::Exposed(std::shared_ptr<engine::Context> context, void* memory, std::int64_t bytes)
    : context_(std::move(context)), memory_(static_cast<std::byte*>(memory)), bytes_(bytes) {
  // All ranks are here: whoever waits in MPI from now on keeps no collective of ours waiting.
  common_bytes_ = least(bytes);
  if (common_bytes_ < 0) throw Error(MPI_ERR_SIZE, "a window's size is negative on some rank");
  if (context_->settings().windows) {
    window_ = context_->make_window(memory, bytes);
    trouble_ = window_->trouble();
  } else {
    trouble_ = "QUADRILLE_WINDOWS=0";
  }
  if (one_sided()) {
    memory_ = window_->memory();
  } else {
    window_.reset();
    if (!memory) allocate();
  }
}

void Exposed::allocate() {
  try {
    plain_.resize(static_cast<std::size_t>(bytes_));
  } catch (const std::bad_alloc&) {
    plain_.clear();
  }
  memory_ = plain_.data();
  if (least(std::ssize(plain_) == bytes_ ? 1 : 0) == 1) return;
  throw Error(MPI_ERR_NO_MEM, fmt::format("a rank could not allocate its memory for others, here {} bytes", bytes_));
}

// Nobody waits inside MPI, where collectives don't advance, before nothing needs to advance any more on any rank.
Exposed::~Exposed() {
  if (!window_ || !engine::Process::alive()) return;
  try {
    context_->drain(*window_);
    least(0);
    context_->free_window(*window_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a communicator that has failed keeps its windows
  }
}

std::string Exposed::transport() const {
  if (!one_sided()) return fmt::format("messages, since {}", trouble_);
  const std::string component = window_->component();
  return component.empty() ? "windows of the MPI" : fmt::format("windows of the MPI by {}", component);
}

std::int64_t Exposed::least(std::int64_t own) const {
  const UserBuffer word{&own, 1, MPI_INT64_T};
  api::run(*context_, reduction_call(Collective::allreduce, {MPI_IN_PLACE}, word, MPI_MIN), {});
  return own;
}

std::int64_t Exposed::range(const Call& call) const {
  std::int64_t bytes = 0;
  const std::int64_t blocks = call.collective == Collective::allgather ? context_->ranks() : 1;
  if (!__builtin_mul_overflow(call.count, blocks, &bytes)) return bytes;
  throw Error(MPI_ERR_COUNT, fmt::format("{}: {} blocks of {} bytes are more than 64 bits can count",
                                         name(call.collective), blocks, call.count));
}

void Exposed::refuse(const Call& call) const {
  if (call.root < 0 || call.root >= context_->ranks()) {
    throw Error(MPI_ERR_ROOT, fmt::format("{}: root is {}: it must be a rank, 0 to {}", name(call.collective),
                                          call.root, context_->ranks() - 1));
  }
  const bool inside =
      call.offset >= 0 && call.count >= 0 && call.offset <= common_bytes_ && range(call) <= common_bytes_ - call.offset;
  if (inside) return;
  throw Error(MPI_ERR_ARG, fmt::format("{}: {} bytes at {} are outside the window, which has {} on every rank",
                                       name(call.collective), range(call), call.offset, common_bytes_));
}

Case Exposed::case_of(const Call& call, Form form) const {
  const LocalCall::Side data{.significant = call.collective != Collective::barrier, .count = call.count};
  return quadrille::case_of({.collective = call.collective,
                             .form = form,
                             .rank = context_->rank(),
                             .root = call.root,
                             .in_place = call.collective == Collective::allgather,
                             .output = data},
                            context_->selector().placement());
}

Decision Exposed::decide(const Case& asked, const Options& options) const {
  Decision decision;
  const Variant named = api::named(asked.collective, options.algorithm);
  if (!window_ || (named && !named.algorithm().restrictions.exposed)) return decision;
  const Requirements& requirements = context_->selector().requirements();
  const Windows windows{.box = engine::Window::box_bytes,
                        .shares_memory = requirements.room(asked) > node::Cut::least_places};
  const Variant variant =
      named ? named : variant_of(usual_one_sided(asked, context_->settings().preferences.segment, windows));
  decision.variant = requirements.completed(variant, asked);
  decision.add({.kind = named ? Reason::Kind::requested : Reason::Kind::usual, .variant = decision.variant});
  return decision;
}

std::unique_ptr<engine::Task> Exposed::task(const Call& call, const Case& asked, const Decision& decision) const {
  const Selector& selector = context_->selector();
  const std::int64_t room = decision.variant.algorithm().hierarchical ? selector.requirements().room(asked) : 0;
  auto made = context_->prepare({.variant = decision.variant,
                                 .root = call.root,
                                 .count = call.count,
                                 .room = room,
                                 .in_place = call.collective == Collective::allgather,
                                 .exposed = true,
                                 .pulls = asked.form != Form::blocking,
                                 .box = engine::Window::box_bytes,
                                 .staging = window_->staging_place()},
                                asked, decision);
  made->binding().scale = 1;
  if (made->output_layouts().empty()) made->output_layouts().push_back(Layout::basic(1));
  made->binding().output.assign(1, {memory_ + call.offset, range(call), &made->output_layouts().front()});
  made->use_window(window_);
  return made;
}

detail::Call Exposed::by_messages(const Call& call) const {
  const UserBuffer data{memory_ + call.offset, call.count, MPI_BYTE};
  if (call.collective == Collective::allgather) return data_call(call.collective, {MPI_IN_PLACE}, data);
  return call.collective == Collective::barrier ? data_call(call.collective, {}, {})
                                                : data_call(call.collective, {}, data, call.root);
}

namespace {

// Of a call that goes by messages.
Options without_windows(Collective collective, const Options& options) {
  Options those = options;
  const Variant named = api::named(collective, options.algorithm);
  if (named && named.algorithm().restrictions.exposed) those.algorithm = {};
  return those;
}

}  // namespace

void Exposed::run(const Call& call, const Options& options) {
  refuse(call);
  const Case asked = case_of(call, Form::blocking);
  if (const Decision decision = decide(asked, options); !decision.native()) {
    context_->run(task(call, asked, decision));
    return;
  }
  api::run(*context_, by_messages(call), without_windows(call.collective, options));
}

Handle Exposed::prepare(const Call& call, const Options& options) {
  refuse(call);
  const Case asked = case_of(call, Form::non_blocking);
  if (const Decision decision = decide(asked, options); !decision.native()) {
    return {context_, task(call, asked, decision)};
  }
  return api::handle(context_, by_messages(call), without_windows(call.collective, options));
}

}  // namespace quadrille::detail
