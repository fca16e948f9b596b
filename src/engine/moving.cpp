#include "engine/moving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <quadrille/error.hpp>
#include <utility>

#include "algorithms/catalogue.hpp"
#include "engine/budget.hpp"
#include "engine/context.hpp"
#include "redistribute/redistribution.hpp"

namespace quadrille::engine {

const Algorithm in_place_exchange = {
    .collective = Collective::alltoallv,
    .name = "in place, any counts",
    .summary = "",
    .paper = "",
    .steps = "",
    .cost = "",
    .scratch = "",
    .restrictions = {},
    .build = nullptr,
    .predict = nullptr,
    .scratch_units = no_scratch,
};

namespace {

using redistribute::Redistribution;

enum class Trouble : std::int64_t {
  none,
  negative,    // count or displacement
  overlap,     // of blocks to be sent, or of blocks to be received
  outside,     // of the arrays: a block
  nobody,      // is to get something
  uncovered,   // elements have no rank to go to, or there are fewer than that
  gaps,        // in elements
  memory,      // is not enough
  unexpected,  // another rank sends something else than this one expects
  room,        // is not there, and there is too little memory to make it
  exhausted,   // the memory that it may take can't be had
};

// What a rank has to say before anything moves.
struct Report {
  Trouble trouble = Trouble::none;
  std::int64_t detail = 0;
};

std::string text_of(const Report& report, std::int64_t rank) {
  const auto of_rank = [&](const std::string& what) {
    return fmt::format("data to be moved in place: rank {} {}", rank, what);
  };
  switch (report.trouble) {
    case Trouble::none:
      break;
    case Trouble::negative:
      return of_rank(fmt::format("has a count or displacement of {}: it must not be negative", report.detail));
    case Trouble::overlap:
      return of_rank(
          fmt::format("has blocks that overlap at element {}: those to be sent must be apart from each other, "
                      "and those to be received as well",
                      report.detail));
    case Trouble::outside:
      return of_rank(fmt::format("has a block that ends at element {}, behind the end of the data", report.detail));
    case Trouble::nobody:
      return of_rank(fmt::format("has an element for rank {}, which there is not", report.detail));
    case Trouble::uncovered:
      return of_rank(
          fmt::format("has counts that add up to {} elements, and vectors that are longer or shorter", report.detail));
    case Trouble::gaps:
      return of_rank("has a type with gaps: only whole elements can be moved; use MPI_BYTE, or a struct's own size");
    case Trouble::memory:
      return of_rank(fmt::format("may take too little memory: {} bytes are the least", report.detail));
    case Trouble::unexpected:
      return of_rank(fmt::format("expects another number of elements from rank {} than that one sends", report.detail));
    case Trouble::room:
      return of_rank(
          fmt::format("has no room for what it receives, and too little memory to make it: reserve {} "
                      "elements, or allow more memory",
                      report.detail));
    case Trouble::exhausted:
      return of_rank(fmt::format("has not the {} bytes that it may take", report.detail));
  }
  return {};
}

int error_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::negative:
    case Trouble::uncovered:
      return MPI_ERR_COUNT;
    case Trouble::gaps:
      return MPI_ERR_TYPE;
    case Trouble::unexpected:
      return MPI_ERR_TRUNCATE;
    case Trouble::memory:
    case Trouble::room:
    case Trouble::exhausted:
      return MPI_ERR_NO_MEM;
    case Trouble::none:
    case Trouble::overlap:
    case Trouble::outside:
      break;
    case Trouble::nobody:
      return MPI_ERR_RANK;
  }
  return MPI_ERR_ARG;
}

std::vector<std::int64_t> one_after_another(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> at(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), std::int64_t{0});
  return at;
}

std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

Report negative(const std::vector<std::int64_t>& counts, const std::vector<std::int64_t>& at) {
  for (const auto* numbers : {&counts, &at}) {
    const auto found = std::find_if(numbers->begin(), numbers->end(), [](std::int64_t one) { return one < 0; });
    if (found != numbers->end()) return {Trouble::negative, *found};
  }
  return {};
}

Report misplaced(const std::vector<std::int64_t>& counts, const std::vector<std::int64_t>& at, std::int64_t elements) {
  std::vector<Range> blocks;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) blocks.push_back({at[i], at[i] + counts[i]});
  }
  std::sort(blocks.begin(), blocks.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (blocks[i].begin < blocks[i - 1].end) return {Trouble::overlap, blocks[i].begin};
  }
  if (elements >= 0 && !blocks.empty() && blocks.back().end > elements) return {Trouble::outside, blocks.back().end};
  return {};
}

// A block of the arena, given back with its owner.
class Extra {
 public:
  Extra() = default;
  Extra(const Extra&) = delete;
  Extra& operator=(const Extra&) = delete;
  ~Extra() {
    if (block_) Process::get().arena().release(block_);
  }

  void take(std::int64_t bytes) {
    block_ = Process::get().arena().allocate(bytes);
    bytes_ = bytes;
  }
  std::span<std::byte> span() const { return {block_, static_cast<std::size_t>(bytes_)}; }

 private:
  std::byte* block_ = nullptr;
  std::int64_t bytes_ = 0;
};

class MovePlan final : public Plan {
 public:
  MovePlan(Context& context, Move move, std::shared_ptr<MoveResult> result)
      : context_(context), move_(std::move(move)), result_(std::move(result)) {}

  bool next(Phase& phase) override {
    switch (step_++) {
      case 0:
        exchange_counts(phase);
        return true;
      case 1:
        find_trouble();
        exchange_reports(phase);
        return true;
      case 2:
        refuse();
        get_ready();
        break;
      default:
        break;
    }
    if (array_ == move_.arrays.size()) return false;
    move_array(phase, move_.arrays[array_++]);
    return true;
  }

 private:
  std::vector<Typed> bytes_of(void* memory, std::int64_t bytes) const {
    return {{static_cast<std::byte*>(memory), bytes, &bytes_}};
  }

  void exchange_counts(Phase& phase) {
    constexpr std::int64_t word = sizeof(std::int64_t);
    const auto ranks = static_cast<std::size_t>(context_.ranks());
    result_->counts.assign(ranks, 0);
    phase.program = context_.program({.algorithm = find_algorithm(Collective::alltoall, "bruck"), .count = word});
    phase.binding.input = bytes_of(move_.send_counts.data(), context_.ranks() * word);
    phase.binding.output = bytes_of(result_->counts.data(), context_.ranks() * word);
  }

  void find_trouble() {
    const bool told = !move_.receive_counts.empty();
    if (!told) {
      move_.receive_counts = result_->counts;
      move_.receive_at = one_after_another(move_.receive_counts);
    }
    // The first of them is told.
    const auto note = [this](const Report& report) {
      if (own_.trouble == Trouble::none) own_ = report;
    };
    if (!move_.covered && !move_.nobody) note({Trouble::uncovered, total(move_.send_counts)});
    if (move_.nobody) note({Trouble::nobody, *move_.nobody});
    if (move_.has_gaps) note({Trouble::gaps, 0});
    note(negative(move_.send_counts, move_.send_at));
    note(negative(move_.receive_counts, move_.receive_at));
    for (std::size_t peer = 0; peer < result_->counts.size(); ++peer) {
      const bool expected = result_->counts[peer] == move_.receive_counts[peer];
      if (!expected) note({Trouble::unexpected, static_cast<std::int64_t>(peer)});
    }
    // Arrays that can be made longer end behind whatever they receive.
    note(misplaced(move_.send_counts, move_.send_at, move_.elements));
    note(misplaced(move_.receive_counts, move_.receive_at, move_.grow ? -1 : move_.elements));
    if (own_.trouble == Trouble::none) take_memory();
  }

  std::int64_t for_others(const std::vector<std::int64_t>& counts) const {
    return total(counts) - counts[static_cast<std::size_t>(context_.rank())];
  }

  // What there is of the budget after arrays were made longer.
  void take_memory() {
    std::int64_t element = 1;
    std::int64_t all = 0;
    std::int64_t others = 0;  // the most that one array exchanges with others
    for (const Move::Array& array : move_.arrays) {
      element = std::max(element, array.element_bytes);
      all += array.element_bytes * total(move_.send_counts);
      others = std::max(
          others, array.element_bytes * std::max(for_others(move_.send_counts), for_others(move_.receive_counts)));
    }
    if (move_.memory == 0) move_.memory = default_budget(all);
    const std::int64_t elements = total(move_.receive_counts);
    const std::int64_t growth = move_.growth ? move_.growth(elements) : 0;
    const std::int64_t least = Arena::taken_for(element);
    if (least > move_.memory) {
      own_ = {Trouble::memory, least};
      return;
    }
    if (growth > move_.memory - least) {
      own_ = {Trouble::room, elements};
      return;
    }
    // A rank that neither sends nor receives needs next to nothing, and no more than all there is helps anybody.
    std::int64_t bytes = std::min(move_.memory - growth, std::max(least, others));
    while (Arena::taken_for(bytes) > move_.memory - growth) bytes -= std::max<std::int64_t>(1, bytes / 16);
    try {
      if (move_.reserve) move_.reserve(elements);
      extra_.take(std::max(bytes, element));
      result_->peak_bytes = Arena::taken_for(std::max(bytes, element)) + growth;
    } catch (const std::exception&) {
      own_ = {Trouble::exhausted, bytes};
    }
  }

  void exchange_reports(Phase& phase) {
    constexpr std::int64_t word = sizeof(Report);
    reports_.resize(static_cast<std::size_t>(context_.ranks()));
    phase.program = context_.program({.algorithm = find_algorithm(Collective::allgather, "bruck"), .count = word});
    phase.binding.input = bytes_of(&own_, word);
    phase.binding.output = bytes_of(reports_.data(), context_.ranks() * word);
  }

  void refuse() const {
    const auto bad =
        std::find_if(reports_.begin(), reports_.end(), [](const Report& one) { return one.trouble != Trouble::none; });
    if (bad != reports_.end()) throw Error(error_of(bad->trouble), text_of(*bad, bad - reports_.begin()));
  }

  void get_ready() {
    if (move_.grow) move_.grow(total(move_.receive_counts), move_.arrays);
    words_.resize(static_cast<std::size_t>(Redistribution::words(context_.ranks())));
  }

  void move_array(Phase& phase, const Move::Array& array) {
    job_ = {.rank = context_.rank(),
            .ranks = context_.ranks(),
            .send = {move_.send_counts, move_.send_at},
            .receive = {move_.receive_counts, move_.receive_at},
            .element_bytes = array.element_bytes,
            .data = array.data,
            .extra = extra_.span(),
            .words = words_};
    phase.binding = Redistribution::binding(job_);
    phase.protocol = [this](Backend& backend) { return std::make_unique<Redistribution>(job_, backend); };
  }

  Context& context_;
  Move move_;
  std::shared_ptr<MoveResult> result_;
  int step_ = 0;
  std::size_t array_ = 0;
  Layout bytes_ = Layout::basic(1);
  Report own_;
  std::vector<Report> reports_;
  Extra extra_;
  std::vector<std::int64_t> words_;
  redistribute::Job job_;
};

}  // namespace

Task::MakePlan plan_of(Context& context, const Move& move, const std::shared_ptr<MoveResult>& result) {
  Move own = move;
  if (own.send_at.empty()) own.send_at = one_after_another(own.send_counts);
  if (own.receive_at.empty() && !own.receive_counts.empty()) own.receive_at = one_after_another(own.receive_counts);
  return [&context, own, result] { return std::make_unique<MovePlan>(context, own, result); };
}

}  // namespace quadrille::engine
