#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <quadrille/detail/call.hpp>
#include <unordered_map>
#include <vector>

#include "engine/shape.hpp"
#include "engine/task.hpp"

namespace quadrille::engine {

// What the calls on a communicator have left for later ones like them: schedules, idle tasks, decisions, counts. Those
// that were not used lately go when all of it takes more than so many bytes, but for a few entries. A call that is
// recalled touches little memory: between calls of a program that computes, none of it is in the processor's caches.
// Not thread-safe.
class Cache {
 public:
  explicit Cache(std::int64_t most_bytes = std::int64_t{8} << 20, std::size_t least_entries = 16)
      : most_bytes_(most_bytes), least_entries_(least_entries) {}

  // The schedule of that shape; `build` makes one that there is not.
  std::shared_ptr<const Program> program(const Shape& shape, const std::function<Schedule()>& build);
  // An idle task of that shape, bound to nothing; null if there is none.
  std::unique_ptr<Task> take(const Shape& shape);
  // An idle task, for the next call with its key, or of its shape.
  void keep(std::unique_ptr<Task> task);

  // What an earlier call with that key has left.
  struct Recalled {
    std::unique_ptr<Task> task;               // bound to these addresses; null: none is idle
    std::optional<Reason::Kind> native = {};  // the MPI's own function runs such calls, and why
  };
  Recalled recall(const CallKey& key, const void* input, const void* output);
  // Such calls are run by the MPI's own function.
  void keep_native(const CallKey& key, const Decision& decision);

  // The counts of all ranks, by a pointer that is the same for the same counts as long as something uses them.
  std::shared_ptr<const Shares> shares(const detail::Integers& counts, Rank ranks);

  // All that it takes, by estimate.
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Entry;
  using Entries = std::list<Entry>;
  // Calls that differ in nothing but their counts, on one schedule: they share tasks.
  struct Family {
    bool used = false;                        // since somebody last looked for what can go
    bool native = false;                      // the MPI's own function runs them
    std::unique_ptr<Task> idle;               // nearly always the only one
    std::vector<std::unique_ptr<Task>> more;  // others that are idle
    Entry* entry = nullptr;
    std::vector<Decision> decisions;  // for some counts one, for some another
    CallKey key;                      // without counts
  };
  // All of one shape; or a call that the MPI's own function runs, without a program.
  struct Entry {
    Shape shape;
    std::shared_ptr<const Program> program;
    std::vector<std::unique_ptr<Task>> idle;  // bound to nothing
    std::list<Family> families;               // those that came first at the front
    std::vector<const CallKey*> keys;         // of calls that lead here
    std::int64_t bytes = 0;                   // with those of tasks that are in use
    std::uint64_t number = 0;
    bool used = false;
  };
  // What calls with one key find.
  struct Known {
    const CallKey* key = nullptr;
    Family* family = nullptr;
    Task::Sizes sizes;
    std::size_t decision = 0;  // among the family's
  };

  Entry& add_entry(const Shape& shape, std::shared_ptr<const Program> program, std::int64_t bytes);
  static bool used_lately(Entry& entry);
  void count(Task& task, Entry& entry);
  Family& family_of(Entry& entry, const CallKey& key);
  void add_bytes(Entry& entry, std::int64_t bytes);
  const Known* find(const CallKey& key);
  const Known& add_key(Family& family, const CallKey& key, const Task::Sizes& sizes, const Decision& decision);
  void forget_keys(Entry& entry);
  void forget_oldest_family(Entry& entry);
  void make_room();

  std::int64_t most_bytes_;
  std::size_t least_entries_;  // schedules, or calls that the MPI runs
  std::int64_t bytes_ = 0;
  Entries entries_;  // the newest comes first, then those that were found in use
  std::uint64_t numbers_ = 0;
  std::unordered_map<Shape, Entry*, ShapeHash> by_shape_;
  std::unordered_map<CallKey, Known, CallKeyHash> by_key_;
  std::array<const Known*, 64> recent_ = {};  // of them, by hash: those found last
  std::uint64_t epoch_ = 1;                   // another one whenever a key is forgotten
  std::unordered_multimap<std::uint64_t, std::shared_ptr<const Shares>> shares_;  // by Shares::mark
  std::size_t most_shares_ = 64;                                                  // until those that nothing uses go
};

}  // namespace quadrille::engine
