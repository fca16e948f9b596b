#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/mpi.hpp"
#include "schedule/schedule.hpp"
#include "schedule/staging.hpp"

namespace quadrille::engine {

// Memory of every rank that the others access through MPI: the caller's, and beside it a board, with notices, the words
// of boxes, and staging. Both are locked for all from the beginning to the end. Not thread-safe.
class Window {
 public:
  // Bytes that all boxes of a schedule hold. Each four of them travel in a word of eight, beside a stamp.
  static constexpr std::int64_t box_bytes = 1024;
  // See algorithms/one_sided.
  static constexpr std::int64_t notices_of_a_peer = 2;

  // Collective over the communicator, and waits for its ranks. Null: memory of its own. If there is trouble on any
  // rank, none has a window. `staging` bytes, the same on every rank, hold data that comes before this rank calls.
  Window(MPI_Comm comm, void* memory, std::int64_t bytes, std::int64_t staging);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() = default;
  // Collective; unless the communicator has failed, to be called where the window is usable.
  void free();

  // Why there is no window, on all ranks if on one; empty: there is one.
  const std::string& trouble() const { return trouble_; }
  // Until it is freed.
  bool usable() const { return data_window_ != MPI_WIN_NULL; }
  std::byte* memory() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }
  // What serves it, as far as the MPI tells.
  std::string component() const;

  void put(const std::byte* source, std::int64_t bytes, Rank to, std::int64_t at) const;
  void flush(Rank to) const;
  // The same for staging, whose blocks lie one after another with all their places.
  void put_staging(const std::byte* source, std::int64_t bytes, Rank to, std::int64_t at) const;
  void flush_staging(Rank to) const;
  // What has come there.
  std::byte* staging(std::int64_t at) const;
  // Bytes of a place; 0: there is none.
  std::int64_t staging_place() const { return staging_place_; }
  // A block for each power of two below the ranks; see algorithms/bcast/one_sided_staged.
  static std::int32_t staging_blocks(Rank ranks);
  // Those so far.
  StagingRuns& staging_runs() { return staging_runs_; }
  // Appends the requests that it takes.
  void get(std::byte* target, std::int64_t bytes, Rank from, std::int64_t at, std::vector<MPI_Request>& requests) const;

  // Lets MPI bring in what others send.
  void look() const;

  void notify(Rank to, std::int32_t notice, std::int64_t value) const;
  // Whether this rank's notice has reached the value.
  bool noticed(std::int32_t notice, std::int64_t value) const;

  // Data in words from `word` on, each with that stamp, which is not 0.
  void deposit(std::span<const std::byte> data, Rank to, std::int64_t word, std::uint32_t stamp);
  // Takes data out if all of it is there.
  bool collect(std::span<std::byte> data, std::int64_t word, std::uint32_t stamp) const;
  static std::int64_t words(std::int64_t bytes) { return (bytes + word_data - 1) / word_data; }

 private:
  using Word = std::atomic<std::uint64_t>;
  static_assert(sizeof(Word) == sizeof(std::uint64_t) && Word::is_always_lock_free);
  static constexpr std::int64_t word_data = 4;
  static constexpr int word_bytes = sizeof(Word);

  void expose(MPI_Comm comm, void* memory);
  void add_board(MPI_Comm comm, std::int64_t staged);
  void require_unified() const;
  template <class Work>
  bool everywhere(MPI_Comm comm, Work&& work);
  Word& own(std::int64_t index) const { return board_[index]; }
  // Words of notices and boxes, behind which staging begins.
  std::int64_t told_words() const { return notices_ + std::ssize(outgoing_); }
  void set(std::span<const std::uint64_t> words, Rank to, std::int64_t index) const;

  MPI_Win data_window_ = MPI_WIN_NULL;
  MPI_Win board_window_ = MPI_WIN_NULL;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  std::string trouble_;
  Word* board_ = nullptr;
  std::int64_t notices_ = 0;
  std::int64_t staging_place_ = 0;
  StagingRuns staging_runs_;
  std::vector<std::uint64_t> outgoing_;  // words of a deposit
};

}  // namespace quadrille::engine
