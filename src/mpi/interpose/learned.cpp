#include "interpose/learned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "interpose/tallies.hpp"
#include "select/prices.hpp"

namespace quadrille::interpose {

static_assert(std::is_trivially_copyable_v<Learned>);

namespace {

std::string name_of_candidate(const Learned& learned, std::size_t who) {
  const Variant& variant = learned.variants[who];
  if (!variant) return "native";
  return variant.segment > 0 ? fmt::format("{}, segment {}", name_of(variant), variant.segment) : name_of(variant);
}

bool alike(const learn::Finding& a, const learn::Finding& b) {
  return a.ranks == b.ranks && a.nodes == b.nodes && a.rule.collective == b.rule.collective &&
         a.rule.from == b.rule.from && a.rule.to == b.rule.to;
}

}  // namespace

std::vector<Learned> learned_on(MPI_Comm comm, const learn::Lessons& lessons) {
  std::array<char, MPI_MAX_OBJECT_NAME + 1> name = {};
  int length = 0;
  PMPI_Comm_get_name(comm, name.data(), &length);
  std::vector<Learned> all;
  for (const auto& known : lessons.all()) {
    const learn::Lesson& lesson = known->lesson;
    if (lesson.agreements() == 0) continue;
    Learned& one = all.emplace_back();
    std::copy_n(name.begin(), std::min<std::size_t>(name.size(), one.communicator.size() - 1),
                one.communicator.begin());
    one.one = known->one;
    one.start = known->start;
    one.candidates = lesson.candidates();
    one.verdict = lesson.verdict();
    one.variants = known->variants;
    for (std::size_t who = 0; who < lesson.candidates(); ++who) one.seconds[who] = lesson.seconds(who);
    one.is_new = lesson.compared();
    one.calls = lesson.calls();
    one.replaced = lesson.replaced();
    one.saved = lesson.saved();
    one.changes_count = lesson.changes().size();
    std::copy(lesson.changes().begin(), lesson.changes().end(), one.changes.begin());
  }
  return all;
}

std::vector<Learned> of_all_ranks(std::vector<Learned> mine) {
  using engine::check;
  constexpr std::size_t enough = 100000;
  int rank = 0;
  int ranks = 0;
  check(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const std::size_t most = std::max<std::size_t>(1, enough / static_cast<std::size_t>(ranks));
  std::sort(mine.begin(), mine.end(), [](const Learned& a, const Learned& b) { return a.calls > b.calls; });
  if (mine.size() > most) mine.resize(most);
  const auto bytes = static_cast<int>(mine.size() * sizeof(Learned));
  std::vector<int> of_ranks(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  check(PMPI_Gather(&bytes, 1, MPI_INT, of_ranks.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<int> from(of_ranks.size());
  std::exclusive_scan(of_ranks.begin(), of_ranks.end(), from.begin(), 0);
  const std::size_t total = of_ranks.empty() ? 0 : static_cast<std::size_t>(from.back() + of_ranks.back());
  std::vector<Learned> all(total / sizeof(Learned));
  check(
      PMPI_Gatherv(mine.data(), bytes, MPI_BYTE, all.data(), of_ranks.data(), from.data(), MPI_BYTE, 0, MPI_COMM_WORLD),
      "MPI_Gatherv");
  return all;
}

std::vector<learn::Finding> findings_of(std::span<const Learned> all, const std::string& mpi) {
  std::vector<learn::Finding> findings;
  for (const Learned& learned : all) {
    if (!learned.is_new || !learn::is_usual(learned.one)) continue;
    const Sizes sizes = sizes_of(learned.one);
    const learn::Finding finding{.rule = {.collective = learned.one.collective,
                                          .from = sizes.from,
                                          .to = sizes.to,
                                          .variant = learned.variants[learned.verdict]},
                                 .mpi = mpi,
                                 .ranks = learned.one.ranks,
                                 .nodes = learned.one.nodes,
                                 .seconds = learned.seconds[learned.verdict],
                                 .native_seconds = learned.seconds[0],
                                 .calls = learned.calls};
    const auto known = std::find_if(findings.begin(), findings.end(),
                                    [&](const learn::Finding& other) { return alike(finding, other); });
    if (known == findings.end()) {
      findings.push_back(finding);
    } else if (known->calls < finding.calls) {
      *known = finding;
    }
  }
  return findings;
}

std::vector<profile::Learned> cases_of(std::span<const Learned> all) {
  std::vector<profile::Learned> cases;
  for (const Learned& learned : all) {
    const Sizes sizes = sizes_of(learned.one);
    const bool remembered = learned.start == learn::CaseLesson::Start::remembered;
    profile::Learned& one =
        cases.emplace_back(profile::Learned{.communicator = std::string(given_name(learned.communicator.data())),
                                            .ranks = learned.one.ranks,
                                            .nodes = learned.one.nodes,
                                            .collective = std::string(name(learned.one.collective)),
                                            .from = sizes.from,
                                            .to = sizes.to,
                                            .calls = learned.calls,
                                            .replaced = learned.replaced,
                                            .verdict = name_of_candidate(learned, learned.verdict),
                                            .seconds = learned.seconds[learned.verdict],
                                            .native_seconds = learned.seconds[0],
                                            .tried = {},
                                            .changes = {},
                                            .saved_seconds = learned.saved,
                                            .start = remembered ? "remembered" : "price"});
    for (std::size_t who = 0; who < learned.candidates; ++who) {
      if (learned.seconds[who] > 0) one.tried.push_back({name_of_candidate(learned, who), learned.seconds[who]});
    }
    for (std::size_t i = 0; i < learned.changes_count; ++i) {
      one.changes.push_back({learned.changes[i].calls, name_of_candidate(learned, learned.changes[i].verdict)});
    }
  }
  return cases;
}

}  // namespace quadrille::interpose
