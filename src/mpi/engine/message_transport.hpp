#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/mpi.hpp"
#include "engine/requests.hpp"
#include "run/arena.hpp"
#include "run/backend.hpp"

namespace quadrille::engine {

// What the messages of a communicator travel by.
struct MessageGround {
  MPI_Comm comm = MPI_COMM_NULL;
  std::int64_t part = max_int_count;  // longer messages travel in parts; the same on every rank
  bool answered = false;              // what is sent is followed by data for the same place
  Requests* requests = nullptr;
  Arena* arena = nullptr;
};

// The messages of one run over MPI. All bytes travel as MPI_BYTE: what they mean is known to the layouts at both ends.
// Long messages are cut into parts, and what is not contiguous is packed. Not thread-safe.
class MessageTransport {
 public:
  // Hears, inside the calls below, that a message has been sent or received.
  class User {
   public:
    virtual void completed(Token token) = 0;

   protected:
    ~User() = default;
  };

  MessageTransport(const MessageGround& ground, User& user, MessageOwner& owner)
      : ground_(ground), user_(user), owner_(owner) {}

  // Channel c travels under tag first_tag + c.
  void start(int first_tag) { first_tag_ = first_tag; }

  // A message, to be given its pieces and posted.
  Message& make(Token token, bool receiving, Rank peer, std::int32_t channel);
  void post(Message& message);
  // A collective of the MPI's own, or a transfer through a window: the user hears of its end as of a message's.
  void add_foreign(Token token, std::span<const MPI_Request> requests);

  // A part has ended, in a run that goes on. Throws Error if it went wrong.
  void ended(const Ended& ended);
  // Back to where it came from.
  void give_back(Message& message) const;

  // Gives up whatever is under way. Returns whether MPI may still read what was being sent.
  bool cancel();

 private:
  void launch(Message& message);
  void put_under_way(Message& message);
  bool overtakes(const Message& message) const;
  void launch_held(const Message& after);
  void post_parts(Message& message);
  void post_part(Message& message, std::byte* at, std::int64_t bytes) const;

  MessageGround ground_;
  User& user_;
  MessageOwner& owner_;
  int first_tag_ = 0;
  // Messages that have parts to post yet, and those of the same stream that must not overtake them.
  std::vector<Message*> unfinished_;
  std::vector<Message*> held_;
};

}  // namespace quadrille::engine
