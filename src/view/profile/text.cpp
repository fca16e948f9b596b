#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "profile/profile.hpp"
#include "text/markup.hpp"
#include "text/quantities.hpp"

namespace quadrille::profile {

namespace {

using text::printable;

// The sum over sizes or communicators.
struct Sum {
  std::int64_t calls = 0;
  std::int64_t replaced = 0;
  std::int64_t bytes = 0;
  double seconds = 0;

  void add(const Calls& row) {
    calls += row.calls;
    replaced += row.replaced;
    bytes += row.bytes;
    seconds += row.mean_seconds;
  }
};

std::string head_line(std::string_view first, int width) {
  return fmt::format("  {:<{}} {:>9}{:>12}{:>12}{:>9}{:>10}\n", first, width, "calls", "bytes", "time", "share",
                     "replaced");
}

std::string line(const Profile& profile, const std::string& label, int width, const Sum& sum) {
  const double calls = std::max<double>(1, static_cast<double>(sum.calls));
  return fmt::format("  {:<{}} {:>9}{:>12}{:>12}{:>9}{:>9.0f}%\n", label, width, sum.calls,
                     text::about_bytes(sum.bytes), text::seconds(sum.seconds),
                     text::share(profile.share_of_run(sum.seconds)), 100.0 * static_cast<double>(sum.replaced) / calls);
}

std::string by_collective_and_size(const Profile& profile) {
  std::string out = head_line(fmt::format("{:<22}{}", "collective", "size"), 34);
  for (std::size_t i = 0; i < profile.calls.size();) {
    const Calls& first = profile.calls[i];
    Sum sum;
    for (; i < profile.calls.size() && profile.calls[i].collective == first.collective &&
           profile.calls[i].size == first.size;
         ++i) {
      sum.add(profile.calls[i]);
    }
    out += line(profile, fmt::format("{:<22}{}", printable(first.collective), printable(first.size)), 34, sum);
  }
  return out;
}

// Nothing if there is only one.
std::string by_communicator(const Profile& profile) {
  if (profile.communicators.size() < 2) return "";
  std::vector<std::pair<Sum, std::size_t>> sums(profile.communicators.size());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].second = i;
  for (const Calls& row : profile.calls) sums[row.communicator].first.add(row);
  std::stable_sort(sums.begin(), sums.end(),
                   [](const auto& a, const auto& b) { return a.first.seconds > b.first.seconds; });
  constexpr std::size_t most = 20;
  std::string out = head_line("communicator", 34);
  for (std::size_t i = 0; i < std::min(most, sums.size()); ++i) {
    out += line(profile, printable(profile.communicators[sums[i].second].title()), 34, sums[i].first);
  }
  if (sums.size() > most) out += fmt::format("  and {} more, in the JSON file\n", sums.size() - most);
  return out;
}

// Beside the MPI's own and what was chosen.
std::string other_candidates(const Learned& one) {
  std::string out;
  for (const Learned::Tried& tried : one.tried) {
    if (tried.name == "native" || tried.name == one.verdict) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", printable(tried.name), text::seconds(tried.seconds));
  }
  return out.empty() ? "" : fmt::format("    also tried: {}\n", out);
}

// The first verdict changes nothing.
std::string later_verdicts(const Learned& one) {
  if (one.changes.size() < 2) return "";
  std::string out;
  for (const Learned::Change& change : one.changes) {
    out += fmt::format("{}{} after {} calls", out.empty() ? "" : ", ", printable(change.verdict), change.calls);
  }
  return fmt::format("    found best: {}\n", out);
}

std::string learned(const Profile& profile) {
  if (profile.learned.empty()) return "";
  std::string out = fmt::format("learned in the run: {}\n", saved_text(profile));
  for (const Learned& one : profile.learned) {
    const Communicator where{one.communicator, one.ranks, 1};
    const std::string selection =
        one.is_native() ? "" : fmt::format("{} {}, ", printable(one.verdict), text::seconds(one.seconds));
    out += fmt::format("  {:<22}{:>10}  {}; {}MPI's own {}, saved {}; {}\n{}{}", printable(one.collective), one.calls,
                       range_text(one.from, one.to), selection, text::seconds(one.native_seconds),
                       about_seconds(one.saved_seconds), printable(where.title()), other_candidates(one),
                       later_verdicts(one));
  }
  return out;
}

}  // namespace

std::string to_text(const Profile& profile) {
  const std::string_view waits = profile.waits == "yielding" ? "; oversubscribed: MPI's waits were made to yield"
                                 : profile.waits == "ours"   ? "; oversubscribed: waits are ours"
                                                             : "";
  std::string out = fmt::format("quadrille: collectives of {} ranks; memory of ours at most {} a rank{}\n",
                                profile.ranks, text::about_bytes(profile.peak_bytes), waits);
  out += fmt::format("  {} in them, mean of the ranks: {:.1f} % of {} from MPI_Init to MPI_Finalize\n",
                     text::seconds(profile.in_collectives()), 100 * profile.share_of_run(profile.in_collectives()),
                     text::seconds(profile.wall_seconds));
  out += by_collective_and_size(profile) + by_communicator(profile);
  if (!profile.algorithms.empty()) out += "replaced, calls and by which algorithm:\n";
  for (const AlgorithmUse& one : profile.algorithms) {
    out += fmt::format("  {:<22}{:>10}  {}\n", printable(one.collective), one.calls, printable(one.algorithm));
  }
  if (!profile.passed.empty()) out += "passed through to MPI, calls and why:\n";
  for (const PassedThrough& one : profile.passed) {
    out += fmt::format("  {:<22}{:>10}  {}\n", printable(one.collective), one.calls, printable(one.why));
  }
  return out + learned(profile);
}

}  // namespace quadrille::profile
