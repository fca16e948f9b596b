#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "learn/lesson.hpp"
#include "select/guide.hpp"
#include "select/selector.hpp"

namespace quadrille::learn {

// A lesson, what it is about, and who its candidates are.
struct CaseLesson {
  // What the first calls are run by: the price says so, or an earlier job has found it.
  enum class Start : std::uint8_t { price, remembered };

  Case one;                                                    // stands for all that the lesson is about
  std::array<Variant, Lesson::most_candidates> variants = {};  // of the candidates; none: the MPI's own function
  Start start = Start::price;
  Lesson lesson;

  // The variant that runs the next call.
  const Variant& next() const { return variants[lesson.next()]; }
  // Whether what runs most calls was found by measuring, not by price.
  bool measured() const { return lesson.agreements() > 0 || start == Start::remembered; }
};

// Whether what is found of a case holds for others of its size: no limit on memory, not in place, and an operation that
// MPI predefines.
bool is_usual(const Case& asked);

// What is learned about the calls of one communicator. Only what is the same on every rank is looked at. Not
// thread-safe.
class Lessons {
 public:
  // `remembered` are rules that earlier jobs have found; a rule without a variant says that the MPI's own function is
  // best. `share`: see Lesson. The selector must outlive it.
  Lessons(const Selector& selector, std::span<const PlacedRule> remembered, double share, const Credit& credit = {});

  Lessons(const Lessons&) = delete;
  Lessons& operator=(const Lessons&) = delete;

  // The lesson about cases like this one, which may begin now; null: there is nothing to learn, since somebody has said
  // what is to run them, or nothing but the MPI's own function is expected to. Valid as long as this.
  CaseLesson* find(const Case& asked);
  const std::vector<std::unique_ptr<CaseLesson>>& all() const { return all_; }

 private:
  bool may_learn(const Case& asked) const;
  bool can_run_all(const CaseLesson& known, const Case& asked) const;
  const PlacedRule* remembered(const Case& one) const;
  std::unique_ptr<CaseLesson> begin(const Case& one) const;

  const Selector* selector_;
  std::vector<PlacedRule> remembered_;  // for so many ranks and nodes
  double share_;
  Credit credit_;
  std::vector<std::unique_ptr<CaseLesson>> all_;
};

}  // namespace quadrille::learn
