#include "layout/layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace quadrille {

namespace layout_detail {

using NodePtr = std::shared_ptr<const Node>;

// One contiguous run.
struct Dense {
  std::int64_t offset;
};

struct Loop {
  std::int64_t offset;
  std::int64_t count;
  std::int64_t stride;
  NodePtr body;
};

// Block i repeats `body` every `stride` bytes from displacements[i]. Prefix sums are in elements, so that a walk
// computes a block's length without a division.
struct Indexed {
  std::int64_t stride;
  NodePtr body;
  std::vector<std::int64_t> displacements;
  std::vector<std::int64_t> ends;
};

struct Structure {
  std::vector<NodePtr> parts;
  std::vector<std::int64_t> ends;
};

// The empty node is Dense of size 0. All others have bytes in every part: empty parts are dropped at construction.
struct Node {
  std::int64_t size;
  std::int64_t basic_size;
  Bounds data;
  std::variant<Dense, Loop, Indexed, Structure> shape;
};

}  // namespace layout_detail

namespace {

using namespace layout_detail;

Bounds repeat(const Bounds& bounds, std::int64_t offset, std::int64_t count, std::int64_t stride) {
  if (!bounds.exist || count == 0) return {};
  const std::int64_t last = (count - 1) * stride;
  return {bounds.lower + offset + std::min<std::int64_t>(0, last),
          bounds.upper + offset + std::max<std::int64_t>(0, last), true};
}

Bounds unite(const Bounds& a, const Bounds& b) {
  if (!a.exist) return b;
  if (!b.exist) return a;
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper), true};
}

void require_not_negative(const char* what, std::int64_t value) {
  if (value < 0) throw std::invalid_argument(std::string("layout: negative ") + what + ": " + std::to_string(value));
}

NodePtr make_dense(std::int64_t offset, std::int64_t size, std::int64_t basic_size) {
  return std::make_shared<const Node>(Node{size, basic_size, {offset, offset + size, true}, Dense{offset}});
}

NodePtr make_empty() {
  return std::make_shared<const Node>(Node{0, 0, {}, Dense{0}});
}

// Used by all constructors: the only place where loops are simplified.
NodePtr make_loop(std::int64_t offset, std::int64_t count, std::int64_t stride, const NodePtr& body) {
  if (count == 0 || body->size == 0) return make_empty();
  if (count == 1 && offset == 0) return body;
  if (const auto* dense = std::get_if<Dense>(&body->shape); dense && (count == 1 || stride == body->size)) {
    return make_dense(offset + dense->offset, count * body->size, body->basic_size);
  }
  Loop loop{offset, count, stride, body};
  if (const auto* inner = std::get_if<Loop>(&body->shape)) {
    if (count == 1) {
      loop = {offset + inner->offset, inner->count, inner->stride, inner->body};
    } else if (inner->count == 1) {
      loop = {offset + inner->offset, count, stride, inner->body};
    } else if (stride == inner->count * inner->stride) {
      loop = {offset + inner->offset, count * inner->count, inner->stride, inner->body};
    }
  }
  return std::make_shared<const Node>(
      Node{count * body->size, body->basic_size, repeat(body->data, offset, count, stride), std::move(loop)});
}

bool abut(const Node& a, const Node& b) {
  return std::holds_alternative<Dense>(a.shape) && std::holds_alternative<Dense>(b.shape) &&
         a.data.upper == b.data.lower;
}

// Packed bytes, never empty.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};

// Visits a range of the data at `base`. Each function returns whether to continue. Runs are passed in batches, because
// calling the visitor costs more than copying one basic element.
class Walk {
 public:
  Walk(BatchVisitor visitor, void* visit) : visitor_(visitor), visit_(visit) {}

  void visit(std::int64_t count, std::int64_t stride, const Node& body, Range range) {
    if (repeated(count, stride, body, 0, range) && filled_ > 0) flush();
  }

 private:
  bool repeated(std::int64_t count, std::int64_t stride, const Node& body, std::int64_t base, Range range) {
    const auto* dense = std::get_if<Dense>(&body.shape);
    if (!dense) return nodes(count, stride, body, base, range);
    const std::int64_t offset = base + dense->offset;
    if (count == 1 || stride == body.size) return run(offset + range.begin, range.end - range.begin);
    return runs(count, stride, body.size, offset, range);
  }

  struct Position {
    std::int64_t index;
    std::int64_t byte;
  };

  // The index of the part of `size` bytes that holds a byte, and the offset in it. Most loops are visited from their
  // start, which needs no division.
  static Position locate(std::int64_t byte, std::int64_t count, std::int64_t size) {
    if (byte == 0) return {0, 0};
    if (byte == count * size) return {count, 0};
    return {byte / size, byte % size};
  }

  // Calls visit(part, its length, range within it) for the parts that share bytes with `range`. Lengths and ends are
  // multiples of `unit` bytes.
  template <class Visit>
  static bool each_part(const std::vector<std::int64_t>& ends, std::int64_t unit, Range range, Visit&& visit) {
    const auto before = [unit](std::int64_t byte, std::int64_t end) { return byte < end * unit; };
    const auto found =
        range.begin == 0 ? ends.begin() : std::upper_bound(ends.begin(), ends.end(), range.begin, before);
    auto part = static_cast<std::size_t>(found - ends.begin());
    std::int64_t start = part == 0 ? 0 : ends[part - 1];
    for (std::int64_t begin = range.begin; begin < range.end; ++part) {
      const std::int64_t end = std::min(range.end, ends[part] * unit);
      if (!visit(part, ends[part] - start, Range{begin - start * unit, end - start * unit})) return false;
      start = ends[part];
      begin = end;
    }
    return true;
  }

  bool flush() { return visitor_(visit_, std::span(batch_).first(std::exchange(filled_, 0))); }

  bool add(const StridedRuns& runs) {
    batch_[filled_++] = runs;
    return filled_ < batch_.size() || flush();
  }

  bool run(std::int64_t offset, std::int64_t length) { return add({offset, length, length, 1}); }

  bool nodes(std::int64_t count, std::int64_t stride, const Node& body, std::int64_t base, Range range) {
    auto [i, begin] = locate(range.begin, count, body.size);
    for (std::int64_t left = range.end - range.begin; left > 0; ++i) {
      const std::int64_t end = std::min(body.size, begin + left);
      if (!node(body, base + i * stride, {begin, end})) return false;
      left -= end - begin;
      begin = 0;
    }
    return true;
  }

  // A partial first run, whole runs, a partial last one.
  bool runs(std::int64_t count, std::int64_t stride, std::int64_t length, std::int64_t base, Range range) {
    auto [first, skipped] = locate(range.begin, count, length);
    const auto [last, rest] = locate(range.end, count, length);
    if (first == last) return run(base + first * stride + skipped, rest - skipped);
    if (skipped > 0) {
      if (!run(base + first * stride + skipped, length - skipped)) return false;
      ++first;
    }
    if (first < last && !add({base + first * stride, length, stride, last - first})) return false;
    return rest == 0 || run(base + last * stride, rest);
  }

  bool node(const Node& node, std::int64_t base, Range range) {
    return std::visit([&](const auto& shape) { return walk(shape, base, range); }, node.shape);
  }

  bool walk(const Dense& dense, std::int64_t base, Range range) {
    return run(base + dense.offset + range.begin, range.end - range.begin);
  }

  bool walk(const Loop& loop, std::int64_t base, Range range) {
    return repeated(loop.count, loop.stride, *loop.body, base + loop.offset, range);
  }

  bool walk(const Indexed& indexed, std::int64_t base, Range range) {
    const Node& body = *indexed.body;
    return each_part(indexed.ends, body.size, range, [&](std::size_t i, std::int64_t count, Range part) {
      return repeated(count, indexed.stride, body, base + indexed.displacements[i], part);
    });
  }

  bool walk(const Structure& structure, std::int64_t base, Range range) {
    return each_part(structure.ends, 1, range,
                     [&](std::size_t i, std::int64_t, Range part) { return node(*structure.parts[i], base, part); });
  }

  BatchVisitor visitor_;
  void* visit_;
  std::size_t filled_ = 0;
  std::array<StridedRuns, batch_size> batch_;
};

}  // namespace

Layout Layout::basic(std::int64_t bytes) {
  require_not_negative("size of a basic element", bytes);
  const auto made = [](std::int64_t size) { return size == 0 ? make_empty() : make_dense(0, size, size); };
  // MPI's basic types are needed in every call: they are cached.
  constexpr std::int64_t most_kept = 64;
  static const auto& kept = *[&made] {
    auto nodes = std::make_unique<std::vector<NodePtr>>();
    for (std::int64_t size = 0; size <= most_kept; ++size) nodes->push_back(made(size));
    return nodes.release();  // never destroyed: programs may call MPI after main
  }();
  const NodePtr node = bytes <= most_kept ? kept[static_cast<std::size_t>(bytes)] : made(bytes);
  return Layout(node, node->data);
}

Layout Layout::contiguous(std::int64_t count, const Layout& element) {
  require_not_negative("count", count);
  return Layout(make_loop(0, count, element.extent(), element.node_),
                repeat(element.bounds_, 0, count, element.extent()));
}

Layout Layout::strided(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                       const Layout& element) {
  require_not_negative("count", count);
  require_not_negative("block length", block_length);
  const Layout block = contiguous(block_length, element);
  return Layout(make_loop(0, count, stride_bytes, block.node_), repeat(block.bounds_, 0, count, stride_bytes));
}

Layout Layout::indexed(std::span<const std::int64_t> block_lengths, std::span<const std::int64_t> displacements_bytes,
                       const Layout& element) {
  if (block_lengths.size() != displacements_bytes.size()) {
    throw std::invalid_argument("layout: " + std::to_string(block_lengths.size()) + " block lengths but " +
                                std::to_string(displacements_bytes.size()) + " displacements");
  }
  const Node& body = *element.node_;
  Indexed blocks{element.extent(), element.node_, {}, {}};
  Bounds bounds;
  Bounds data;
  std::int64_t total = 0;
  std::int64_t continuation = 0;
  for (std::size_t i = 0; i < block_lengths.size(); ++i) {
    const std::int64_t length = block_lengths[i];
    const std::int64_t displacement = displacements_bytes[i];
    require_not_negative("block length", length);
    bounds = unite(bounds, repeat(element.bounds_, displacement, length, blocks.stride));
    if (length == 0 || body.size == 0) continue;
    data = unite(data, repeat(body.data, displacement, length, blocks.stride));
    if (total == 0 || displacement != continuation) {
      blocks.displacements.push_back(displacement);
      blocks.ends.push_back(total);
    }
    total += length;
    blocks.ends.back() = total;
    continuation = displacement + length * blocks.stride;
  }
  if (total == 0) return Layout(make_empty(), bounds);
  if (blocks.ends.size() == 1) {
    return Layout(make_loop(blocks.displacements[0], total, blocks.stride, element.node_), bounds);
  }
  blocks.displacements.shrink_to_fit();
  blocks.ends.shrink_to_fit();
  return Layout(std::make_shared<const Node>(Node{total * body.size, body.basic_size, data, std::move(blocks)}),
                bounds);
}

Layout Layout::structure(std::span<const Field> fields) {
  Structure structure;
  Bounds bounds;
  Bounds data;
  std::int64_t total = 0;
  std::int64_t basic_size = 0;
  for (const auto& [displacement, count, layout] : fields) {
    require_not_negative("count of a field", count);
    bounds = unite(bounds, repeat(layout.bounds_, displacement, count, layout.extent()));
    NodePtr part = make_loop(displacement, count, layout.extent(), layout.node_);
    if (part->size == 0) continue;
    basic_size = total == 0 || part->basic_size == basic_size ? part->basic_size : 0;
    data = unite(data, part->data);
    total += part->size;
    if (!structure.parts.empty() && abut(*structure.parts.back(), *part)) {
      const Node& before = *structure.parts.back();
      structure.parts.back() = make_dense(before.data.lower, before.size + part->size, basic_size);
      structure.ends.back() = total;
    } else {
      structure.parts.push_back(std::move(part));
      structure.ends.push_back(total);
    }
  }
  if (structure.parts.empty()) return Layout(make_empty(), bounds);
  if (structure.parts.size() == 1) return Layout(structure.parts[0], bounds);
  return Layout(std::make_shared<const Node>(Node{total, basic_size, data, std::move(structure)}), bounds);
}

Layout Layout::resized(std::int64_t lower_bound, std::int64_t extent) const {
  return Layout(node_, Bounds{lower_bound, lower_bound + extent, true});
}

Layout::Layout(std::shared_ptr<const layout_detail::Node> node, layout_detail::Bounds bounds)
    : node_(std::move(node)), bounds_(bounds), size_(node_->size) {
  const bool dense = std::holds_alternative<Dense>(node_->shape);
  contiguous_ = size_ == 0 || (dense && extent() == size_ && lower_bound() == true_lower_bound());
}

std::int64_t Layout::true_lower_bound() const {
  return node_->data.lower;
}

std::int64_t Layout::true_extent() const {
  return node_->data.upper - node_->data.lower;
}

std::int64_t Layout::basic_size() const {
  return node_->basic_size;
}

std::pair<std::int64_t, std::int64_t> Layout::span(std::int64_t count) const {
  require_not_negative("count", count);
  const Bounds touched = repeat(node_->data, 0, count, extent());
  return {touched.lower, touched.upper};
}

void Layout::walk(std::int64_t count, std::int64_t begin, std::int64_t end, BatchVisitor visitor, void* visit) const {
  require_not_negative("count", count);
  if (begin < 0 || begin > end || end > count * size()) {
    throw std::invalid_argument("layout: [" + std::to_string(begin) + ", " + std::to_string(end) +
                                ") is no range of the " + std::to_string(count) + " * " + std::to_string(size()) +
                                " packed bytes");
  }
  if (begin < end) Walk(visitor, visit).visit(count, extent(), *node_, {begin, end});
}

}  // namespace quadrille
