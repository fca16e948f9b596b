#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include "machine/cores.hpp"
#include "machine/workers.hpp"
#include "text/quantities.hpp"
#include "tools/commands.hpp"
#include "tools/option_values.hpp"
#include "tools/selection.hpp"
#include "tools/supervised_launch.hpp"
#include "verify/matrix.hpp"

namespace quadrille::tools {

namespace {

constexpr std::size_t most_shown = 10;  // failures

// The ranks of the full matrix, and some larger ones.
std::set<Rank> default_ranks(const Algorithm& algorithm) {
  std::set<Rank> ranks = {100, 127, 128, 129, 255, 256, 1000, 1024};
  for (Rank p = 1; p <= 64; ++p) ranks.insert(p);
  if (algorithm.logarithmic) ranks.insert(4096);
  return ranks;
}

constexpr Rank most_ranks = 1 << 20;

Rank parse_rank(std::string_view text) {
  Rank rank = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  const bool whole_text = error == std::errc() && rest == text.data() + text.size();
  return whole_text && rank <= most_ranks ? rank : 0;
}

// "1-8,16" and the like.
std::set<Rank> parse_ranks(const std::string& text) {
  std::set<Rank> ranks;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    const std::size_t dash = word.find('-');
    const Rank first = parse_rank(word.substr(0, dash));
    const Rank last = dash == std::string::npos ? first : parse_rank(word.substr(dash + 1));
    if (first < 1 || last < first) {
      throw std::invalid_argument(fmt::format(
          "--ranks: '{}' is neither a number of ranks nor a range such as 1-64; the maximum is {}", word, most_ranks));
    }
    for (Rank p = first; p <= last; ++p) ranks.insert(p);
  }
  return ranks;
}

std::string check_safely(const verify::Case& one) {
  try {
    return verify::check(one);
  } catch (const std::bad_alloc&) {
    return "out of memory: try fewer --ranks";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Each large case allocates and frees a gigabyte: keeping it saves the next one the page faults.
void keep_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // its upper limit
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Checks all cases on all cores and shows the progress.
class Verification {
 public:
  void add(const Algorithm& algorithm, const std::set<Rank>& ranks) {
    tallies_.push_back({&algorithm, proved_with(algorithm)});
    if (tallies_.back().with) return;
    for (Rank p : ranks) {
      for (const verify::Case& one : verify::cases(algorithm, p)) work_.push_back({one, tallies_.size() - 1});
    }
  }

  // Returns whether everything passed.
  bool run(bool json) {
    keep_memory();
    json_ = json;
    for (const Work& one : work_) weight_ += one.one.problem.ranks;
    const int cores = static_cast<int>(std::ceil(machine::usable_cores()));
    machine::run_on_threads(cores, work_.size(), [this](std::size_t i) { check(work_[i]); });
    clear_progress();
    return json_ ? report_as_json() : report();
  }

 private:
  struct Tally {
    const Algorithm* algorithm;
    const Algorithm* with = nullptr;  // a collective that differs only in its name has the same schedules
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    double seconds = 0;
  };
  struct Work {
    verify::Case one;
    std::size_t tally;
  };

  const Algorithm* proved_with(const Algorithm& algorithm) const {
    for (const Tally& tally : tallies_) {
      const bool same = tally.algorithm->build == algorithm.build &&
                        traits(tally.algorithm->collective) == traits(algorithm.collective);
      if (same) return tally.algorithm;
    }
    return nullptr;
  }

  void check(const Work& work) {
    const double begin = thread_seconds();
    const std::string fault = check_safely(work.one);
    const double seconds = thread_seconds() - begin;
    const std::lock_guard guard(mutex_);
    Tally& tally = tallies_[work.tally];
    tally.seconds += seconds;
    ++(fault.empty() ? tally.passed : tally.failed);
    if (!fault.empty() && failures_.size() < most_shown) show_failure(describe(work.one), fault);
    done_weight_ += work.one.problem.ranks;
    show_progress(++done_, work.one);
  }

  void show_failure(std::string what, const std::string& fault) {
    if (!json_) {
      clear_progress();
      fmt::print("FAILED {}\n  {}\n", what, fault);
    }
    failures_.push_back({{"case", std::move(what)}, {"fault", fault}});
  }

  // To a terminal only. The time of a case grows with its ranks.
  void show_progress(std::size_t done, const verify::Case& one) {
    const auto now = Clock::now();
    if (!terminal_ || now - shown_at_ < std::chrono::milliseconds(100)) return;
    shown_at_ = now;
    const double left = seconds_since(began_) * (weight_ - done_weight_) / done_weight_;
    const std::string line =
        fmt::format("{} of {} cases, about {} left: {} {} on {} ranks", done, work_.size(), text::duration(left),
                    name(one.algorithm->collective), one.algorithm->name, one.problem.ranks);
    fmt::print(stderr, "\r{:<78.78}", line);
  }

  void clear_progress() const {
    if (terminal_) fmt::print(stderr, "\r{:<78}\r", "");
  }

  bool report_as_json() const {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    for (const Tally& tally : tallies_) {
      nlohmann::ordered_json row = {{"collective", name(tally.algorithm->collective)},
                                    {"algorithm", tally.algorithm->name}};
      if (tally.with) {
        row["same_schedules_as"] = {{"collective", name(tally.with->collective)}, {"algorithm", tally.with->name}};
      } else {
        row.update({{"passed", tally.passed}, {"failed", tally.failed}, {"seconds", tally.seconds}});
      }
      rows.push_back(std::move(row));
      passed += tally.passed;
      failed += tally.failed;
    }
    const nlohmann::ordered_json all = {
        {"passed", passed}, {"failed", failed}, {"algorithms", rows}, {"failures", failures_}};
    fmt::print("{}\n", all.dump(2));
    return failed == 0;
  }

  bool report() const {
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    for (const Tally& tally : tallies_) {
      if (tally.with) {
        fmt::print("{:<22}{:<25} same schedules as {} {}\n", name(tally.algorithm->collective), tally.algorithm->name,
                   name(tally.with->collective), tally.with->name);
        continue;
      }
      fmt::print("{:<22}{:<25}{:>7} passed{:>5} failed{:>9.1f} s\n", name(tally.algorithm->collective),
                 tally.algorithm->name, tally.passed, tally.failed, tally.seconds);
      passed += tally.passed;
      failed += tally.failed;
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0;
  }

  std::vector<Work> work_;
  std::vector<Tally> tallies_;
  std::size_t done_ = 0;
  double weight_ = 0;
  double done_weight_ = 0;
  bool json_ = false;
  nlohmann::ordered_json failures_ = nlohmann::ordered_json::array();  // the first ones
  std::mutex mutex_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Clock::time_point began_ = Clock::now();
  Clock::time_point shown_at_ = began_;
};

}  // namespace

void add_verify(CLI::App& app, Exit& exit) {
  struct Arguments {
    std::vector<std::string> collectives;
    std::optional<std::string> ranks;
    std::optional<std::string> algorithm;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("verify", "Prove the algorithms correct and replay them on real data");
  command->add_option("COLLECTIVE", arguments->collectives, "Only these collectives")->transform(collective_names());
  command->add_option(
      "--ranks", arguments->ranks,
      "Numbers of ranks, as in 1-8,16; default: 1-64 and some up to 1024, logarithmic algorithms up to 4096");
  command->add_option("--algorithm", arguments->algorithm, "Only this algorithm");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit] {
    Verification verification;
    for (const Algorithm* one : selected_algorithms(arguments->collectives, arguments->algorithm)) {
      verification.add(*one, arguments->ranks ? parse_ranks(*arguments->ranks) : default_ranks(*one));
    }
    exit = verification.run(arguments->json) ? 0 : 1;
  });
}

}  // namespace quadrille::tools
