#include "trace/ranks.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace quadrille::trace {

namespace {

// Cuts a number off the front.
Rank take_number(std::string_view& text) {
  Rank value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) throw std::invalid_argument(fmt::format("expected ranks as in 0-7,12, not '{}'", text));
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(1);
  return true;
}

constexpr std::string_view nobody = "none";
constexpr Rank most = 1 << 28;  // more are not believed

}  // namespace

Ranks::Ranks(std::span<const Rank> list) {
  for (const Rank rank : list) add(rank);
}

// A run of two with a gap between them would be a guess about what follows: it is ended if the third doesn't fit.
void Ranks::add(Rank rank) {
  if (runs_.empty()) {
    runs_.push_back({rank});
    return;
  }
  Run& last = runs_.back();
  if (last.count == 1 && rank > last.first) {
    last.count = 2;
    last.stride = rank - last.first;
  } else if (last.count > 1 && rank == last.first + last.count * last.stride) {
    ++last.count;
  } else if (last.count == 2 && last.stride > 1) {
    const Rank second = last.first + last.stride;
    last = {last.first};
    runs_.push_back({second});
    add(rank);
  } else {
    runs_.push_back({rank});
  }
}

Rank Ranks::size() const {
  Rank sum = 0;
  for (const Run& run : runs_) sum += run.count;
  return sum;
}

std::vector<Rank> Ranks::list() const {
  std::vector<Rank> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (const Run& run : runs_) {
    for (Rank i = 0; i < run.count; ++i) all.push_back(run.first + i * run.stride);
  }
  return all;
}

std::string Ranks::text() const {
  if (empty()) return std::string(nobody);
  std::string out;
  for (const Run& run : runs_) {
    if (!out.empty()) out += ',';
    out += std::to_string(run.first);
    const Rank last = run.first + (run.count - 1) * run.stride;
    const bool is_pair = run.count == 2 && run.stride > 1;
    if (run.count > 1) out += fmt::format("{}{}", is_pair ? ',' : '-', last);
    if (run.count > 2 && run.stride > 1) out += fmt::format(":{}", run.stride);
  }
  return out;
}

Ranks Ranks::parse(std::string_view text) {
  Ranks result;
  if (text == nobody) return result;
  do {
    const Rank first = take_number(text);
    Rank last = first;
    Rank stride = 1;
    if (take(text, '-')) {
      last = take_number(text);
      if (take(text, ':')) stride = take_number(text);
      if (stride < 1 || last <= first || (last - first) % stride != 0 || last >= most) {
        throw std::invalid_argument(fmt::format("{}-{}:{} is no range of ranks", first, last, stride));
      }
    }
    if (first < 0 || first >= most) throw std::invalid_argument(fmt::format("{} is no rank", first));
    for (Rank rank = first; rank <= last; rank += stride) result.add(rank);
  } while (take(text, ','));
  if (!text.empty()) throw std::invalid_argument(fmt::format("expected ranks as in 0-7,12, not '{}'", text));
  return result;
}

}  // namespace quadrille::trace
