#include "engine/requests.hpp"

#include <quadrille/error.hpp>

namespace quadrille::engine {

namespace {

int query_unfinished(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_unfinished(void*) {
  return MPI_SUCCESS;
}
int cancel_unfinished(void*, int) {
  return MPI_SUCCESS;
}

// Asked for under MPICH alone.
#ifndef OPEN_MPI
thread_local bool in_poll = false;
struct InPoll {
  InPoll() { in_poll = true; }
  InPoll(const InPoll&) = delete;
  InPoll& operator=(const InPoll&) = delete;
  ~InPoll() { in_poll = false; }
};
#else
constexpr bool in_poll = false;
struct InPoll {};
#endif

}  // namespace

bool Requests::polling() {
  return in_poll;
}

void Requests::open_unfinished() {
  check(PMPI_Grequest_start(query_unfinished, free_unfinished, cancel_unfinished, nullptr, &unfinished_),
        "MPI_Grequest_start");
}

void Requests::close_unfinished() {
  if (unfinished_ == MPI_REQUEST_NULL) return;
  PMPI_Grequest_complete(unfinished_);
  PMPI_Wait(&unfinished_, MPI_STATUS_IGNORE);
}

Message& Requests::take() {
  if (unused_.empty()) return messages_.emplace_back();
  Message& message = *unused_.back();
  unused_.pop_back();
  return message;
}

void Requests::give_back(Message& message) {
  message.owner = nullptr;
  unused_.push_back(&message);
}

void Requests::add(MPI_Request request, Message& message, std::int64_t bytes) {
  requests_.push_back(request);
  parts_.push_back({&message, bytes});
  if (indices_.size() < requests_.capacity()) {
    indices_.resize(requests_.capacity());
    statuses_.resize(requests_.capacity());
    ended_.reserve(requests_.capacity());
  }
  ++message.open;
}

bool Requests::poll() {
  if (telling_) throw Error(MPI_ERR_OTHER, "a function that a reduction calls must not call the library");
  [[maybe_unused]] const InPoll in_poll_now;
  int count = 0;
  if (requests_.empty()) {
    // A look at MPI all the same: the user's own messages may need it, and what goes through windows.
    if (unfinished_ != MPI_REQUEST_NULL) PMPI_Test(&unfinished_, &count, MPI_STATUS_IGNORE);
    return false;
  }
  const bool with_errors = requests_.size() == 1 ? test_one(count) : test_some(count);
  if (count <= 0) return false;
  collect(count, with_errors);
  drop_ended();
  telling_ = true;
  struct Told {
    bool& telling;
    ~Told() { telling = false; }
  } notifying{telling_};
  // Owners may post more.
  for (std::size_t i = 0; i < ended_.size(); ++i) {
    const Ended ended = ended_[i];
    --ended.message->open;
    ended.message->owner->part_ended(ended);
  }
  return true;
}

// Both return whether statuses hold errors, and count what has ended.
bool Requests::test_some(int& count) {
  const int code =
      PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), statuses_.data());
  if (code == MPI_SUCCESS) return false;
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
  return true;
}

// Half the price, and often there is but one.
bool Requests::test_one(int& count) {
  const int code = PMPI_Test(requests_.data(), &count, statuses_.data());
  indices_.front() = 0;
  if (code == MPI_SUCCESS) return false;
  count = 1;
  statuses_.front().MPI_ERROR = code;
  return true;
}

void Requests::collect(int count, bool with_errors) {
  ended_.clear();
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    const Part& part = parts_[index];
    Ended ended{part.message, part.bytes, part.bytes, with_errors ? status.MPI_ERROR : MPI_SUCCESS};
    if (part.message->receiving && ended.code == MPI_SUCCESS) {
      int received = 0;
      PMPI_Get_count(&status, MPI_BYTE, &received);
      ended.received = received;
    }
    ended_.push_back(ended);
    parts_[index].message = nullptr;
  }
}

void Requests::drop_ended() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].message) continue;
    requests_[kept] = requests_[i];
    parts_[kept++] = parts_[i];
  }
  requests_.resize(kept);
  parts_.resize(kept);
}

bool Requests::abandon(const MessageOwner& owner) {
  bool may_be_read = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Message* message = parts_[i].message;
    if (message->owner != &owner) continue;
    if (message->foreign) {
      message->may_be_read = may_be_read = true;  // nor can it be freed
    } else if (message->receiving) {
      PMPI_Cancel(&requests_[i]);
      PMPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    } else {
      PMPI_Request_free(&requests_[i]);
      message->may_be_read = may_be_read = true;
    }
    parts_[i].message = nullptr;
    if (--message->open == 0) message->owner->abandon(*message);
  }
  drop_ended();
  return may_be_read;
}

}  // namespace quadrille::engine
