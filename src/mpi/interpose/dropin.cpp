#include "interpose/dropin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <quadrille/error.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/calls.hpp"
#include "api/local_call.hpp"
#include "engine/rules.hpp"
#include "interpose/errors.hpp"
#include "interpose/yielding.hpp"
#include "machine/cores.hpp"

namespace quadrille::interpose {

using engine::check;
using engine::Context;

DropIn& DropIn::make() {
  static DropIn& drop_in = *new DropIn;  // for MPI_Finalize in a destructor after main
  only.store(&drop_in, std::memory_order_release);
  return drop_in;
}

void DropIn::before_init() {
#ifndef OPEN_MPI
  const char* const off = std::getenv("QUADRILLE");
  const bool is_off = off && std::string_view(off) == "off";
  let_mpi_yield(!is_off && machine::ranks_on_node(1) > machine::usable_cores());
#endif
}

namespace {

// A file's name, wherever the program goes.
std::string absolute_setting(const char* name) {
  std::string path(setting(name));
  std::error_code unknown;
  if (!path.empty() && path != "-") path = std::filesystem::absolute(path, unknown);
  return path;
}

}  // namespace

void DropIn::begin() {
  try {
    settings_ = engine::agreed_settings(MPI_COMM_WORLD);
    int level = MPI_THREAD_SINGLE;
    check(PMPI_Query_thread(&level), "MPI_Query_thread");
    threads_ = level >= MPI_THREAD_MULTIPLE;
    const bool starving = !settings_.off && ranks_starve_each_other();
    const bool yielding = starving && !settings_.except_point_to_point;
    let_mpi_yield(yielding);
    if (settings_.off && !settings_.report && !settings_.trace) {
      take({});
      quick_ = true;
      return;
    }
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key_, nullptr), "MPI_Comm_create_keyval");
    // Where MPI's own waits do not yield, as few calls of its own as possible are to wait.
    const bool spinning = starving && !(yielding && all_reach_waits_of_mpi());
    reporting_ = settings_.report;
    // The program may change its folder and its environment. Only rank 0 writes; on others the variable may be unset.
    report_path_ = absolute_setting("QUADRILLE_REPORT");
    trace_path_ = absolute_setting("QUADRILLE_TRACE");
    waits_ = spinning && !settings_.except_point_to_point;
    how_ = waits_ ? Waits::ours : yielding ? Waits::yielding : Waits::mpis;
    set_policies(spinning);
    mention_other_ranks();
    reorders_ = settings_.reorder && !settings_.off;
    learning_.begin(settings_, threads_);
    active_ = true;
    if (reporting_) report_.start();
    if (settings_.trace) {
      tracer_.start(threads_, settings_.trace_waits);
      tracer = &tracer_;
    }
    quick_ = !reporting_ && !tracer;
  } catch (const std::exception& error) {
    let_mpi_yield(false);
    take({});
    waits_ = false;
    reorders_ = false;
    reporting_ = false;
    tracer = nullptr;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) say(std::string(error.what()) + "; every call is passed through to MPI");
  }
}

// Replaced is what is forced, and what a tuning table or the price says to be faster than MPI's own, which can be said
// of calls whose size every rank knows.
void DropIn::set_policies(bool spinning) {
  Policies policies;
  for (std::size_t i = 0; i < collectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const bool allowed = !settings_.off && settings_.only[i] && !settings_.except[i];
    const bool always = settings_.forced[i] || spinning;
    const bool may_be_faster = always || sizes_are_known(collective);
    policies[i] = {.outcome = !allowed        ? Outcome::not_selected
                              : may_be_faster ? Outcome::replaced
                                              : Outcome::unknown_size,
                   .native = always ? Request::Native::without_memory : Request::Native::unless_faster,
                   .in_place = allowed && (collective == Collective::alltoall || collective == Collective::alltoallv ||
                                           collective == Collective::alltoallw)};
  }
  take(policies);
}

void DropIn::take(const Policies& policies) {
  policies_ = policies;
  passes_all_ = 0;
  may_pass_ = 0;
  for (std::size_t i = 0; i < collectives; ++i) {
    if (policies[i].passes_all()) passes_all_ |= bit(static_cast<Collective>(i));
    if (policies[i].may_pass()) may_pass_ |= bit(static_cast<Collective>(i));
  }
}

namespace {

Outcome outcome_of(Reason::Kind why_native) {
  switch (why_native) {
    case Reason::Kind::memory:
      return Outcome::memory;
    case Reason::Kind::native_price:
      return Outcome::not_faster;
    case Reason::Kind::rule:
      return Outcome::found_not_faster;
    default:
      return Outcome::not_in_table;
  }
}

}  // namespace

// The most that any rank has, by an allreduce as the program's own would be.
std::int64_t DropIn::largest(std::int64_t bytes, MPI_Comm comm) {
  const detail::UserBuffer all{.address = &bytes, .count = 1, .type = MPI_INT64_T};
  CallOutcome done = run(detail::reduction_call(Collective::allreduce, {.address = MPI_IN_PLACE}, all, MPI_MAX), comm);
  const int code = done.passes() ? PMPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, comm) : done.code;
  done.trial.end();
  check(code, "MPI_Allreduce");
  return bytes;
}

// Whether an all-to-all in place has so much data on any rank that the memory counts which MPI's own would take. Of
// alltoallv and alltoallw no rank knows what the others have: they must ask each other.
bool DropIn::saves_memory(const detail::Call& call, MPI_Comm comm, int ranks) {
  constexpr std::int64_t much = 1 << 20;
  std::int64_t bytes = 0;
  try {
    bytes = LocalCall::bytes(api::local_call(call, 0, ranks).output, true, ranks);
  } catch (const Error&) {
    // What is wrong is for MPI to report.
  }
  if (!sizes_are_known(call.collective)) bytes = largest(bytes, comm);
  const std::int64_t limit = settings_.preferences.memory;
  return bytes >= (limit > 0 ? std::min(limit, much) : much);
}

// Why an all-to-all in place is passed through; replaced: it is not, or that is for others to decide.
Outcome DropIn::why_in_place(const detail::Call& call, MPI_Comm comm, bool& saves) {
  const Seen& known = seen(call, comm, false);
  if (!known.context && known.outcome != Outcome::few_calls) return known.outcome;
  saves = saves_memory(call, comm, known.ranks);
  const bool goes_on = saves || policy(call.collective).outcome == Outcome::replaced;
  return goes_on ? Outcome::replaced : Outcome::little_in_place;
}

namespace {

// Empty: what is wrong with the arguments is for MPI to report.
std::optional<api::Prepared> prepare(Context& context, const detail::Call& call, const api::CallOptions& options) {
  try {
    return api::prepare(context, call, options, api::Handles::borrowed);
  } catch (const Error& error) {
    if (!is_for_mpi_to_report(error)) throw;
    return std::nullopt;
  }
}

// A call's place in the lesson that it belongs to, which may be found only when its case is known.
class CallInLesson final : public api::Chooser {
 public:
  CallInLesson(Learning& learning, learn::Lessons* lessons, MPI_Comm comm)
      : learning_(learning), lessons_(lessons), comm_(comm) {}
  CallInLesson(const CallInLesson&) = delete;
  CallInLesson& operator=(const CallInLesson&) = delete;
  ~CallInLesson() override { turn_.time.end(); }

  std::optional<Request> choose(const Case& asked) override {
    learn::CaseLesson* const found = lessons_ ? lessons_->find(asked) : nullptr;
    if (!found) return Request{.native = Request::Native::unless_faster};
    take(*found);
    return turn_.variant ? std::optional(Request{.variant = turn_.variant}) : std::nullopt;
  }
  void take(learn::CaseLesson& lesson) {
    lesson_ = &lesson;
    turn_ = learning_.next(lesson, comm_);
  }

  // Null: it belongs to none.
  learn::CaseLesson* lesson() const { return lesson_; }
  const Variant& variant() const { return turn_.variant; }
  // It is passed through.
  CallOutcome passed() {
    return {.outcome = turn_.trial ? Outcome::trial : why_native(*lesson_), .trial = std::exchange(turn_.time, {})};
  }

 private:
  Learning& learning_;
  learn::Lessons* lessons_;
  MPI_Comm comm_;
  learn::CaseLesson* lesson_ = nullptr;
  Learning::Turn turn_;
};

}  // namespace

// A call for which MPI's own function is as good, unless another one is faster.
CallOutcome DropIn::run_if_faster(const detail::Call& call, MPI_Comm comm, Seen& seen) {
  const RecentCalls::Known* const known = seen.recent.find(call);
  if (known && !known->lesson) return {.outcome = known->outcome};
  CallInLesson turn(learning_, seen.lessons.get(), comm);
  api::CallOptions options;
  if (known) {
    turn.take(*known->lesson);
    if (!turn.variant()) return turn.passed();
    options.request.variant = turn.variant();
  } else {
    options.chooser = &turn;
  }
  std::optional<api::Prepared> prepared = prepare(*seen.context, call, options);
  if (!prepared) return {.outcome = Outcome::arguments};
  if (!known) {
    const Outcome why = outcome_of(prepared->why_native);
    if (turn.lesson() || !prepared->task) seen.recent.keep(call, {turn.lesson(), why}, prepared->memorable);
    if (!prepared->task) return turn.lesson() ? turn.passed() : CallOutcome{.outcome = why};
  }
  const Algorithm& algorithm = prepared->task->decision().variant.algorithm();
  seen.context->run(std::move(prepared->task));
  return {.algorithm = &algorithm};
}

// A call that is replaced whatever it takes, unless memory is short.
CallOutcome DropIn::run_always(const detail::Call& call, Seen& seen, bool saves) {
  api::CallOptions options;
  options.request.native = Request::Native::without_memory;
  std::optional<api::Prepared> prepared = prepare(*seen.context, call, options);
  if (!prepared) return {.outcome = Outcome::arguments};
  if (!prepared->task) return {.outcome = Outcome::memory};
  const Algorithm& algorithm = prepared->task->decision().variant.algorithm();
  try {
    seen.context->run(std::move(prepared->task));
  } catch (const Error& error) {
    // Then no rank has memory enough, or one has not, and nothing has moved.
    if (!saves || error.code() != MPI_ERR_NO_MEM || seen.context->broken()) throw;
    return {.outcome = Outcome::memory};
  }
  return {.algorithm = &algorithm};
}

namespace {

CallOutcome without_context(Seen& seen) {
  CallOutcome passed{.outcome = seen.outcome};
  if (seen.outcome == Outcome::few_calls && seen.waiting.stands_for > 0) {
    passed.trial = Trial(seen.waiting.spent, seen.waiting.stands_for, seen.waiting.most());
  }
  return passed;
}

}  // namespace

CallOutcome DropIn::run(const detail::Call& call, MPI_Comm comm) {
  const Policy& policy = this->policy(call.collective);
  // MPI has all ranks pass it, or none.
  const bool in_place = call.input.address == MPI_IN_PLACE;
  bool saves = policy.in_place && in_place;  // memory, and so is replaced in any case
  if (policy.outcome != Outcome::replaced && !saves) return {.outcome = policy.outcome};
  try {
    if (saves && policy.native == Request::Native::unless_faster) {
      const Outcome why = why_in_place(call, comm, saves);
      if (why != Outcome::replaced) return {.outcome = why};
    }
    const bool if_faster = !saves && policy.native == Request::Native::unless_faster;
    Seen& seen = this->seen(call, comm, !if_faster);
    if (!seen.context) return without_context(seen);
    return if_faster ? run_if_faster(call, comm, seen) : run_always(call, seen, saves);
  } catch (const Error& error) {
    return {.code = report_error(comm, error.code(), error.what())};
  } catch (const std::exception& error) {
    return {.code = report_error(comm, MPI_ERR_INTERN, error.what())};
  }
}

// Whether ranks that wait keep those from their core that they wait for. On one node is enough: all must do the same.
bool DropIn::ranks_starve_each_other() {
#ifdef OPEN_MPI
  return false;  // it yields where its launcher sees that ranks share cores
#else
  int ranks = 0;
  check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  int crowded = machine::ranks_on_node(ranks) > machine::usable_cores() ? 1 : 0;
  check(PMPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return crowded != 0;
#endif
}

bool DropIn::all_reach_waits_of_mpi() {
  int reached = reaches_waits_of_mpi() ? 1 : 0;
  check(PMPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  return reached != 0;
}

void DropIn::end() {
  if (!std::exchange(active_, false)) return;
  take({});
  quick_ = false;
  waits_ = false;
  reorders_ = false;
  PMPI_Comm_free_keyval(&key_);
  const bool tracing = std::exchange(tracer, nullptr) != nullptr;
  try {
    if (tracing) tracer_.write(trace_path_);
    const std::vector<Learned> learned = learning_.end();
    if (std::exchange(reporting_, false)) report_.write(report_path_, counts_, how_, cases_of(learned));
  } catch (const std::exception& error) {
    say(error.what());
  }
}

// A table for other numbers of ranks is of no use, and nobody would know.
void DropIn::mention_other_ranks() const {
  int rank = 0;
  int ranks = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  if (rank != 0 || !settings_.table) return;
  std::set<Rank> others;
  for (const PlacedRule& rule : *settings_.table) others.insert(rule.ranks);
  if (others.empty() || others.contains(ranks)) return;
  fmt::print(stderr,
             "quadrille: the tuning table has rules for {} ranks, none for {}: quadrille bench --table adds them\n",
             fmt::join(others, ", "), ranks);
}

}  // namespace quadrille::interpose
