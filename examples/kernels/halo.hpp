// A box of points in three dimensions, with a layer around it that comes from neighbours.
#pragma once

#include <utility>

#include "kernel.hpp"

class Box {
 public:
  Box(const std::array<int, 3>& extent, int fields)
      : extent_(extent),
        fields_(fields),
        values_(static_cast<std::size_t>(extent[0] + 2) * (extent[1] + 2) * (extent[2] + 2) * fields) {}

  const std::array<int, 3>& extent() const { return extent_; }
  double* at(int i, int j, int k) {
    return &values_[((static_cast<std::size_t>(i + 1) * (extent_[1] + 2) + j + 1) * (extent_[2] + 2) + k + 1) *
                    fields_];
  }
  std::vector<double>& values() { return values_; }

  // One direction after the other, with the layers that came before: so corners come along.
  void exchange(const Grid<3>& grid) {
    for (int d = 0; d < 3; ++d) {
      swap_faces(grid, d, extent_[d] - 1, grid.above[d], -1, grid.below[d]);
      swap_faces(grid, d, 0, grid.below[d], extent_[d], grid.above[d]);
    }
  }

 private:
  void swap_faces(const Grid<3>& grid, int d, int sent, int target, int received, int source) {
    out_.clear();
    for_face(d, sent, [&](double& value) { out_.push_back(value); });
    in_.resize(out_.size());
    const int count = static_cast<int>(out_.size());
    MPI_Sendrecv(out_.data(), count, MPI_DOUBLE, target, d, in_.data(), count, MPI_DOUBLE, source, d, grid.comm,
                 MPI_STATUS_IGNORE);
    std::size_t next = 0;
    for_face(d, received, [&](double& value) { value = in_[next++]; });
  }

  template <class Action>
  void for_face(int d, int at_d, Action&& action) {
    std::array<int, 3> low = {0, 0, 0};
    std::array<int, 3> high = extent_;
    for (int before = 0; before < d; ++before) {
      low[before] = -1;
      high[before] = extent_[before] + 1;
    }
    low[d] = at_d;
    high[d] = at_d + 1;
    for (int i = low[0]; i < high[0]; ++i) {
      for (int j = low[1]; j < high[1]; ++j) {
        for (int k = low[2]; k < high[2]; ++k) {
          double* const point = at(i, j, k);
          for (int f = 0; f < fields_; ++f) action(point[f]);
        }
      }
    }
  }

  std::array<int, 3> extent_;
  int fields_;
  std::vector<double> values_;
  std::vector<double> out_;
  std::vector<double> in_;
};
