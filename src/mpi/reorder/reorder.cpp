#include "reorder/reorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <quadrille/error.hpp>
#include <string>

#include "engine/mpi.hpp"
#include "engine/process.hpp"
#include "placement/reorder.hpp"

namespace quadrille::reorder {

using engine::check;
using placement::Sent;

namespace {

enum class Complaint : std::int32_t { none, neighbour, place, decision };

// What each rank tells rank 0.
struct Report {
  Place place = {};
  std::int32_t sent = 0;
  Complaint complaint = Complaint::none;
};

// What rank 0 tells each of them.
struct Answer {
  std::int32_t rank = 0;
  Complaint complaint = Complaint::none;
  std::int32_t who = 0;  // complains
};

Complaint complaint_of(const std::vector<Sent>& sent, int ranks) {
  const auto exists = [&](Rank rank) { return rank >= 0 && rank < ranks; };
  const bool fine =
      std::all_of(sent.begin(), sent.end(), [&](const Sent& one) { return exists(one.from) && exists(one.to); });
  return fine ? Complaint::none : Complaint::neighbour;
}

// On rank 0 what all send, in the order of ranks.
std::vector<Sent> gathered(MPI_Comm comm, const std::vector<Sent>& sent, const std::vector<Report>& reports) {
  std::vector<int> counts;
  for (const Report& one : reports) counts.push_back(one.sent);
  std::vector<int> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<Sent> all(counts.empty() ? 0 : static_cast<std::size_t>(starts.back() + counts.back()));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(PMPI_Type_contiguous(sizeof(Sent), MPI_BYTE, &type), "MPI_Type_contiguous");
  check(PMPI_Type_commit(&type), "MPI_Type_commit");
  const int code = PMPI_Gatherv(sent.data(), static_cast<int>(sent.size()), type, all.data(), counts.data(),
                                starts.data(), type, 0, comm);
  PMPI_Type_free(&type);
  check(code, "MPI_Gatherv");
  return all;
}

void make_bytes_of_weights(std::vector<Sent>& sent) {
  constexpr double usual = 64 << 10;
  double sum = 0;
  for (const Sent& one : sent) sum += one.bytes;
  const double average = sum / static_cast<double>(sent.size());
  for (Sent& one : sent) {
    one.messages = average > 0 ? one.bytes / average : 1;
    one.bytes = one.messages * usual;
  }
}

// On rank 0.
std::vector<Answer> decide(const std::vector<Sent>& sent, const std::vector<Report>& reports,
                           const cost::Model& model) {
  std::vector<Answer> answers(reports.size());
  const auto complaint =
      std::find_if(reports.begin(), reports.end(), [](const Report& one) { return one.complaint != Complaint::none; });
  if (complaint != reports.end()) {
    const auto who = static_cast<std::int32_t>(complaint - reports.begin());
    answers.assign(reports.size(), {.complaint = complaint->complaint, .who = who});
    return answers;
  }
  try {
    std::vector<Place> places;
    for (const Report& one : reports) places.push_back(one.place);
    const std::vector<Rank> numbers = placement::reordering(sent, places, model).number;
    for (std::size_t process = 0; process < numbers.size(); ++process) answers[process].rank = numbers[process];
  } catch (const std::exception&) {
    answers.assign(reports.size(), {.complaint = Complaint::decision});
  }
  return answers;
}

void throw_complaint(const Answer& answer, const std::string& own_trouble) {
  switch (answer.complaint) {
    case Complaint::none:
      return;
    case Complaint::neighbour:
      throw Error(MPI_ERR_RANK,
                  fmt::format("reordered: rank {} has a neighbour that is no rank of the communicator", answer.who));
    case Complaint::place:
      throw Error(MPI_ERR_ARG,
                  own_trouble.empty()
                      ? fmt::format("reordered: rank {} can't read the file of QUADRILLE_RACKS", answer.who)
                      : own_trouble);
    case Complaint::decision:
      throw Error(MPI_ERR_NO_MEM,
                  "reordered: rank 0 could not find an order; it may lack memory for the graph of all ranks");
  }
}

int new_rank(MPI_Comm comm, const Traffic& traffic, const std::optional<Place>& place, const std::string& trouble,
             const cost::Model& model) {
  int rank = 0;
  int ranks = 0;
  check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  const Report own{.place = place.value_or(Place{}),
                   .sent = static_cast<std::int32_t>(traffic.sent.size()),
                   .complaint = place ? complaint_of(traffic.sent, ranks) : Complaint::place};
  std::vector<Report> reports(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  check(PMPI_Gather(&own, sizeof own, MPI_BYTE, reports.data(), sizeof own, MPI_BYTE, 0, comm), "MPI_Gather");
  std::vector<Sent> all = gathered(comm, traffic.sent, reports);
  if (traffic.unit == Traffic::Unit::weights) make_bytes_of_weights(all);
  const std::vector<Answer> answers = rank == 0 ? decide(all, reports, model) : std::vector<Answer>();
  Answer mine;
  check(PMPI_Scatter(answers.data(), sizeof mine, MPI_BYTE, &mine, sizeof mine, MPI_BYTE, 0, comm), "MPI_Scatter");
  throw_complaint(mine, trouble);
  return mine.rank;
}

}  // namespace

int new_rank(MPI_Comm comm, const Traffic& traffic, const Place& place, const cost::Model& model) {
  return new_rank(comm, traffic, place, "", model);
}

int new_rank(MPI_Comm comm, const Traffic& traffic, const cost::Model& model) {
  std::optional<Place> place;
  std::string trouble;
  try {
    place = engine::Process::get().place();
  } catch (const Error& error) {
    trouble = error.what();
  }
  return new_rank(comm, traffic, place, trouble, model);
}

MPI_Comm renumbered(MPI_Comm comm, int rank) {
  MPI_Comm made = MPI_COMM_NULL;
  check(PMPI_Comm_split(comm, 0, rank, &made), "MPI_Comm_split");
  return made;
}

}  // namespace quadrille::reorder
