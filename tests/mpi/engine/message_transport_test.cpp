#include "engine/message_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <quadrille/error.hpp>
#include <string>
#include <vector>

namespace quadrille::engine {
namespace {

// Each rank sends to the next one and receives from the one before it; a single rank from itself.
class MessageTransportTest : public testing::Test, protected MessageTransport::User, protected MessageOwner {
 protected:
  MessageTransportTest() {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
  }
  ~MessageTransportTest() override { PMPI_Comm_free(&comm); }

  MessageTransport make(std::int64_t part) {
    return {{.comm = comm, .part = part, .requests = &requests, .arena = &arena}, *this, *this};
  }
  void begin(MessageTransport& made) {
    transport = &made;
    made.start(0);
  }
  Rank next() const { return (rank + 1) % ranks; }
  Rank previous() const { return (rank + ranks - 1) % ranks; }

  // A message of `count` elements of a type at an address, which completes as `operation`.
  void post(std::int32_t operation, bool receiving, void* at, std::int64_t count, const Layout& type) {
    Message& made = transport->make({operation, 0}, receiving, receiving ? previous() : next(), 0);
    const std::int64_t bytes = count * type.size();
    made.pieces.push_back({{static_cast<std::byte*>(at), count, &type}, 0, bytes});
    transport->post(made);
  }
  void run_until(std::size_t completions) {
    while (done.size() < completions && wrong.empty()) requests.poll();
  }

  void completed(Token token) override { done.push_back(token.operation); }
  void part_ended(const Ended& ended) override {
    try {
      transport->ended(ended);
    } catch (const Error& error) {
      wrong = error.what();
    }
  }
  void abandon(Message& message) override {
    ++abandoned;
    transport->give_back(message);
  }

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  Requests requests;
  Arena arena;
  MessageTransport* transport = nullptr;
  std::vector<std::int32_t> done;
  std::string wrong;
  int abandoned = 0;
  Layout byte = Layout::basic(1);
};

std::vector<char> pattern(int rank, std::size_t bytes, int seed = 0) {
  std::vector<char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<char>(7 * i + static_cast<std::size_t>(31 * rank + seed));
  return made;
}

TEST_F(MessageTransportTest, CarriesMessagesWholeAndInParts) {
  for (const std::int64_t part : {std::int64_t{1000000}, std::int64_t{1000}, std::int64_t{7}}) {
    SCOPED_TRACE(part);
    MessageTransport one = make(part);
    begin(one);
    done.clear();
    std::vector<char> sent = pattern(rank, 5000);
    std::vector<char> received(sent.size());
    post(1, true, received.data(), 5000, byte);
    post(2, false, sent.data(), 5000, byte);
    run_until(2);
    EXPECT_EQ(wrong, "");
    EXPECT_EQ(received, pattern(previous(), 5000));
    EXPECT_EQ(requests.open(), 0U);
  }
}

// The second must not overtake what is left of the first.
TEST_F(MessageTransportTest, KeepsTheOrderOfAStreamWhenMessagesTravelInParts) {
  MessageTransport one = make(16);
  begin(one);
  std::array<std::vector<char>, 3> sent;
  std::array<std::vector<char>, 3> received;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i] = pattern(rank, 500 - 100 * i, static_cast<int>(i));
    received[i].resize(sent[i].size());
    post(static_cast<std::int32_t>(i), true, received[i].data(), std::ssize(received[i]), byte);
  }
  for (std::size_t i = 0; i < sent.size(); ++i) post(10, false, sent[i].data(), std::ssize(sent[i]), byte);
  run_until(6);
  EXPECT_EQ(wrong, "");
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(received[i], pattern(previous(), received[i].size(), static_cast<int>(i)));
  }
}

TEST_F(MessageTransportTest, PacksWhatHasGapsPartByPart) {
  MessageTransport one = make(10);
  begin(one);
  const Layout every_second = Layout::basic(1).resized(0, 2);
  std::vector<char> sent = pattern(rank, 100);
  std::vector<char> received(100, 'x');
  post(1, true, received.data(), 50, every_second);
  post(2, false, sent.data(), 50, every_second);
  EXPECT_LE(arena.in_use(), 2 * Arena::taken_for(10)) << "room for one part each";
  run_until(2);
  EXPECT_EQ(wrong, "");
  const std::vector<char> expected = pattern(previous(), 100);
  for (std::size_t i = 0; i < received.size(); ++i) EXPECT_EQ(received[i], i % 2 == 0 ? expected[i] : 'x');
  EXPECT_EQ(arena.in_use(), 0);
}

TEST_F(MessageTransportTest, SaysWhoSentOtherThanExpected) {
  MessageTransport one = make(1000);
  begin(one);
  std::vector<char> memory(100);
  post(1, true, memory.data(), 50, byte);
  std::vector<char> sent(40);
  post(2, false, sent.data(), 40, byte);
  run_until(2);
  EXPECT_NE(wrong.find("rank " + std::to_string(previous()) + " sent 40 bytes where 50 were expected"),
            std::string::npos)
      << wrong;
  // Of the send, if it is open still.
  while (requests.open() > 0) requests.poll();
}

TEST_F(MessageTransportTest, GivesUpReceivesThatNobodyAnswers) {
  MessageTransport one = make(10);
  begin(one);
  const Layout every_second = Layout::basic(1).resized(0, 2);
  std::vector<char> memory(400);
  post(1, true, memory.data(), 50, every_second);
  post(2, true, memory.data() + 200, 50, every_second);  // held back behind the first
  EXPECT_FALSE(one.cancel()) << "receives can be cancelled";
  while (requests.open() > 0) requests.poll();
  EXPECT_EQ(abandoned, 1);
  EXPECT_EQ(arena.in_use(), 0);
  EXPECT_TRUE(done.empty());
}

}  // namespace
}  // namespace quadrille::engine
