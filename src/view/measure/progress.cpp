#include "measure/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "text/quantities.hpp"

namespace quadrille::measure {

void Progress::end_cell(double now) {
  ++done_;
  cell_began_ = now;
}

double Progress::limit(std::size_t from, std::size_t to) const {
  const auto at = [this](std::size_t cell) { return points_.begin() + static_cast<std::ptrdiff_t>(cell); };
  return goal_.seconds * std::accumulate(at(from), at(to), 0);
}

double Progress::left(double now) const {
  if (done_ == cells()) return 0;
  const double one = most() / static_cast<double>(cells());
  const double share = (cell_began_ - began_ + one) / (limit(0, done_) + one);
  const double current = share * limit(done_, done_ + 1) - (now - cell_began_);
  return std::max(current, 0.0) + share * limit(done_ + 1, cells());
}

std::string Progress::announcement() const {
  const int points = std::accumulate(points_.begin(), points_.end(), 0);
  return fmt::format(
      "{} cell{}, {} points: at most {} and the first calls, longer only where {} repeats of a point take more than {}",
      cells(), cells() == 1 ? "" : "s", points, text::duration(most()), goal_.least,
      text::short_seconds(goal_.seconds));
}

}  // namespace quadrille::measure
