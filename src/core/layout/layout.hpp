#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace quadrille {

struct StridedRuns;

namespace layout_detail {

struct Node;

// Maximum number of runs per call.
inline constexpr std::size_t batch_size = 32;

// A type-erased visitor: the walk is compiled once for all.
using BatchVisitor = bool (*)(void* visit, std::span<const StridedRuns> batch);

// Bytes [lower, upper). A type without elements has no bounds and does not affect those of an enclosing type.
struct Bounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  bool exist = false;
};

}  // namespace layout_detail

// `count` runs of `length` contiguous bytes each; run i starts at offset + i * stride. `length` and `count` are
// positive.
struct StridedRuns {
  std::int64_t offset;
  std::int64_t length;
  std::int64_t stride;
  std::int64_t count;
};

// An MPI datatype as nested loops, never flattened: a million strided blocks take constant memory, indexed blocks and
// structures take memory in proportion to their arrays, after merging adjacent blocks.
//
// An immutable value, cheap to copy and safe to share between threads. Invalid arguments throw std::invalid_argument.
// Lengths, strides and displacements are bytes; counts and block lengths are elements. "Packed" bytes are those that
// MPI_Pack writes on a homogeneous machine: the basic elements in type map order without gaps.
//
// Bounds follow the type map: lb is the least displacement + lb of any block, ub the greatest displacement + ub. Blocks
// without elements and basic elements of zero bytes take no part. Two things vary among MPI libraries: padding of
// structures for alignment, and whether a resized field overrides wider siblings. Neither is done here; to mirror an
// MPI datatype, apply resized() with the result of MPI_Type_get_extent.
class Layout {
 public:
  struct Field;

  static Layout basic(std::int64_t bytes);
  static Layout contiguous(std::int64_t count, const Layout& element);
  // As MPI_Type_create_hvector.
  static Layout strided(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                        const Layout& element);
  // As MPI_Type_create_hindexed.
  static Layout indexed(std::span<const std::int64_t> block_lengths, std::span<const std::int64_t> displacements_bytes,
                        const Layout& element);
  // As MPI_Type_create_struct.
  static Layout structure(std::span<const Field> fields);
  // As MPI_Type_create_resized.
  Layout resized(std::int64_t lower_bound, std::int64_t extent) const;

  // Packed bytes of one element.
  std::int64_t size() const { return size_; }
  std::int64_t extent() const { return bounds_.upper - bounds_.lower; }
  std::int64_t lower_bound() const { return bounds_.lower; }
  // The true bounds are those of the data, regardless of resized().
  std::int64_t true_lower_bound() const;
  std::int64_t true_extent() const;
  // Whether n elements at `base` are exactly the bytes [base + lb, base + lb + n * size), in packed order.
  bool is_contiguous() const { return contiguous_; }
  // Bytes of each basic element if they are equal, else 0.
  std::int64_t basic_size() const;
  // Bytes [first, last), relative to the base address, that `count` elements touch: what a buffer for them must cover.
  std::pair<std::int64_t, std::int64_t> span(std::int64_t count) const;

  // Calls visit(offset, length) for contiguous pieces, in packed order, that together are the packed bytes [begin, end)
  // of `count` elements, element i at i * extent(). The range may begin and end inside a basic element. Finding `begin`
  // takes O(depth * log(blocks)) time; nothing is allocated.
  template <class Visit>
  void for_each_run(std::int64_t count, std::int64_t begin, std::int64_t end, Visit&& visit) const;

  // The same in batches, without expanding loops over equal runs: `bool visit(std::span<const StridedRuns>)`; false
  // stops the walk.
  template <class Visit>
  void for_each_batch(std::int64_t count, std::int64_t begin, std::int64_t end, Visit&& visit) const;

 private:
  Layout(std::shared_ptr<const layout_detail::Node> node, layout_detail::Bounds bounds);

  void walk(std::int64_t count, std::int64_t begin, std::int64_t end, layout_detail::BatchVisitor visitor,
            void* visit) const;

  // Bounds belong to the handle, not to the node, so that resizing shares the node.
  std::shared_ptr<const layout_detail::Node> node_;
  layout_detail::Bounds bounds_;
  // Cached, since every run needs them.
  std::int64_t size_ = 0;
  bool contiguous_ = false;
};

// `count` consecutive elements of `layout` at `displacement` bytes.
struct Layout::Field {
  std::int64_t displacement;
  std::int64_t count;
  Layout layout;
};

// The byte at base + offset. Computed as integers: with MPI_BOTTOM the base is null and the offset an address.
inline std::byte* byte_at(const void* base, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset));
}

// `count` elements at `address`, which may be null (MPI_BOTTOM) if the displacements are addresses. Borrows the layout.
struct ConstTyped {
  const void* address;
  std::int64_t count;
  const Layout* layout;
};

struct Typed {
  void* address;
  std::int64_t count;
  const Layout* layout;

  operator ConstTyped() const { return {address, count, layout}; }
};

// `packed` holds only the bytes [begin, end). Source and target must not overlap; nothing is copied if an argument is
// invalid.
void pack(const Layout& layout, const void* base, std::int64_t count, std::int64_t begin, std::int64_t end,
          void* packed);
void unpack(const Layout& layout, void* base, std::int64_t count, std::int64_t begin, std::int64_t end,
            const void* packed);

// Copies packed bytes [source_begin, source_begin + length) to [target_begin, target_begin + length) without an
// intermediate buffer. The same conditions hold, but elements that are not contiguous may move down over others of the
// same layout, if each lies within its own extent: they are copied one after another.
void transfer(const ConstTyped& source, std::int64_t source_begin, const Typed& target, std::int64_t target_begin,
              std::int64_t length);

template <class Visit>
void Layout::for_each_batch(std::int64_t count, std::int64_t begin, std::int64_t end, Visit&& visit) const {
  using Target = std::remove_reference_t<Visit>;
  const auto call = [](void* target, std::span<const StridedRuns> batch) -> bool {
    return (*static_cast<Target*>(target))(batch);
  };
  walk(count, begin, end, call, const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

template <class Visit>
void Layout::for_each_run(std::int64_t count, std::int64_t begin, std::int64_t end, Visit&& visit) const {
  for_each_batch(count, begin, end, [&visit](std::span<const StridedRuns> batch) {
    for (const StridedRuns& runs : batch) {
      for (std::int64_t i = 0; i < runs.count; ++i) visit(runs.offset + i * runs.stride, runs.length);
    }
    return true;
  });
}

}  // namespace quadrille
