#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "layout/layout.hpp"

namespace quadrille {

namespace {

template <std::size_t length>
void copy_fixed(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, length);
}

// Not inlined, because calling memcpy needs registers that the short copies would have to save as well.
[[gnu::noinline]] void copy_any(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                                std::int64_t length, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<std::size_t>(length));
  }
}

// A call of memcpy costs more than copying one basic element, so common lengths are compiled in.
void copy_runs(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
               std::int64_t length, std::int64_t count) {
  switch (length) {
    case 1:
      return copy_fixed<1>(to, to_stride, from, from_stride, count);
    case 2:
      return copy_fixed<2>(to, to_stride, from, from_stride, count);
    case 4:
      return copy_fixed<4>(to, to_stride, from, from_stride, count);
    case 8:
      return copy_fixed<8>(to, to_stride, from, from_stride, count);
    case 16:
      return copy_fixed<16>(to, to_stride, from, from_stride, count);
    default:
      return copy_any(to, to_stride, from, from_stride, length, count);
  }
}

// Iterates over the runs of a packed range. A walk can't be suspended, so it stops after a batch and restarts there:
// one search per batch, and no stack to allocate.
class Cursor {
 public:
  Cursor(const ConstTyped& data, std::int64_t begin, std::int64_t end) : data_(data), next_(begin), end_(end) {
    refill();
  }

  std::int64_t left_in_run() const { return batch_[current_].length - consumed_; }

  // The rest of the current runs in pieces of `length` <= left_in_run() bytes: whole runs, or parts of one.
  StridedRuns pieces(std::int64_t length) const {
    const StridedRuns& runs = batch_[current_];
    if (length == runs.length) return runs;
    return {runs.offset + consumed_, length, length, left_in_run() / length};
  }

  // Moves past the first `count` of pieces(length).
  void advance(std::int64_t length, std::int64_t count) {
    StridedRuns& runs = batch_[current_];
    if (length == runs.length) return drop_runs(count);
    consumed_ += length * count;
    if (consumed_ < runs.length) return;
    consumed_ = 0;
    drop_runs(1);
  }

 private:
  void drop_runs(std::int64_t count) {
    StridedRuns& runs = batch_[current_];
    runs.offset += count * runs.stride;
    runs.count -= count;
    if (runs.count == 0 && ++current_ == filled_) refill();
  }

  void refill() {
    current_ = filled_ = 0;
    data_.layout->for_each_batch(data_.count, next_, end_, [this](std::span<const StridedRuns> batch) {
      for (const StridedRuns& runs : batch) {
        batch_[filled_++] = runs;
        next_ += runs.length * runs.count;
      }
      return false;
    });
  }

  ConstTyped data_;
  std::int64_t next_;
  std::int64_t end_;
  std::int64_t consumed_ = 0;
  std::size_t current_ = 0;
  std::size_t filled_ = 0;
  std::array<StridedRuns, layout_detail::batch_size> batch_;
};

}  // namespace

void pack(const Layout& layout, const void* base, std::int64_t count, std::int64_t begin, std::int64_t end,
          void* packed) {
  auto* to = static_cast<std::byte*>(packed);
  layout.for_each_batch(count, begin, end, [&](std::span<const StridedRuns> batch) {
    for (const auto& [offset, length, stride, runs] : batch) {
      copy_runs(to, length, byte_at(base, offset), stride, length, runs);
      to += length * runs;
    }
    return true;
  });
}

void unpack(const Layout& layout, void* base, std::int64_t count, std::int64_t begin, std::int64_t end,
            const void* packed) {
  const auto* from = static_cast<const std::byte*>(packed);
  layout.for_each_batch(count, begin, end, [&](std::span<const StridedRuns> batch) {
    for (const auto& [offset, length, stride, runs] : batch) {
      copy_runs(byte_at(base, offset), stride, from, length, length, runs);
      from += length * runs;
    }
    return true;
  });
}

void transfer(const ConstTyped& source, std::int64_t source_begin, const Typed& target, std::int64_t target_begin,
              std::int64_t length) {
  Cursor from(source, source_begin, source_begin + length);
  Cursor to(target, target_begin, target_begin + length);
  for (std::int64_t left = length; left > 0;) {
    const std::int64_t piece = std::min(from.left_in_run(), to.left_in_run());
    const StridedRuns read = from.pieces(piece);
    const StridedRuns written = to.pieces(piece);
    const std::int64_t count = std::min(read.count, written.count);
    copy_runs(byte_at(target.address, written.offset), written.stride, byte_at(source.address, read.offset),
              read.stride, piece, count);
    from.advance(piece, count);
    to.advance(piece, count);
    left -= piece * count;
  }
}

}  // namespace quadrille
