#include "engine/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <quadrille/error.hpp>
#include <string_view>

#include "patterns/ring.hpp"

namespace quadrille::engine {

namespace {

bool unified(MPI_Win window) {
  const int* model = nullptr;
  int found = 0;
  check(PMPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &found), "MPI_Win_get_attr");
  return found && *model == MPI_WIN_UNIFIED;
}

// Whole pages: of 9,000 bytes that MPICH 4.0.2 has allocated on 2 ranks of a node, each gets its own memory instead of
// the other's (MPI_Get and MPI_Rget).
MPI_Aint in_pages(std::int64_t bytes) {
  constexpr std::int64_t page = 4096;
  return static_cast<MPI_Aint>((bytes / page + 1) * page);
}

void open(MPI_Win window) {
  check(PMPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check(PMPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
}

// Open MPI 4.1 and 5.0 name a window after the component of its framework osc, as "rdma window 3". That for shared
// memory does not, but is the only one that knows MPI_Win_shared_query, and what it says of this window is another
// error.
std::string component_of([[maybe_unused]] MPI_Win window) {
#ifdef OPEN_MPI
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  check(PMPI_Win_get_name(window, name.data(), &length), "MPI_Win_get_name");
  const std::string_view text(name.data(), static_cast<std::size_t>(length));
  if (const auto end = text.find(" window "); end != std::string_view::npos)
    return fmt::format("osc/{}", text.substr(0, end));
  MPI_Aint bytes = 0;
  int unit = 0;
  void* memory = nullptr;
  int kind = MPI_SUCCESS;
  PMPI_Error_class(PMPI_Win_shared_query(window, 0, &bytes, &unit, static_cast<void*>(&memory)), &kind);
  if (kind != MPI_ERR_RMA_FLAVOR) return "osc/sm";
#endif
  return "";
}

}  // namespace

// Does its work on every rank, and finds out whether it has succeeded on all. Nobody goes on before all are done.
template <class Work>
bool Window::everywhere(MPI_Comm comm, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    trouble_ = fmt::format("the MPI makes no window: {}", error.what());
  }
  int least = trouble_.empty() ? 1 : 0;
  check(PMPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (least == 1) return true;
  if (trouble_.empty()) trouble_ = "the MPI makes no window on another rank";
  return false;
}

Window::Window(MPI_Comm comm, void* memory, std::int64_t bytes, std::int64_t staging)
    : bytes_(bytes), outgoing_(static_cast<std::size_t>(words(box_bytes))) {
  int ranks = 0;
  check(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  const std::int64_t blocks = staging_blocks(ranks);
  notices_ = notices_of_a_peer * ranks + 2 * blocks;
  // Whole lines of the cache.
  if (blocks > 0) staging_place_ = staging / (staging_places * blocks) / 64 * 64;
  const std::int64_t staged = staging_places * blocks * staging_place_;
  // It takes all ranks to free a window: one that some of them don't have is left to MPI.
  if (!everywhere(comm, [&] { expose(comm, memory); })) {
    data_window_ = MPI_WIN_NULL;
  } else if (!everywhere(comm, [&] { add_board(comm, staged); })) {
    board_window_ = MPI_WIN_NULL;
    free();
  } else if (!everywhere(comm, [&] { require_unified(); })) {
    free();
  }
}

void Window::expose(MPI_Comm comm, void* memory) {
  memory_ = static_cast<std::byte*>(memory);
  if (memory) {
    check(PMPI_Win_create(memory, static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, comm, &data_window_),
          "MPI_Win_create");
  } else {
    check(PMPI_Win_allocate(in_pages(bytes_), 1, MPI_INFO_NULL, comm, static_cast<void*>(&memory_), &data_window_),
          "MPI_Win_allocate");
  }
  open(data_window_);
}

// Staging that is never used is never touched.
void Window::add_board(MPI_Comm comm, std::int64_t staged) {
  void* board = nullptr;
  check(PMPI_Win_allocate(in_pages(told_words() * word_bytes + staged), word_bytes, MPI_INFO_NULL, comm,
                          static_cast<void*>(&board), &board_window_),
        "MPI_Win_allocate");
  board_ = static_cast<Word*>(board);
  open(board_window_);
  for (std::int64_t i = 0; i < told_words(); ++i) own(i).store(0, std::memory_order_relaxed);
  check(PMPI_Win_sync(board_window_), "MPI_Win_sync");
}

void Window::require_unified() const {
  if (unified(data_window_) && unified(board_window_)) return;
  throw Error(MPI_ERR_WIN, "its memory is apart from the program's (not MPI_WIN_UNIFIED)");
}

std::string Window::component() const {
  return component_of(data_window_);
}

void Window::free() {
  for (MPI_Win* window : {&board_window_, &data_window_}) {
    if (*window == MPI_WIN_NULL) continue;
    PMPI_Win_unlock_all(*window);
    PMPI_Win_free(window);
  }
}

void Window::put(const std::byte* source, std::int64_t bytes, Rank to, std::int64_t at) const {
  for (std::int64_t done = 0; done < bytes;) {
    const auto part = static_cast<int>(std::min(bytes - done, max_int_count));
    check(PMPI_Put(source + done, part, MPI_BYTE, to, static_cast<MPI_Aint>(at + done), part, MPI_BYTE, data_window_),
          "MPI_Put");
    done += part;
  }
}

std::int32_t Window::staging_blocks(Rank ranks) {
  return patterns::ceil_log2(ranks);
}

// A place is shorter than what an int counts.
void Window::put_staging(const std::byte* source, std::int64_t bytes, Rank to, std::int64_t at) const {
  const auto count = static_cast<int>(bytes);
  const auto word = static_cast<MPI_Aint>(told_words() + at / word_bytes);
  check(PMPI_Put(source, count, MPI_BYTE, to, word, count, MPI_BYTE, board_window_), "MPI_Put");
}

void Window::flush_staging(Rank to) const {
  check(PMPI_Win_flush(to, board_window_), "MPI_Win_flush");
}

std::byte* Window::staging(std::int64_t at) const {
  check(PMPI_Win_sync(board_window_), "MPI_Win_sync");
  return reinterpret_cast<std::byte*>(&own(told_words())) + at;
}

void Window::flush(Rank to) const {
  check(PMPI_Win_flush(to, data_window_), "MPI_Win_flush");
}

void Window::get(std::byte* target, std::int64_t bytes, Rank from, std::int64_t at,
                 std::vector<MPI_Request>& requests) const {
  for (std::int64_t done = 0; done < bytes;) {
    const auto part = static_cast<int>(std::min(bytes - done, max_int_count));
    MPI_Request request = MPI_REQUEST_NULL;
    check(PMPI_Rget(target + done, part, MPI_BYTE, from, static_cast<MPI_Aint>(at + done), part, MPI_BYTE, data_window_,
                    &request),
          "MPI_Rget");
    requests.push_back(request);
    done += part;
  }
}

// Without the last call some MPIs would keep it for the next flush. MPICH waits in it until the target has entered MPI.
void Window::set(std::span<const std::uint64_t> words, Rank to, std::int64_t index) const {
  const auto count = static_cast<int>(words.size());
  check(PMPI_Accumulate(words.data(), count, MPI_UINT64_T, to, static_cast<MPI_Aint>(index), count, MPI_UINT64_T,
                        MPI_REPLACE, board_window_),
        "MPI_Accumulate");
  check(PMPI_Win_flush_local(to, board_window_), "MPI_Win_flush_local");
}

// Nothing of ours is under way on the board: this returns at once, and is what advances MPICH most surely.
void Window::look() const {
  check(PMPI_Win_flush_local_all(board_window_), "MPI_Win_flush_local_all");
}

void Window::notify(Rank to, std::int32_t notice, std::int64_t value) const {
  const auto word = static_cast<std::uint64_t>(value);
  // What this rank has stored in its own memory comes first.
  check(PMPI_Win_sync(data_window_), "MPI_Win_sync");
  set({&word, 1}, to, notice);
}

bool Window::noticed(std::int32_t notice, std::int64_t value) const {
  check(PMPI_Win_sync(board_window_), "MPI_Win_sync");
  if (own(notice).load(std::memory_order_acquire) < static_cast<std::uint64_t>(value)) return false;
  check(PMPI_Win_sync(data_window_), "MPI_Win_sync");
  return true;
}

void Window::deposit(std::span<const std::byte> data, Rank to, std::int64_t word, std::uint32_t stamp) {
  const auto count = static_cast<std::size_t>(words(std::ssize(data)));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bytes = 0;
    const std::size_t at = i * word_data;
    std::memcpy(&bytes, data.data() + at, std::min<std::size_t>(word_data, data.size() - at));
    outgoing_[i] = std::uint64_t{stamp} << 32U | bytes;
  }
  set({outgoing_.data(), count}, to, notices_ + word);
}

bool Window::collect(std::span<std::byte> data, std::int64_t word, std::uint32_t stamp) const {
  check(PMPI_Win_sync(board_window_), "MPI_Win_sync");
  const std::int64_t first = notices_ + word;
  const std::int64_t count = words(std::ssize(data));
  // They come in any order; usually the last one comes last.
  for (std::int64_t i = count - 1; i >= 0; --i) {
    if (own(first + i).load(std::memory_order_acquire) >> 32U != stamp) return false;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<std::uint32_t>(own(first + i).load(std::memory_order_relaxed));
    const auto at = static_cast<std::size_t>(i * word_data);
    std::memcpy(data.data() + at, &bytes, std::min<std::size_t>(word_data, data.size() - at));
    // Stamps are used again one day, and what is long gone must not be taken for new.
    own(first + i).store(0, std::memory_order_relaxed);
  }
  check(PMPI_Win_sync(board_window_), "MPI_Win_sync");
  return true;
}

}  // namespace quadrille::engine
