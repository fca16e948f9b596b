#pragma once

#include <cstdint>
#include <vector>

#include "engine/mpi.hpp"
#include "engine/requests.hpp"
#include "run/arena.hpp"
#include "run/backend.hpp"

namespace quadrille::engine {

// Of an exchange on demand, the tag of signals that a receive is posted: above those of the data.
inline constexpr int tag_of_demand = 32;

// What the messages of a communicator travel by.
struct MessageGround {
  MPI_Comm comm = MPI_COMM_NULL;
  std::int64_t part = max_int_count;  // longer messages travel in parts; the same on every rank
  // The lower one of two ranks sends first, when the other has posted a receive, which a signal tells; the other one
  // when something has come. From then on the schedule lets no more go than comes. So MPI has nothing to keep for a
  // rank that is late, and no more than a window's messages, for a moment, of one that is not. The same on every rank.
  bool on_demand = false;
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
  void start(Rank rank, Rank ranks, int first_tag);

  // A message, to be given its pieces and posted.
  Message& make(Token token, bool receiving, Rank peer, std::int32_t channel);
  void post(Message& message);
  // A collective of the MPI's own: the user hears of its end as of a message's.
  void add_collective(Token token, MPI_Request request);

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
  bool sends_first(Rank peer) const { return rank_ < peer; }
  bool must_wait(const Message& message);
  void await_demand(const Message& message);
  void signal_demand(const Message& message);
  void demanded(Rank peer);

  MessageGround ground_;
  User& user_;
  MessageOwner& owner_;
  Rank rank_ = 0;
  int first_tag_ = 0;
  // Messages that have parts to post yet, and those of the same stream that must not overtake them.
  std::vector<Message*> unfinished_;
  std::vector<Message*> held_;
  // On demand, by rank: whether it has the signal that a receive is posted here, and whether it will receive.
  enum class Demand : std::uint8_t { unknown, awaited, known };
  std::vector<bool> signalled_;
  std::vector<Demand> demands_;
  std::vector<Message*> undemanded_;  // sends to those who have posted no receive, as far as known
};

}  // namespace quadrille::engine
