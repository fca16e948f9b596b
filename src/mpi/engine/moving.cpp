#include "engine/moving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <quadrille/error.hpp>
#include <utility>

#include "algorithms/catalogue.hpp"
#include "engine/context.hpp"
#include "engine/mistakes.hpp"
#include "meet/words.hpp"
#include "redistribute/redistribution.hpp"

namespace quadrille::engine {

namespace {

using redistribute::Redistribution;

using Of = Complaint::Of;

// Counts may be anything yet, so sums wrap around.
std::vector<std::int64_t> one_after_another(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> at;
  std::uint64_t next = 0;
  for (const std::int64_t count : counts) {
    at.push_back(static_cast<std::int64_t>(next));
    next += static_cast<std::uint64_t>(count);
  }
  return at;
}

// Where a block of no elements lies is of no interest.
void forget_empty(const std::vector<std::int64_t>& counts, std::vector<std::int64_t>& at) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) at[i] = 0;
  }
}

std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Messages of any length.
constexpr std::int64_t whole = std::numeric_limits<std::int64_t>::max();

class MovePlan final : public Plan {
  // What a rank says before anything moves.
  struct Word {
    Complaint complaint;
    std::int64_t elements = 0;  // a mark of their sizes; 0: it has none
    std::int64_t chunk = 0;     // bytes, if it can swap its blocks; 0: it can't
    std::int64_t part = whole;  // bytes of the longest message that it can pack, if it must
  };

 public:
  MovePlan(Context& context, Move move, std::shared_ptr<ExchangeResult> result)
      : context_(context), move_(std::move(move)), result_(std::move(result)) {}

  bool next(Phase& phase) override {
    switch (step_++) {
      case 0:
        look_for_mistakes();
        exchange_counts(phase);
        return true;
      case 1:
        look_at_what_comes();
        phase = meet::gather_words(context_.words_program(sizeof(Word)), own_, words_of_all_);
        return true;
      case 2:
        refuse();
        get_ready();
        break;
      default:
        break;
    }
    if (array_ == move_.arrays.size()) {
      if (move_.shrink) move_.shrink(total(move_.receive_counts));
      return false;
    }
    const Move::Array& array = move_.arrays[array_++];
    swap_ ? swap_array(phase, array) : move_array(phase, array);
    return true;
  }

 private:
  // Of a rank that is wrong the others are to know no counts.
  void exchange_counts(Phase& phase) {
    constexpr std::int64_t word = sizeof(std::int64_t);
    const auto ranks = static_cast<std::size_t>(context_.ranks());
    result_->counts.assign(ranks, 0);
    if (own_.complaint.what != Of::nothing) move_.send_counts.assign(ranks, 0);
    phase.program = context_.program({.variant = variant_named(Collective::alltoall, "bruck"), .count = word});
    phase.binding.input = meet::as_bytes(move_.send_counts.data(), context_.ranks() * word);
    phase.binding.output = meet::as_bytes(result_->counts.data(), context_.ranks() * word);
  }

  // The first of all that is wrong.
  void note(const Complaint& complaint) {
    if (own_.complaint.what == Of::nothing) own_.complaint = complaint;
  }

  // Bytes of an element of all arrays, in memory or packed.
  std::int64_t row_bytes() const {
    std::int64_t bytes = 0;
    for (const Move::Array& array : move_.arrays) bytes += std::max(array.element.size(), array.element.extent());
    return bytes;
  }

  // In what the caller said.
  void look_for_mistakes() {
    note(mistakes::excessive(move_.send_counts, move_.send_at, row_bytes()));
    note(mistakes::excessive(move_.receive_counts, move_.receive_at, row_bytes()));
    note(mistakes::negative(move_.send_counts, move_.send_at));
    note(mistakes::negative(move_.receive_counts, move_.receive_at));
    note(move_.complaint);
    if (own_.complaint.what != Of::nothing) return;
    // Arrays that can be made longer end behind whatever they receive.
    note(mistakes::misplaced(move_.send_counts, move_.send_at, move_.elements));
    note(mistakes::misplaced(move_.receive_counts, move_.receive_at, move_.grow ? -1 : move_.elements));
    const bool nowhere = std::any_of(move_.arrays.begin(), move_.arrays.end(), [](const auto& one) {
      return !byte_at(one.data, one.element.true_lower_bound());
    });
    if (nowhere && total(move_.send_counts) + total(move_.receive_counts) > 0) note({Of::nowhere, 0});
  }

  // In what the others send.
  void look_at_what_comes() {
    if (own_.complaint.what != Of::nothing) return;
    if (move_.receive_counts.empty()) {
      move_.receive_counts = result_->counts;
      move_.receive_at = one_after_another(move_.receive_counts);
      forget_empty(move_.receive_counts, move_.receive_at);
      note(mistakes::excessive(move_.receive_counts, move_.receive_at, row_bytes()));
    }
    for (std::size_t peer = 0; peer < result_->counts.size(); ++peer) {
      const bool expected = result_->counts[peer] == move_.receive_counts[peer];
      if (!expected) note({Of::unexpected, static_cast<std::int64_t>(peer)});
    }
    if (own_.complaint.what == Of::nothing) take_memory();
    if (total(move_.send_counts) + total(move_.receive_counts) == 0) return;
    for (const Move::Array& array : move_.arrays) own_.elements = own_.elements * 1000003 + array.element.size();
  }

  std::int64_t for_others(const std::vector<std::int64_t>& counts) const {
    return total(counts) - counts[static_cast<std::size_t>(context_.rank())];
  }

  // What the arrays ask for, in bytes.
  struct Needs {
    std::int64_t element = 1;  // the largest
    std::int64_t all = 0;      // that is sent, the own blocks included
    std::int64_t others = 0;   // the most that one array exchanges with others
    std::int64_t packed = 0;   // of those with gaps, likewise
  };

  Needs needs() const {
    Needs found;
    const std::int64_t exchanged = std::max(for_others(move_.send_counts), for_others(move_.receive_counts));
    for (const Move::Array& array : move_.arrays) {
      const std::int64_t bytes = array.element.size();
      found.element = std::max(found.element, bytes);
      found.all += bytes * total(move_.send_counts);
      found.others = std::max(found.others, bytes * exchanged);
      if (array.has_gaps()) found.packed = std::max(found.packed, bytes * exchanged);
    }
    return found;
  }

  // What there is of the budget after arrays were made longer.
  void take_memory() {
    const auto [element, all, others, to_pack] = needs();
    if (move_.memory == 0) move_.memory = Budget::in_place(all).bytes();
    const std::int64_t elements = total(move_.receive_counts);
    const std::int64_t growth = move_.growth ? move_.growth(elements) : 0;
    const std::int64_t least = to_pack > 0 ? Budget::least_to_pack(element) : Arena::taken_for(element);
    if (least > move_.memory) {
      note({Of::memory, least});
      return;
    }
    if (growth > move_.memory - least) {
      note({Of::room, elements});
      return;
    }
    const std::int64_t budget = move_.memory - growth;
    const std::int64_t packed = share_out(Budget(budget), element, to_pack);
    // A rank that neither sends nor receives needs next to nothing, and no more than all there is helps anybody, but
    // where it swaps.
    std::int64_t bytes = std::min(budget - packed, std::max(Arena::taken_for(element), others));
    while (Arena::taken_for(bytes) > budget - packed) bytes -= std::max<std::int64_t>(1, bytes / 16);
    bytes = std::max({bytes, chunking_.ring(), element});
    try {
      if (move_.reserve) move_.reserve(elements);
      extra_ = Arena::Block(Process::get().arena(), bytes);
      result_->peak_bytes = std::max(Arena::taken_for(bytes) + packed + growth, move_.taken);
      if (chunking_.chunk > 0) swap_ = swap_program();
      own_.chunk = chunking_.chunk;
      words_.resize(static_cast<std::size_t>(Redistribution::words));
    } catch (...) {
      note({Of::exhausted, bytes});
    }
  }

  // How blocks are swapped, if they can be, and messages packed, if they must be: so many bytes, 0 if none. Returns
  // what packing takes at most.
  std::int64_t share_out(Budget budget, std::int64_t element, std::int64_t to_pack) {
    const std::int64_t longest = context_.settings().preferences.part;
    if (to_pack > 0) packing_ = budget.packing(element, std::min(longest, to_pack));
    // Whoever can pack all it has at once is content with any length.
    if (packing_.part < to_pack) own_.part = packing_.part;
    if (stays_in_place()) {
      chunking_ = budget.chunking(
          {.ranks = context_.ranks(), .packed = to_pack > 0, .longest = std::min(longest, longest_block(element))});
    }
    return std::max(packing_.bytes, chunking_.bytes - Arena::taken_for(chunking_.ring()));
  }

  // The rank that is wrong is named rather than those who suffer from it.
  void refuse() const {
    const auto refuse_if = [this](const auto& is) {
      const auto found = std::find_if(words_of_all_.begin(), words_of_all_.end(), is);
      if (found == words_of_all_.end()) return;
      throw Error(error_code_of(found->complaint), text_of(found->complaint, found - words_of_all_.begin()));
    };
    refuse_if([](const Word& one) { return one.complaint.what > Of::nothing && one.complaint.what < Of::unexpected; });
    const Word* first = nullptr;
    for (const Word& one : words_of_all_) {
      if (one.elements == 0) continue;
      if (!first) first = &one;
      if (one.elements == first->elements) continue;
      throw Error(MPI_ERR_TYPE,
                  fmt::format("data to be moved in place: ranks {} and {} have elements of different sizes, or "
                              "different numbers of arrays",
                              first - words_of_all_.data(), &one - words_of_all_.data()));
    }
    refuse_if([](const Word& one) { return one.complaint.what == Of::unexpected; });
    refuse_if([](const Word& one) { return one.complaint.what != Of::nothing; });
  }

  // Whether the blocks that it sends are those that it receives.
  bool stays_in_place() const { return move_.send_counts == move_.receive_counts && move_.send_at == move_.receive_at; }

  // Of those that it swaps, in bytes.
  std::int64_t longest_block(std::int64_t element_bytes) const {
    std::int64_t longest = 1;
    for (Rank peer = 0; peer < context_.ranks(); ++peer) {
      const std::int64_t count = move_.send_counts[static_cast<std::size_t>(peer)];
      if (peer != context_.rank()) longest = std::max(longest, count * element_bytes);
    }
    return Arena::taken_for(longest);
  }

  std::shared_ptr<const Program> swap_program() const {
    Variant variant = variant_named(Collective::alltoallv, "tournament");
    variant.width = chunking_.partners;
    variant.segment = chunking_.chunk;
    variant.window = chunking_.window;
    return context_.program({.variant = variant, .budget = Budget(chunking_.bytes), .in_place = true, .swaps = true});
  }

  void get_ready() {
    if (move_.grow) move_.grow(total(move_.receive_counts), move_.arrays);
    const bool swaps = std::all_of(words_of_all_.begin(), words_of_all_.end(), [](auto& one) { return one.chunk > 0; });
    if (!swaps) swap_ = nullptr;
    for (const Word& one : words_of_all_) part_ = std::min(part_, one.part);
  }

  // As alltoallv does with MPI_IN_PLACE, in fewer messages than any other blocks take.
  void swap_array(Phase& phase, const Move::Array& array) {
    phase.program = swap_;
    phase.swaps = true;
    phase.binding.scratch = meet::as_bytes(extra_.bytes().data(), chunking_.ring());
    for (std::size_t peer = 0; peer < words_of_all_.size(); ++peer) {
      phase.binding.output.push_back(
          {byte_at(array.data, move_.send_at[peer] * array.element.extent()), move_.send_counts[peer], &array.element});
      phase.binding.chunks.push_back(std::min(own_.chunk, words_of_all_[peer].chunk));
    }
  }

  void move_array(Phase& phase, const Move::Array& array) {
    job_ = {.rank = context_.rank(),
            .ranks = context_.ranks(),
            .send = {move_.send_counts, move_.send_at},
            .receive = {move_.receive_counts, move_.receive_at},
            .element = array.element,
            .data = array.data,
            .extra = extra_.bytes(),
            .words = words_,
            .part = part_,
            // A rank that is ahead is so by one array at most, since all have the same partners: its grants must not be
            // taken for those of the array before.
            .grants = first_open_channel + static_cast<std::int32_t>(array_ % 2)};
    if (array.has_gaps() && packing_.part > 0) {
      job_.in_flight = std::min(job_.in_flight, packing_.receives);
      job_.sends = packing_.sends;
    }
    phase.binding = Redistribution::binding(job_);
    phase.open_channel = job_.grants;
    if (part_ < whole) phase.part = part_;
    phase.protocol = [this](Backend& backend) { return std::make_unique<Redistribution>(job_, backend); };
  }

  Context& context_;
  Move move_;
  std::shared_ptr<ExchangeResult> result_;
  int step_ = 0;
  std::size_t array_ = 0;
  Word own_;
  std::vector<Word> words_of_all_;
  Arena::Block extra_;
  Chunking chunking_;
  Packing packing_;                      // if its messages must be packed
  std::int64_t part_ = whole;            // that all can pack
  std::shared_ptr<const Program> swap_;  // null: some blocks are not the same both ways
  std::vector<std::int64_t> words_;
  redistribute::Job job_;
};

}  // namespace

Task::MakePlan plan_of(Context& context, const Move& move, const std::shared_ptr<ExchangeResult>& result) {
  Move own = move;
  const bool expects = !move.receive_counts.empty();
  if (move.complaint.what == Of::lengths) {
    own.send_counts.assign(static_cast<std::size_t>(context.ranks()), 0);
    own.send_at = own.receive_at = own.receive_counts = own.send_counts;
  }
  if (own.send_at.empty()) own.send_at = one_after_another(own.send_counts);
  if (own.receive_at.empty() && expects) own.receive_at = one_after_another(own.receive_counts);
  forget_empty(own.send_counts, own.send_at);
  if (expects) forget_empty(own.receive_counts, own.receive_at);
  return [&context, own, result] { return std::make_unique<MovePlan>(context, own, result); };
}

}  // namespace quadrille::engine
