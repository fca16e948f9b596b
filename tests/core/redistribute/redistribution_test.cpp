#include "redistribute/redistribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <vector>

#include "replay/world.hpp"

namespace {

// Memory allocated by operator new while tracked.
bool watched = false;
std::int64_t allocated_bytes = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (watched) allocated_bytes += static_cast<std::int64_t>(size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace quadrille::redistribute {
namespace {

struct Watch {
  explicit Watch(bool on) : before(std::exchange(watched, on)) {}
  ~Watch() { watched = before; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  bool before;
};

using Matrix = std::vector<std::vector<std::int64_t>>;

// A redistribution, by rank.
struct Problem {
  Rank ranks = 0;
  std::vector<Layout> elements;  // all of one size
  Matrix send_counts, send_displacements, receive_counts, receive_displacements;
  std::vector<std::int64_t> extra;  // elements
  std::int64_t in_flight = 8;
  std::int64_t part = std::numeric_limits<std::int64_t>::max();
  std::int64_t sends = std::numeric_limits<std::int64_t>::max();
  std::int64_t slack = -1;
};

struct Traffic {
  std::vector<std::vector<std::int64_t>> receives;  // of data, in bytes, posted and not sent to yet; by pair of ranks
  std::int64_t data_messages = 0;
  std::int64_t longest_message = 0;  // bytes
  std::int64_t most_sends = 0;       // of data, of a rank at once
  std::int64_t too_early = 0;
  std::int64_t largest_bookkeeping = 0;
  std::int64_t allocated_later = 0;
  std::int64_t times_full = 0;
  std::int64_t most_looks = 0;    // of a rank
  std::int64_t most_awaited = 0;  // likewise: receives for grants at once
};

// The machine and an observed backend.
class Watched final : public Machine, public Backend {
 public:
  Watched(const Job& job, Backend& backend, Traffic& traffic)
      : rank_(job.rank),
        ranks_(job.ranks),
        backend_(backend),
        traffic_(traffic),
        machine_((allocated_bytes = 0, Watched::job(job)), *this) {
    watched = false;
    traffic_.largest_bookkeeping = std::max(traffic_.largest_bookkeeping, allocated_bytes);
  }

  void start() override {
    count([this] { machine_.start(); });
  }
  bool advance() override {
    bool happened = false;
    count([&] { happened = machine_.advance(); });
    if (machine_.done()) {
      traffic_.times_full += machine_.times_full();
      traffic_.most_looks = std::max(traffic_.most_looks, machine_.looks());
    }
    return happened;
  }
  void complete(Token token) override {
    if (token.operation == 2) --awaited_grants_;
    if (token.operation == 3) --sends_;
    count([&] { machine_.complete(token); });
  }
  bool done() const override { return machine_.done(); }
  std::vector<std::string> awaited() const override { return machine_.awaited(); }

  std::int64_t units(Buffer buffer, Rank owner, std::int32_t block) override {
    return backend_.units(buffer, owner, block);
  }
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override {
    const Watch off(false);
    if (channel == 0) {
      ++traffic_.data_messages;
      traffic_.longest_message = std::max(traffic_.longest_message, data.front().length);
      traffic_.most_sends = std::max(traffic_.most_sends, ++sends_);
      auto& receives = posted(rank_, to);
      if (receives.empty() || receives.front() != data.front().length) ++traffic_.too_early;
      if (!receives.empty()) receives.erase(receives.begin());
    }
    backend_.send(token, to, channel, data);
  }
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override {
    const Watch off(false);
    if (channel == 0) posted(from, rank_).push_back(data.front().length);
    if (channel == 1) traffic_.most_awaited = std::max(traffic_.most_awaited, ++awaited_grants_);
    backend_.receive(token, from, channel, data);
  }
  void copy(Token token, const Piece& source, const Piece& target) override { backend_.copy(token, source, target); }
  void reduce(Token token, const Piece& left, const Piece& right, const Piece& target) override {
    backend_.reduce(token, left, right, target);
  }

 private:
  static const Job& job(const Job& of) {
    watched = true;
    return of;
  }
  template <class Call>
  void count(Call&& call) {
    const std::int64_t outside = std::exchange(allocated_bytes, 0);  // a call may come inside another
    {
      const Watch on(true);
      call();
    }
    traffic_.allocated_later += std::exchange(allocated_bytes, outside);
  }

  std::vector<std::int64_t>& posted(Rank from, Rank to) {
    return traffic_
        .receives[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to)];
  }

  Rank rank_;
  Rank ranks_;
  Backend& backend_;
  Traffic& traffic_;
  std::int64_t awaited_grants_ = 0;
  std::int64_t sends_ = 0;
  Redistribution machine_;
};

constexpr std::size_t guard = 16;

// One rank's memory, with guards around it.
struct Memory {
  std::vector<std::byte> buffer, extra;
  std::vector<std::int64_t> words;
  std::int64_t address = 0;  // of the first element, in the buffer
};

std::int64_t element_bytes(const Problem& problem) {
  return problem.elements.front().size();
}

// So many elements of a rank's buffer.
Typed elements_at(const Problem& problem, std::size_t rank, std::vector<std::byte>& buffer, std::int64_t address,
                  std::int64_t displacement, std::int64_t count) {
  const Layout& element = problem.elements[rank];
  return {buffer.data() + address + displacement * element.extent(), count, &element};
}

std::vector<Memory> memory_of(const Problem& problem, std::mt19937_64& random) {
  std::vector<Memory> all(static_cast<std::size_t>(problem.ranks));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::int64_t end = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      end = std::max({end, problem.send_displacements[i][k] + problem.send_counts[i][k],
                      problem.receive_displacements[i][k] + problem.receive_counts[i][k]});
    }
    const auto [first, last] = problem.elements[i].span(end);
    all[i].buffer.resize(static_cast<std::size_t>(last - first) + 2 * guard);
    all[i].address = static_cast<std::int64_t>(guard) - first;
    all[i].extra.resize(static_cast<std::size_t>(problem.extra[i] * element_bytes(problem)) + 2 * guard);
    all[i].words.resize(static_cast<std::size_t>(Redistribution::words));
    for (std::byte& byte : all[i].buffer) byte = static_cast<std::byte>(random());
  }
  return all;
}

// The expected result, by definition.
std::vector<std::vector<std::byte>> expected_of(const Problem& problem, std::vector<Memory>& memory) {
  std::vector<std::vector<std::byte>> expected;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    expected.push_back(memory[i].buffer);
    for (std::size_t k = 0; k < memory.size(); ++k) {
      const std::int64_t count = problem.receive_counts[i][k];
      transfer(elements_at(problem, k, memory[k].buffer, memory[k].address, problem.send_displacements[k][i], count), 0,
               elements_at(problem, i, expected[i], memory[i].address, problem.receive_displacements[i][k], count), 0,
               count * element_bytes(problem));
    }
  }
  return expected;
}

Traffic expect_redistributed(const Problem& problem, const replay::Options& options) {
  std::mt19937_64 random(options.seed);
  std::vector<Memory> memory = memory_of(problem, random);
  const auto expected = expected_of(problem, memory);
  Traffic traffic;
  traffic.receives.resize(memory.size() * memory.size());
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<Job> jobs;
  jobs.reserve(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    jobs.push_back({.rank = static_cast<Rank>(i),
                    .ranks = problem.ranks,
                    .send = {problem.send_counts[i], problem.send_displacements[i]},
                    .receive = {problem.receive_counts[i], problem.receive_displacements[i]},
                    .element = problem.elements[i],
                    .data = memory[i].buffer.data() + memory[i].address,
                    .extra = std::span(memory[i].extra).subspan(guard, memory[i].extra.size() - 2 * guard),
                    .words = memory[i].words,
                    .in_flight = problem.in_flight,
                    .slack = problem.slack,
                    .part = problem.part,
                    .sends = problem.sends});
    const Job& job = jobs.back();
    Phase phase;
    phase.protocol = [&job, &traffic](Backend& backend) { return std::make_unique<Watched>(job, backend, traffic); };
    phase.binding = Redistribution::binding(job);
    phase.open_channel = job.grants;
    plans.push_back(std::make_unique<FixedPlan>(std::vector<Phase>{phase}));
  }
  replay::run(std::move(plans), options);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    EXPECT_TRUE(memory[i].buffer == expected[i]) << "rank " << i << " of " << memory.size();
    const auto untouched = [](std::byte byte) { return byte == std::byte{0}; };
    EXPECT_TRUE(std::all_of(memory[i].extra.begin(), memory[i].extra.begin() + guard, untouched));
    EXPECT_TRUE(std::all_of(memory[i].extra.end() - guard, memory[i].extra.end(), untouched));
  }
  EXPECT_EQ(traffic.too_early, 0);
  EXPECT_LE(traffic.longest_message, std::max(problem.part, element_bytes(problem)));
  EXPECT_LE(traffic.most_sends, problem.sends);
  EXPECT_LE(traffic.largest_bookkeeping, Redistribution::bookkeeping_bytes(problem.ranks));
  EXPECT_EQ(traffic.allocated_later, 0);
  return traffic;
}

// Blocks in a random order with random gaps.
std::vector<std::int64_t> scattered(const std::vector<std::int64_t>& counts, std::uint64_t gap, bool shuffled,
                                    std::mt19937_64& random) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> displacements(counts.size());
  std::int64_t at = gap == 0 ? 0 : static_cast<std::int64_t>(random() % gap);
  for (std::size_t which : order) {
    displacements[which] = at;
    at += counts[which] + (gap == 0 ? 0 : static_cast<std::int64_t>(random() % gap));
  }
  return displacements;
}

void lay_out_blocks(Problem& problem, std::mt19937_64& random) {
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  problem.receive_counts.assign(ranks, std::vector<std::int64_t>(ranks));
  for (std::size_t i = 0; i < ranks; ++i) {
    for (std::size_t k = 0; k < ranks; ++k) problem.receive_counts[i][k] = problem.send_counts[k][i];
  }
  const std::uint64_t gaps[] = {0, 0, 2, 5, 40};
  const std::uint64_t send_gap = gaps[random() % 5];
  const std::uint64_t receive_gap = gaps[random() % 5];
  const bool shuffled = random() % 2 == 0;
  for (std::size_t i = 0; i < ranks; ++i) {
    problem.send_displacements.push_back(scattered(problem.send_counts[i], send_gap, shuffled, random));
    problem.receive_displacements.push_back(scattered(problem.receive_counts[i], receive_gap, shuffled, random));
  }
}

std::int64_t random_count(std::size_t from, std::size_t to, const Problem& problem, int kind, std::uint64_t largest,
                          std::mt19937_64& random) {
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  const auto any = static_cast<std::int64_t>(random() % (largest + 1));
  switch (kind) {
    case 0:
      return any;
    case 1:  // sparse
      return random() % 4 == 0 ? any : 0;
    case 2:  // everything to one
      return to == ranks / 2 ? any : 0;
    case 3:  // everything from one
      return from == ranks / 2 ? any : 0;
    case 4:  // to the next rank
      return to == (from + 1) % ranks ? static_cast<std::int64_t>(largest) : 0;
    case 5:  // much to few ranks
      return random() % 8 == 0 ? 10 * any : any % 3;
    case 6:
      return static_cast<std::int64_t>(largest);
    case 7:  // mostly the own block
      return to == from ? 3 * any : any % 4;
    default:
      return 0;
  }
}

Problem random_problem(std::mt19937_64& random, std::uint64_t seed) {
  Problem problem;
  problem.ranks = static_cast<Rank>(seed % 50 == 0 ? 2 + random() % 39 : 2 + random() % 5);
  if (seed % 97 == 0) problem.ranks = 1;
  const auto bytes = static_cast<std::int64_t>(random() % 3 == 0 ? 1 + random() % 64 : 1 + random() % 8);
  problem.elements.assign(static_cast<std::size_t>(problem.ranks), Layout::basic(bytes));
  const std::uint64_t sizes[] = {1, 3, 10, 30, 120};
  const std::uint64_t largest = problem.ranks > 8 ? sizes[random() % 3] : sizes[random() % 5];
  const int kind = static_cast<int>(random() % 9);
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  problem.send_counts.assign(ranks, std::vector<std::int64_t>(ranks));
  for (std::size_t i = 0; i < ranks; ++i) {
    for (std::size_t k = 0; k < ranks; ++k) {
      problem.send_counts[i][k] = random_count(i, k, problem, kind, largest, random);
    }
  }
  lay_out_blocks(problem, random);
  const std::uint64_t extras[] = {1, 1, 2, 7, 50};
  const std::uint64_t extra = extras[random() % 5];
  for (std::size_t i = 0; i < ranks; ++i) problem.extra.push_back(static_cast<std::int64_t>(1 + random() % extra));
  problem.in_flight = static_cast<std::int64_t>(1 + random() % 8);
  problem.slack = random() % 3 == 0 ? -1 : static_cast<std::int64_t>(random() % 5);
  return problem;
}

TEST(Redistribution, ArbitraryBlocksArriveCorrectly) {
  std::int64_t times_full = 0;
  for (std::uint64_t seed = 1; seed <= 12000; ++seed) {
    std::mt19937_64 random(seed);
    const Problem problem = random_problem(random, seed);
    replay::Options options{.seed = seed};
    options.sends = static_cast<replay::Sends>(random() % 3);
    try {
      times_full += expect_redistributed(problem, options).times_full;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  // Some of them filled the lists.
  EXPECT_GT(times_full, 100);
}

// An element of so many bytes, in one of several shapes. Most have gaps, and none reaches beyond its extent.
Layout with_gaps(std::int64_t bytes, std::mt19937_64& random) {
  const auto any = [&random](std::uint64_t below) { return static_cast<std::int64_t>(random() % below); };
  const Layout byte = Layout::basic(1);
  const std::int64_t half = bytes / 2;
  switch (random() % 6) {
    case 0:
      return Layout::basic(bytes);
    case 1:  // with an end that is not that of its data
      return Layout::basic(bytes).resized(any(9) - 4, bytes + any(6));
    case 2:
      return Layout::strided(bytes, 1, 1 + any(4), byte).resized(0, 4 * bytes + any(3));
    case 3: {  // fields far apart, from behind the address to before it
      const std::array<Layout::Field, 2> fields = {{{7 + any(9), half, byte}, {half - bytes - 3, bytes - half, byte}}};
      return Layout::structure(fields);
    }
    case 4: {  // no gaps, but in another order
      const std::array<std::int64_t, 2> lengths = {half, bytes - half}, at = {bytes - half, 0};
      return Layout::indexed(lengths, at, byte);
    }
    default:
      return Layout::contiguous(bytes, byte.resized(0, 2)).resized(-5, 2 * bytes + any(20));
  }
}

// Ranks may have different types, and each keeps the bytes between the data of its own.
TEST(Redistribution, ElementsWithGapsArriveAndGapsStay) {
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    std::mt19937_64 random(seed);
    Problem problem = random_problem(random, seed);
    const std::int64_t bytes = element_bytes(problem);
    const bool alike = random() % 2 == 0;
    for (Layout& element : problem.elements) element = with_gaps(bytes, random);
    if (alike) std::fill(problem.elements.begin(), problem.elements.end(), problem.elements.front());
    const std::int64_t parts[] = {1, bytes, 3 * bytes + 1, 1 << 20};
    problem.part = parts[random() % 4];
    problem.sends = static_cast<std::int64_t>(1 + random() % 3);
    replay::Options options{.seed = seed};
    options.sends = static_cast<replay::Sends>(random() % 3);
    try {
      expect_redistributed(problem, options);
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// Interleaved blocks of one element, as many as possible, with the shortest lists.
TEST(Redistribution, TheListsSufficeForInterleavedBlocks) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    Problem problem;
    problem.ranks = static_cast<Rank>(4 + random() % 20);
    const auto ranks = static_cast<std::size_t>(problem.ranks);
    problem.send_counts.assign(ranks, std::vector<std::int64_t>(ranks));
    for (std::size_t i = 0; i < ranks; ++i) {
      for (std::size_t k = 0; k < ranks; ++k) {
        problem.send_counts[i][k] = static_cast<std::int64_t>(i == k ? ranks * (random() % 5) : 1 + random() % 4);
      }
    }
    lay_out_blocks(problem, random);
    problem.elements.assign(ranks, seed % 2 == 0 ? with_gaps(3, random) : Layout::basic(1));
    problem.extra.assign(ranks, static_cast<std::int64_t>(1 + random() % 3));
    problem.in_flight = static_cast<std::int64_t>(1 + random() % 3);
    problem.slack = 0;
    expect_redistributed(problem, {.seed = seed});
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// A full buffer in blocks of random lengths.
TEST(Redistribution, AFullBufferMovesInChunksOfTheSizeOfTheExtraMemory) {
  std::mt19937_64 random(1);
  Problem problem;
  problem.ranks = 16;
  problem.elements.assign(16, Layout::basic(1));
  problem.send_counts.assign(16, std::vector<std::int64_t>(16));
  for (auto& counts : problem.send_counts) {
    for (std::int64_t& count : counts) count = static_cast<std::int64_t>(random() % 131072);
  }
  problem.receive_counts = problem.send_counts;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t k = 0; k < 16; ++k) {
      problem.receive_counts[i][k] = problem.send_counts[k][i];
      bytes += i == k ? 0 : problem.send_counts[i][k];
    }
  }
  for (std::size_t i = 0; i < 16; ++i) {
    problem.send_displacements.push_back(scattered(problem.send_counts[i], 0, false, random));
    problem.receive_displacements.push_back(scattered(problem.receive_counts[i], 0, false, random));
  }
  problem.extra.assign(16, 16384);
  const Traffic traffic = expect_redistributed(problem, {});
  EXPECT_LT(traffic.data_messages, bytes / (16384 / 8)) << traffic.times_full;
  EXPECT_EQ(traffic.times_full, 0);
}

// A backend in which operations complete only on request of the test.
struct Post {
  bool send;
  Token token;
  Rank peer;
  std::int32_t channel;
  Piece piece;
};
class Hand final : public Backend {
 public:
  std::int64_t units(Buffer, Rank, std::int32_t) override { return 0; }
  void send(Token token, Rank to, std::int32_t channel, std::span<const Piece> data) override {
    posts.push_back({true, token, to, channel, data.front()});
  }
  void receive(Token token, Rank from, std::int32_t channel, std::span<const Piece> data) override {
    posts.push_back({false, token, from, channel, data.front()});
  }
  void copy(Token, const Piece&, const Piece&) override {}
  void reduce(Token, const Piece&, const Piece&, const Piece&) override {}

  // The last operation of a kind.
  const Post* find(bool send, std::int32_t channel) const {
    const Post* found = nullptr;
    for (const Post& post : posts) {
      if (post.send == send && post.channel == channel) found = &post;
    }
    return found;
  }

  std::vector<Post> posts;
};

// Rank 0 of three, which receives 16 elements from rank 1 in the places of those for rank 2.
struct FullRank {
  std::array<std::int64_t, 3> send = {0, 0, 16}, receive = {0, 16, 0}, displacements = {0, 0, 0};
  std::array<std::byte, 16> data = {};
  std::array<std::byte, 8> extra = {};
  std::vector<std::int64_t> words = std::vector<std::int64_t>(static_cast<std::size_t>(Redistribution::words));
  Hand hand;
  Redistribution machine{{.rank = 0,
                          .ranks = 3,
                          .send = {send, displacements},
                          .receive = {receive, displacements},
                          .data = data.data(),
                          .extra = extra,
                          .words = words,
                          .in_flight = 1},
                         hand};

  // A grant of rank 2.
  void granted(std::int64_t elements) {
    const Post post = *hand.find(false, 1);
    const auto word = static_cast<std::size_t>(post.piece.offset / 8);
    words[word] = 2;
    words[word + 1] = granted_already;
    words[word + 2] = granted_already += elements;
    machine.complete(post.token);
    machine.advance();
  }
  std::int64_t granted_already = 0;
  void ends(bool of_send, std::int32_t channel) {
    machine.complete(hand.find(of_send, channel)->token);
    machine.advance();
  }
};

TEST(Redistribution, DataIsSentOnlyAfterAGrantAndGrantedOnlyAfterItsReceiveIsPosted) {
  FullRank rank;
  rank.machine.start();
  while (rank.machine.advance()) {
  }
  ASSERT_EQ(rank.hand.posts.size(), 3U);
  EXPECT_FALSE(rank.hand.posts[0].send);  // for a grant
  EXPECT_EQ(rank.hand.posts[0].channel, 1);
  EXPECT_EQ(rank.hand.posts[0].peer, anyone);
  EXPECT_FALSE(rank.hand.posts[1].send);  // into the extra memory
  EXPECT_EQ(rank.hand.posts[1].channel, 0);
  EXPECT_EQ(rank.hand.posts[1].piece.length, 8);
  EXPECT_TRUE(rank.hand.posts[2].send);  // our grant
  EXPECT_EQ(rank.hand.posts[2].channel, 1);
  EXPECT_EQ(rank.machine.awaited(),
            (std::vector<std::string>{"data from rank 1: 0 of 16 elements", "a grant of rank 2", "a grant to rank 1"}));
  rank.granted(3);
  const Post* data = rank.hand.find(true, 0);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->peer, 2);
  EXPECT_EQ(data->piece.length, 3);
}

// Each rank has so many partners, in both directions.
Problem with_partners(Rank ranks, Rank partners, std::int64_t elements) {
  Problem problem;
  problem.ranks = ranks;
  problem.in_flight = 32;
  const auto size = static_cast<std::size_t>(ranks);
  problem.elements.assign(size, Layout::basic(8));
  problem.extra.assign(size, 64);
  for (auto* matrix :
       {&problem.send_counts, &problem.send_displacements, &problem.receive_counts, &problem.receive_displacements}) {
    matrix->assign(size, std::vector<std::int64_t>(size, 0));
  }
  const Rank stride = ranks / (partners + 1);
  for (Rank from = 0; from < ranks; ++from) {
    for (Rank i = 1; i <= partners; ++i) {
      const Rank to = (from + i * stride) % ranks;
      // Neither end knows where the other's block lies.
      const std::int64_t count = elements + (from * 7 + to * 3) % 5;
      problem.send_counts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = count;
      problem.receive_counts[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)] = count;
    }
  }
  for (std::size_t rank = 0; rank < size; ++rank) {
    std::partial_sum(problem.send_counts[rank].begin(), problem.send_counts[rank].end() - 1,
                     problem.send_displacements[rank].begin() + 1);
    std::partial_sum(problem.receive_counts[rank].begin(), problem.receive_counts[rank].end() - 1,
                     problem.receive_displacements[rank].begin() + 1);
  }
  return problem;
}

// What a rank looks at, awaits and allocates grows with its partners, neither with their square nor with the ranks.
TEST(Redistribution, WorkAndMemoryAreLinearInThePartners) {
  struct Taken {
    double looks = 0;  // a partner
    std::int64_t bytes = 0;
  };
  const auto taken = [](Rank ranks, Rank partners) -> Taken {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << partners << " partners");
    const Traffic traffic = expect_redistributed(with_partners(ranks, partners, 3), {.seed = 5});
    EXPECT_LE(traffic.most_awaited, Redistribution::max_awaited);
    return {static_cast<double>(traffic.most_looks) / partners, traffic.largest_bookkeeping};
  };
  // Dense, 1,024 ranks take half a minute.
  const Rank most = std::getenv("QUADRILLE_PROVE_ALL") ? 1024 : 512;
  const Taken few = taken(64, 63);
  const Taken many = taken(most, most - 1);
  EXPECT_LT(many.looks, 1.5 * few.looks);
  EXPECT_LE(many.bytes * 63, few.bytes * (most - 1));
  const Taken sparse = taken(64, 15);
  const Taken sparse_among_many = taken(1024, 15);
  EXPECT_LT(sparse_among_many.looks, 1.5 * sparse.looks);
  EXPECT_EQ(sparse_among_many.bytes, sparse.bytes);
}

TEST(Redistribution, AnyHoleIsGrantedIfNothingElseIsInFlight) {
  FullRank rank;
  rank.machine.start();
  rank.machine.advance();
  rank.ends(true, 1);
  rank.ends(false, 0);
  const std::size_t before = rank.hand.posts.size();
  rank.granted(1);
  rank.ends(true, 0);
  // A send, the next receive of a grant; then the receive and the grant of one element.
  ASSERT_EQ(rank.hand.posts.size(), before + 4);
  EXPECT_EQ(rank.hand.find(false, 0)->piece.length, 1);
}

}  // namespace
}  // namespace quadrille::redistribute
