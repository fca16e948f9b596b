#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/mpi.hpp"
#include "learn/finding.hpp"
#include "learn/lessons.hpp"
#include "profile/profile.hpp"

namespace quadrille::interpose {

// What was learned of one case on one communicator. Plain bytes, to be sent to rank 0.
struct Learned {
  std::array<char, 64> communicator = {};  // its name, or as much of it as there is room for
  Case one;
  learn::CaseLesson::Start start = learn::CaseLesson::Start::price;
  std::size_t candidates = 0;
  std::size_t verdict = 0;
  std::array<Variant, learn::Lesson::most_candidates> variants = {};
  std::array<double, learn::Lesson::most_candidates> seconds = {};  // 0: it was not tried
  bool is_new = false;  // the verdict is by times that were measured in this job
  std::int64_t calls = 0;
  std::int64_t replaced = 0;
  double saved = 0;  // seconds
  std::array<learn::Lesson::Change, learn::Lesson::most_changes> changes = {};
  std::size_t changes_count = 0;
};

// Those that the ranks of a communicator have agreed on at least once.
std::vector<Learned> learned_on(MPI_Comm comm, const learn::Lessons& lessons);

// Those of all ranks, on rank 0 of MPI_COMM_WORLD, or those of the most calls if there are very many. Collective over
// it.
std::vector<Learned> of_all_ranks(std::vector<Learned> mine);

// To be remembered: of communicators that are alike, what was learned from the most calls.
std::vector<learn::Finding> findings_of(std::span<const Learned> all, const std::string& mpi);

// For the report.
std::vector<profile::Learned> cases_of(std::span<const Learned> all);

}  // namespace quadrille::interpose
