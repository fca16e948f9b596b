#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/cell.hpp"

namespace quadrille::measure {

// How far a run is and how long it takes, from the numbers of points of its cells (a collective with a size) and the
// time limit of a point.
class Progress {
 public:
  Progress(std::vector<int> points, Goal goal) : points_(std::move(points)), goal_(goal) {}

  std::size_t cells() const { return points_.size(); }
  std::size_t done() const { return done_; }

  // The first cell starts, or a cell is done.
  void begin(double now) { began_ = cell_began_ = now; }
  void end_cell(double now);

  // Seconds that the time limit allows.
  double most() const { return limit(0, cells()); }
  // Seconds left, by estimate: what is left takes the same share of its limit as the cells done, and one more that took
  // all of it.
  double left(double now) const;

  // "12 cells, 84 points: at most 1 min 24 s, ..."
  std::string announcement() const;

 private:
  double limit(std::size_t from, std::size_t to) const;

  std::vector<int> points_;
  Goal goal_;
  std::size_t done_ = 0;
  double began_ = 0;
  double cell_began_ = 0;
};

}  // namespace quadrille::measure
