#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the collectives of a program took, where, and what the drop-in made of them. The drop-in writes it as text or
// JSON; the command reads the JSON and makes text or a page of it.
namespace quadrille::profile {

// The classes of sizes: up to so many bytes, and beyond.
inline constexpr std::array<std::int64_t, 6> size_bounds = {0, 64, 1024, 16384, 262144, 4194304};
inline constexpr std::array<std::string_view, 7> size_names = {"0 B",        "1-64 B",   "to 1 KiB",  "to 16 KiB",
                                                               "to 256 KiB", "to 4 MiB", "over 4 MiB"};
std::size_t size_class(std::int64_t bytes);

// All communicators of one name and number of ranks.
struct Communicator {
  std::string name = {};   // empty: the program gave it none
  int ranks = 0;           // of each; 0: of any number, more communicators than are told apart
  std::int64_t count = 1;  // of them; 0: unknown

  // "MPI_COMM_WORLD", "row, 4 ranks x 8", "unnamed, 4 ranks".
  std::string title() const;
};

// Calls of one collective and size on communicators of one kind. Calls and bytes are those of all ranks. A mean is over
// all ranks of the program, so that means add up to a share of the run.
struct Calls {
  std::string collective;
  std::string size;
  std::size_t communicator = 0;
  std::int64_t calls = 0;
  std::int64_t replaced = 0;
  std::int64_t bytes = 0;
  double mean_seconds = 0;
  double replaced_seconds = 0;  // of these, in calls that were replaced
  double largest_seconds = 0;   // of any rank
};

struct CollectiveTime {
  std::string collective;
  double mean_seconds = 0;
  double largest_seconds = 0;
};

struct AlgorithmUse {
  std::string collective;
  std::string algorithm;
  std::int64_t calls = 0;
};

struct PassedThrough {
  std::string collective;
  std::string why;
  std::int64_t calls = 0;
};

// What was learned of calls of one collective and range of sizes on one communicator, by timing candidates.
struct Learned {
  struct Tried {
    std::string name;
    double seconds = 0;
  };
  struct Change {
    std::int64_t calls = 0;  // before it
    std::string verdict;
  };
  std::string communicator;
  int ranks = 0;
  int nodes = 0;
  std::string collective;
  std::int64_t from = 0;  // bytes
  std::int64_t to = 0;
  std::int64_t calls = 0;  // of one rank
  std::int64_t replaced = 0;
  std::string verdict;        // a variant, or native: the MPI's own
  double seconds = 0;         // of a call by the verdict
  double native_seconds = 0;  // of a call by the MPI's own; 0: unknown
  std::vector<Tried> tried = {};
  std::vector<Change> changes = {};  // of the verdict: the last few
  double saved_seconds = 0;
  std::string start = {};  // what it began with: by price, remembered, native

  bool is_native() const { return verdict == "native"; }
};

struct Profile {
  // Empty where it isn't known.
  std::string program = {};
  std::string mpi = {};
  std::string host = {};  // of rank 0
  std::string date = {};
  int ranks = 1;
  int nodes = 0;  // 0: unknown
  std::int64_t peak_bytes = 0;
  std::string waits = "MPI's";  // yielding, ours
  double wall_seconds = 0;      // from MPI_Init to MPI_Finalize, of the slowest rank
  std::vector<Communicator> communicators = {};
  std::vector<Calls> calls = {};  // by collective, then size, then communicator
  std::vector<CollectiveTime> collectives = {};
  std::vector<AlgorithmUse> algorithms = {};
  std::vector<PassedThrough> passed = {};
  std::vector<Learned> learned = {};

  // In collectives, the mean of the ranks.
  double in_collectives() const;
  // Of the run; 0 if its length isn't known.
  double share_of_run(double seconds) const { return wall_seconds > 0 ? seconds / wall_seconds : 0; }
  // The share of the ranks that a case is of: rows of a grid save time side by side.
  double weight(const Learned& one) const;
  // The mean of the ranks.
  double saved_seconds() const;
  // What the learned calls would have taken by the MPI's own, likewise.
  double learned_native_seconds() const;
};

// "4 KiB to 16 KiB", "64 KiB to below 80 KiB".
std::string range_text(std::int64_t from, std::int64_t to);
// To two digits, as an estimate: "3.2 s".
std::string about_seconds(double seconds);
// "saved about 3.2 s of 20 s against the MPI's own as measured"; empty if nothing was learned.
std::string saved_text(const Profile& profile);

std::string to_text(const Profile& profile);
std::string to_json(const Profile& profile);
std::string to_html(const Profile& profile);

// Also of earlier versions, whose files have less in them. Throws std::invalid_argument.
Profile from_json(std::string_view text);

}  // namespace quadrille::profile
