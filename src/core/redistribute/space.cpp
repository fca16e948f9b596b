#include "redistribute/space.hpp"

#include <algorithm>
#include <cstring>

namespace quadrille::redistribute {

Space::Space(const Blocks& receive, std::byte* data, std::span<std::byte> extra, std::int64_t element_bytes)
    : data_(data), extra_(extra.data()), bytes_(element_bytes) {
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

std::byte* Space::memory(const Area& area, std::int64_t place) const {
  const bool extra = &area == &areas_.back();
  return (extra ? extra_ : data_) + (area.address + place - area.place) * bytes_;
}

Run Space::run(std::int64_t place) const {
  const Area& of = area(place);
  return {place, memory(of, place), of.place + of.length - place};
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
    std::memcpy(target.memory, source.memory, static_cast<std::size_t>(part * bytes_));
    from += part;
    to += part;
    length -= part;
  }
}

void Space::copy_in(std::int64_t address, std::int64_t to, std::int64_t length) const {
  while (length > 0) {
    const Run target = run(to);
    const std::int64_t part = std::min(length, target.length);
    std::memcpy(target.memory, data_ + address * bytes_, static_cast<std::size_t>(part * bytes_));
    address += part;
    to += part;
    length -= part;
  }
}

}  // namespace quadrille::redistribute
