#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tools/choice.hpp"
#include "tools/commands.hpp"
#include "verify/matrix.hpp"

namespace quadrille::tools {

namespace {

using Clock = std::chrono::steady_clock;

// The ranks of the full matrix, and the larger ones.
std::vector<Rank> default_ranks(const Algorithm& algorithm) {
  std::vector<Rank> ranks;
  for (Rank p = 1; p <= 64; ++p) ranks.push_back(p);
  for (Rank p : {100, 127, 128, 129, 255, 256}) ranks.push_back(p);
  if (algorithm.logarithmic) ranks.insert(ranks.end(), {1000, 1023, 1024, 1025, 4095, 4096});
  return ranks;
}

// "1-8,16" and the like.
std::vector<Rank> parse_ranks(const std::string& text) {
  std::vector<Rank> ranks;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    Rank first = 0;
    Rank last = 0;
    char rest = 0;
    const int found = std::sscanf(word.c_str(), "%d-%d%c", &first, &last, &rest);
    if (found == 1 && word == std::to_string(first)) last = first;
    if (found < 1 || found > 2 || first < 1 || last < first) {
      throw std::invalid_argument(
          fmt::format("--ranks: '{}' is neither a number of ranks nor a range like 1-64", word));
    }
    for (Rank p = first; p <= last; ++p) ranks.push_back(p);
  }
  return ranks;
}

// Checks all cases on all cores, showing how far it is.
class Campaign {
 public:
  void add(const Algorithm& algorithm, const std::vector<Rank>& ranks) {
    tallies_.push_back({&algorithm});
    for (Rank p : ranks) {
      for (const verify::Case& one : verify::cases(algorithm, p)) work_.push_back({one, tallies_.size() - 1});
    }
  }

  // Returns whether everything passed.
  bool run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back([this] { drain(); });
    for (std::thread& thread : threads) thread.join();
    clear_progress();
    return report();
  }

 private:
  struct Tally {
    const Algorithm* algorithm;
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    double seconds = 0;
  };
  struct Work {
    verify::Case one;
    std::size_t tally;
  };

  void drain() {
    for (std::size_t i = next_++; i < work_.size(); i = next_++) {
      const auto begin = Clock::now();
      const std::string fault = verify::check(work_[i].one);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      const std::lock_guard guard(mutex_);
      Tally& tally = tallies_[work_[i].tally];
      tally.seconds += seconds;
      ++(fault.empty() ? tally.passed : tally.failed);
      if (!fault.empty() && ++shown_ <= 10) {
        clear_progress();
        fmt::print("FAILED {}\n  {}\n", describe(work_[i].one), fault);
      }
      show_progress(++done_, work_[i].one);
    }
  }

  void show_progress(std::size_t done, const verify::Case& one) {
    const auto now = Clock::now();
    const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10000);
    if (now - shown_at_ < pause) return;
    shown_at_ = now;
    const std::string line = fmt::format("{} of {} cases, {} {} on {} ranks", done, work_.size(),
                                         name(one.algorithm->collective), one.algorithm->name, one.problem.ranks);
    if (terminal_) {
      fmt::print(stderr, "\r{:<78}", line);
    } else {
      fmt::print(stderr, "{}\n", line);
    }
  }

  void clear_progress() const {
    if (terminal_) fmt::print(stderr, "\r{:<78}\r", "");
  }

  bool report() const {
    std::int64_t passed = 0;
    std::int64_t failed = 0;
    for (const Tally& tally : tallies_) {
      fmt::print("{:<12}{:<21}{:>7} passed{:>5} failed{:>9.1f} s\n", name(tally.algorithm->collective),
                 tally.algorithm->name, tally.passed, tally.failed, tally.seconds);
      passed += tally.passed;
      failed += tally.failed;
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0;
  }

  std::vector<Work> work_;
  std::vector<Tally> tallies_;
  std::atomic<std::size_t> next_ = 0;
  std::size_t done_ = 0;
  int shown_ = 0;
  std::mutex mutex_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Clock::time_point shown_at_ = Clock::now();
};

}  // namespace

void add_verify(CLI::App& app, Exit& exit) {
  auto* command = app.add_subcommand("verify", "Prove the algorithms and replay them on real data");
  static std::vector<std::string> collectives;
  static std::string ranks;
  static std::string algorithm;
  command->add_option("COLLECTIVE", collectives, "Only these collectives");
  command->add_option(
      "--ranks", ranks,
      "Numbers of ranks, as 1-8,16; default: 1-64 and some up to 256, logarithmic algorithms up to 4096");
  command->add_option("--algorithm", algorithm, "Only this algorithm");
  command->callback([&exit] {
    Campaign campaign;
    for (const Algorithm* one : chosen(collectives, algorithm)) {
      campaign.add(*one, ranks.empty() ? default_ranks(*one) : parse_ranks(ranks));
    }
    exit = campaign.run() ? 0 : 1;
  });
}

}  // namespace quadrille::tools
