#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/mpi.hpp"
#include "run/backend.hpp"
#include "run/memory.hpp"

namespace quadrille::engine {

class MessageOwner;

// A message of a schedule on its way through MPI, which may take several of MPI's own.
struct Message {
  MessageOwner* owner = nullptr;
  Token token;
  bool receiving = false;
  Rank peer = 0;
  int tag = 0;
  std::int64_t bytes = 0;        // in all
  std::int64_t posted = 0;       // of them, handed to MPI
  int open = 0;                  // requests that have not ended
  std::byte* memory = nullptr;   // where the bytes are contiguous; null: they must be packed
  std::byte* staging = nullptr;  // of a message that is packed: room for one part
  bool may_be_read = false;      // by MPI, since a send can't be cancelled
  bool foreign = false;          // not a message: a collective of the MPI's own, or a transfer through a window
  std::vector<Placed> pieces;    // likewise
};

// How a part of a message ended.
struct Ended {
  Message* message;
  std::int64_t bytes;     // of the part, as asked for
  std::int64_t received;  // as they came; of a send the same
  int code;
};

// Who gets to know what has become of a message.
class MessageOwner {
 public:
  virtual void part_ended(const Ended& ended) = 0;
  // No request of the message is open any more, and nobody will ask for it.
  virtual void abandon(Message& message) = 0;

 protected:
  ~MessageOwner() = default;
};

// All requests that this process has open in MPI, whatever communicator they are on: a wait for one collective must
// not keep another from going on.
class Requests {
 public:
  Message& take();
  void give_back(Message& message);

  void add(MPI_Request request, Message& message, std::int64_t bytes);

  // Lets MPI make progress, and tells owners what has ended. Returns whether anything has.
  bool poll();

  // Gives up what an owner that failed has still open. Returns whether MPI may still read memory of it: a send can't be
  // cancelled.
  bool abandon(const MessageOwner& owner);

  std::size_t open() const { return requests_.size(); }

  // A request that is never complete, until it is closed before MPI ends. To test it is what makes every MPI progress:
  // a probe does not where it finds a message, nor, under MPICH 4, one of MPI_COMM_SELF.
  void open_unfinished();
  void close_unfinished();

  // Whether this thread is in a poll: whoever stands behind MPI's functions must not wait there on its own account.
  static bool polling();

 private:
  struct Part {
    Message* message;
    std::int64_t bytes;
  };

  bool test_some(int& count);
  bool test_one(int& count);
  void collect(int count, bool with_errors);
  void drop_ended();

  std::vector<MPI_Request> requests_;
  std::vector<Part> parts_;  // beside requests_
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Ended> ended_;
  bool telling_ = false;
  MPI_Request unfinished_ = MPI_REQUEST_NULL;
  std::deque<Message> messages_;
  std::vector<Message*> unused_;
};

}  // namespace quadrille::engine
