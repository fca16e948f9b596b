#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/plan.hpp"
#include "topology/places.hpp"

namespace quadrille::meet {

// How the ranks of a new communicator find out where all of them are, and get memory to share inside nodes.
//
// What a process has heard of another it keeps (Places). Ranks agree by one word whether each knows where all are; only
// if not do they tell each other. So processes that know each other exchange a few words, however many there are: of
// an allreduce, and inside nodes of a bcast. The results are the same on every rank.
class Meeting final : public Plan {
 public:
  // What a rank brings along.
  struct Own {
    Rank rank = 0;
    Rank ranks = 1;
    std::vector<std::int32_t> processes;  // their numbers in Places, by rank; none: some have no number
    Place place = {};
    std::string trouble = {};    // why it can't say where it is; empty: it can
    std::uint64_t machine = 0;   // nodes that are containers of one machine share its cores
    std::int32_t cores = 1;      // of its node
    std::int32_t all_cores = 1;  // and of all nodes that are parts of its machine
    bool oversubscribed = false;
  };
  // Where the first rank of a node says that its memory is. Plain bytes.
  using Address = std::array<std::int64_t, 2>;
  // How the memory of nodes is made. Either every node gets it, or none does.
  struct Memory {
    // On the first rank of each node; std::nullopt: it can't. Empty: no memory is wanted.
    std::function<std::optional<Address>(const Topology&, bool oversubscribed)> create = {};
    // On all ranks, with the first one's address, if it has one. Returns what is wrong; empty: nothing.
    std::function<std::string(const Topology&, bool oversubscribed, const std::optional<Address>&)> open = {};
  };
  // What all ranks know in the end.
  struct Result {
    std::string refusal;  // a rank can't say where it is; empty: all can
    std::optional<Topology> topology;
    bool one_machine = false;  // all nodes are parts of it
    std::int32_t cores = 1;    // the least of any rank's
    std::int32_t all_cores = 1;
    bool oversubscribed = false;  // some node
    bool shares_memory = false;
    Rank without = -1;    // if not, the lowest rank that can't; -1: none was wanted
    std::string because;  // what that rank said
  };

  // What is learned goes to `places`, which must outlive it, as must the result.
  Meeting(Own own, Memory memory, Places& places, Result& result);

  bool next(Phase& phase) override;

 private:
  // What all ranks agree on first.
  struct Circumstances {
    std::uint64_t least_machine = 0;
    std::uint64_t greatest_machine = 0;
    Rank troubled = -1;  // the lowest rank that can't say where it is
    std::int32_t cores = 1;
    std::int32_t all_cores = 1;
    bool all_known = true;  // every rank knows where all are
    bool oversubscribed = false;
  };
  // A place, as a rank tells it to all others.
  struct Told {
    std::uint32_t node_low = 0;
    std::uint32_t node_high = 0;
    std::uint32_t rack = 0;
  };
  // What the first rank of a node says.
  struct Word {
    Address address = {};
    bool there = false;
  };
  // What has happened last.
  enum class Step : std::uint8_t { nothing, agreed, placed, addressed, voted, explained, done };

  static void merge_circumstances(const void* left, void* right, std::int64_t);
  static void merge_ranks(const void* left, void* right, std::int64_t);
  bool after_agreement(Phase& phase);
  bool after_places(Phase& phase);
  Phase says(Rank rank, const std::string& text);
  Phase inside_nodes();
  std::shared_ptr<const Program> vote() const;

  Own own_;
  Memory memory_;
  Places& places_;
  Result& result_;
  Step step_ = Step::nothing;
  Circumstances mine_;
  Circumstances all_;
  Told told_;
  std::vector<Told> heard_;
  std::array<char, 240> text_ = {};
  Word word_;
  Rank without_ = -1;
  Rank lowest_without_ = -1;
  std::string trouble_;
};

}  // namespace quadrille::meet
