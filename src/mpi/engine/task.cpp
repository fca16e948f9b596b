#include "engine/task.hpp"

#include <new>
#include <quadrille/error.hpp>
#include <utility>

#include "engine/context.hpp"

namespace quadrille::engine {

Task::Task(Context& context, const Shape& shape, std::shared_ptr<const Program> program)
    : context_(context),
      shape_(shape),
      main_(context.ground_for(shape), std::move(program), context.posting(shape), *this),
      opinion_layout_(Layout::basic(sizeof(Opinion))) {
  if (!context.settings_.check) return;
  Listener& listener = *this;
  agreement_.emplace(context.ground_, context.agreement_program_, Posting{}, listener);
  agreement_->set_scratch_layout(opinion_layout_);
  agreement_->binding().input = {{&mine_, 1, &opinion_layout_}};
  agreement_->binding().output = {{&all_, 1, &opinion_layout_}};
  agreement_->binding().reduce = merge_opinions;
}

Task::~Task() {
  const auto locked = context_.process_.lock();
  Context::undeclare(*this);
  if (!in_flight()) return;
  context_.fail_all(std::make_exception_ptr(Error(MPI_ERR_OTHER, "a collective in flight was dropped")));
}

bool Task::reserve() {
  try {
    main_.reserve();
    return true;
  } catch (const std::bad_alloc&) {
    main_.forgo();
    return false;
  }
}

void Task::unbind() {
  signature_.reset();
  keep({});
  set_plan({});
  phases_.clear();
  binding().chunks.clear();
  binding().reduce = nullptr;
  binding().combine = nullptr;
}

void Task::advanced() {
  if (context_.settings_.watched()) advanced_ = std::chrono::steady_clock::now();
}

void Task::done(Exchange& exchange) {
  if (&exchange == &main_) {
    context_.end(*this, State::done);
  } else if (agreement_ && &exchange == &*agreement_) {
    context_.agreed(*this);
  } else {
    context_.next_phase(*this);
  }
}

const Exchange& Task::current() const {
  if (state_ == State::agreeing) return *agreement_;
  return plan_ && !phases_.empty() ? *phases_.back() : main_;
}

void Task::failed(Exchange&, std::exception_ptr error) {
  context_.fail_all(error);
}

}  // namespace quadrille::engine
