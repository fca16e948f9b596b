#include "redistribute/space.hpp"

#include <algorithm>

namespace quadrille::redistribute {

namespace {

// Where elements have no gaps, their layout is of no interest, nor is where a lower bound was set.
Elements elements_at(std::byte* data, const Layout& element) {
  const std::int64_t begin = element.true_lower_bound();
  if (element.resized(begin, element.extent()).is_contiguous()) return {byte_at(data, begin)};
  return {data, &element};
}

}  // namespace

Space::Space(const Blocks& receive, std::byte* data, std::span<std::byte> extra, const Layout& element)
    : data_(elements_at(data, element)), extra_{extra.data()}, bytes_(element.size()) {
  const auto blocks =
      receive.counts.size() - static_cast<std::size_t>(std::count(receive.counts.begin(), receive.counts.end(), 0));
  areas_.reserve(blocks + 1);
  for (std::size_t i = 0; i < receive.counts.size(); ++i) {
    if (receive.counts[i] > 0) areas_.push_back({0, receive.displacements[i], receive.counts[i]});
  }
  std::sort(areas_.begin(), areas_.end(), [](const Area& a, const Area& b) { return a.address < b.address; });
  std::size_t kept = 0;
  std::int64_t place = 0;
  for (const Area& next : areas_) {
    if (kept > 0 && areas_[kept - 1].address + areas_[kept - 1].length == next.address) {
      areas_[kept - 1].length += next.length;
    } else {
      areas_[kept++] = {place, next.address, next.length};
    }
    place += next.length;
  }
  areas_.resize(kept);
  areas_.push_back({place, 0, static_cast<std::int64_t>(extra.size()) / bytes_});
}

std::int64_t Space::below(std::int64_t address) const {
  const auto after = std::partition_point(areas_.begin(), areas_.end() - 1,
                                          [address](const Area& area) { return area.address <= address; });
  if (after == areas_.begin()) return 0;
  const Area& before = *(after - 1);
  return before.place + std::min(address - before.address, before.length);
}

std::int64_t Space::alike(std::int64_t address, std::int64_t end, bool& places) const {
  const auto blocks_end = areas_.end() - 1;
  const auto found = std::partition_point(
      areas_.begin(), blocks_end, [address](const Area& area) { return area.address + area.length <= address; });
  places = found != blocks_end && found->address <= address;
  if (places) return std::min(end, found->address + found->length) - address;
  return found == blocks_end ? end - address : std::min(end, found->address) - address;
}

const Space::Area& Space::area(std::int64_t place) const {
  const auto after =
      std::partition_point(areas_.begin(), areas_.end(), [place](const Area& area) { return area.place <= place; });
  return *(after - 1);
}

Run Space::run(std::int64_t place) const {
  const Area& of = area(place);
  const Elements& first = &of == &areas_.back() ? extra_ : data_;
  return {place, first.behind(of.address + place - of.place, bytes_), of.place + of.length - place};
}

Piece Space::piece(std::int64_t place, std::int64_t length) const {
  const Area& of = area(place);
  const bool extra = &of == &areas_.back();
  return {.buffer = extra ? Buffer::scratch : Buffer::output,
          .offset = (of.address + place - of.place) * bytes_,
          .length = length * bytes_};
}

void Space::copy(std::int64_t from, std::int64_t to, std::int64_t length) const {
  while (length > 0) {
    const Run source = run(from);
    const Run target = run(to);
    const std::int64_t part = std::min({length, source.length, target.length});
    move(target.elements, source.elements, part, bytes_);
    from += part;
    to += part;
    length -= part;
  }
}

void Space::copy_in(std::int64_t address, std::int64_t to, std::int64_t length) const {
  while (length > 0) {
    const Run target = run(to);
    const std::int64_t part = std::min(length, target.length);
    move(target.elements, data_.behind(address, bytes_), part, bytes_);
    address += part;
    to += part;
    length -= part;
  }
}

}  // namespace quadrille::redistribute
