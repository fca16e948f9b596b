#include "native/algorithms.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>
#include <sstream>

namespace quadrille::native {

namespace {

struct Known {
  std::string_view collective;
  int number;
  std::string_view name;
  bool segmented = false;
  Needs needs = {};
  std::string_view parameters = {};  // see Algorithm; with blanks between them
};

constexpr Needs commutative{.commutative = true};
constexpr Needs two_ranks{.two_ranks = true};

// Of version 4.1. Those that need a commutative operation don't check it.
constexpr std::array known_openmpi = {
    Known{"allgather", 1, "linear"},
    Known{"allgather", 2, "bruck"},
    Known{"allgather", 3, "recursive_doubling"},
    Known{"allgather", 4, "ring"},
    Known{"allgather", 5, "neighbor"},
    Known{"allgather", 6, "two_proc", false, two_ranks},
    Known{"allreduce", 1, "basic_linear"},
    Known{"allreduce", 2, "nonoverlapping"},
    Known{"allreduce", 3, "recursive_doubling"},
    Known{"allreduce", 4, "ring", false, commutative},
    Known{"allreduce", 5, "segmented_ring", true, commutative},
    Known{"allreduce", 6, "rabenseifner"},
    Known{"alltoall", 1, "linear"},
    Known{"alltoall", 2, "pairwise"},
    Known{"alltoall", 3, "modified_bruck"},
    Known{"alltoall", 4, "linear_sync"},
    Known{"alltoall", 5, "two_proc", false, two_ranks},
    Known{"barrier", 1, "linear"},
    Known{"barrier", 2, "double_ring"},
    Known{"barrier", 3, "recursive_doubling"},
    Known{"barrier", 4, "bruck"},
    Known{"barrier", 5, "two_proc", false, two_ranks},
    Known{"barrier", 6, "tree"},
    Known{"bcast", 1, "basic_linear"},
    Known{"bcast", 2, "chain", true},
    Known{"bcast", 3, "pipeline", true},
    Known{"bcast", 4, "split_binary_tree", true},
    Known{"bcast", 5, "binary_tree", true},
    Known{"bcast", 6, "binomial", true},
    Known{"bcast", 7, "knomial", true},
    Known{"bcast", 8, "scatter_allgather"},
    Known{"bcast", 9, "scatter_allgather_ring"},
    Known{"reduce", 1, "linear"},
    Known{"reduce", 2, "chain", true, commutative},
    Known{"reduce", 3, "pipeline", true, commutative},
    Known{"reduce", 4, "binary", true, commutative},
    Known{"reduce", 5, "binomial", true, commutative},
    Known{"reduce", 6, "in-order_binary", true},
    Known{"reduce", 7, "rabenseifner"},
    Known{"reduce_scatter", 1, "non-overlapping"},
    Known{"reduce_scatter", 2, "recursive_halving", false, commutative},
    Known{"reduce_scatter", 3, "ring", false, commutative},
    Known{"reduce_scatter", 4, "butterfly"},
    Known{"reduce_scatter_block", 1, "basic_linear"},
    Known{"reduce_scatter_block", 2, "recursive_doubling"},
    Known{"reduce_scatter_block", 3, "recursive_halving"},
    Known{"reduce_scatter_block", 4, "butterfly"},
};

// Of versions 4.0 and 4.2. `nb` is the non-blocking collective, and a wait for it. Parameters are those that MPICH has
// by default. Without k_brucks, which by default is brucks, and without recexch of the barrier, of which a rule can't
// set all parameters.
constexpr Needs long_built_in{.built_in = true};
constexpr Needs two_buffers{.two_buffers = true};
constexpr Needs parent{.parent = true};
constexpr Needs commutative_parent{.commutative = true, .parent = true};
constexpr Needs power_of_two{.power_of_two = true};
constexpr std::string_view pairs = "k=2 single_phase_recv=0";
constexpr std::array known_mpich = {
    Known{"allgather", 0, "brucks"},
    Known{"allgather", 0, "recursive_doubling", false, power_of_two},
    Known{"allgather", 0, "ring"},
    Known{"allgather", 0, "recexch_doubling", false, {}, pairs},
    Known{"allgather", 0, "recexch_halving", false, {}, pairs},
    Known{"allgather", 0, "nb"},
    Known{"allreduce", 0, "recursive_doubling"},
    Known{"allreduce", 0, "reduce_scatter_allgather", false, long_built_in},
    Known{"allreduce", 0, "smp", false, commutative_parent},
    Known{"allreduce", 0, "tree", false, {}, "tree_type=1 k=2 chunk_size=0 buffer_per_child=0"},
    Known{"allreduce", 0, "recexch", false, {}, pairs},
    Known{"allreduce", 0, "ring", false, commutative},
    Known{"allreduce", 0, "k_reduce_scatter_allgather", false, commutative, pairs},
    Known{"allreduce", 0, "nb"},
    Known{"alltoall", 0, "brucks", false, two_buffers},
    Known{"alltoall", 0, "pairwise", false, two_buffers},
    Known{"alltoall", 0, "scattered", false, two_buffers},
    Known{"alltoall", 0, "nb"},
    Known{"barrier", 0, "dissemination"},
    Known{"barrier", 0, "k_dissemination", false, {}, "k=2"},
    Known{"barrier", 0, "smp", false, parent},
    Known{"barrier", 0, "nb"},
    Known{"bcast", 0, "binomial"},
    Known{"bcast", 0, "scatter_recursive_doubling_allgather"},
    Known{"bcast", 0, "scatter_ring_allgather"},
    Known{"bcast", 0, "smp", false, parent},
    Known{"bcast", 0, "tree", false, {}, "tree_type=0 k=2 is_non_blocking=1"},
    Known{
        "bcast", 0, "pipelined_tree", false, {}, "tree_type=0 k=2 is_non_blocking=1 chunk_size=8192 recv_pre_posted=0"},
    Known{"bcast", 0, "nb"},
    Known{"reduce", 0, "binomial"},
    Known{"reduce", 0, "reduce_scatter_gather", false, long_built_in},
    Known{"reduce", 0, "smp", false, commutative_parent},
    Known{"reduce", 0, "nb"},
    Known{"reduce_scatter", 0, "pairwise", false, commutative},
    Known{"reduce_scatter", 0, "recursive_doubling"},
    Known{"reduce_scatter", 0, "recursive_halving", false, commutative},
    Known{"reduce_scatter", 0, "nb"},
    Known{"reduce_scatter_block", 0, "noncommutative", false, power_of_two},
    Known{"reduce_scatter_block", 0, "pairwise", false, commutative},
    Known{"reduce_scatter_block", 0, "recursive_doubling"},
    Known{"reduce_scatter_block", 0, "recursive_halving", false, commutative},
    Known{"reduce_scatter_block", 0, "nb"},
};

std::string upper(std::string_view text) {
  std::string all;
  for (char c : text) all += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return all;
}

// The lines "...:coll_tuned_COLLECTIVE_algorithm:enumerator:value:NUMBER:NAME"; 0 is to choose none.
std::vector<std::pair<int, std::string>> listed(std::string_view collective, std::string_view info) {
  const std::string before = fmt::format(":coll_tuned_{}_algorithm:enumerator:value:", collective);
  std::vector<std::pair<int, std::string>> all;
  std::istringstream lines{std::string(info)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t place = line.find(before);
    if (place == std::string::npos) continue;
    const char* const begin = line.data() + place + before.size();
    const char* const end = line.data() + line.size();
    int number = 0;
    const auto [rest, error] = std::from_chars(begin, end, number);
    if (error == std::errc() && number > 0 && rest != end) all.emplace_back(number, std::string(rest + 1, end));
  }
  return all;
}

const Known* known_algorithm(std::string_view collective, std::string_view algorithm) {
  for (const Known& one : known_openmpi) {
    if (one.collective == collective && one.name == algorithm) return &one;
  }
  return nullptr;
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

bool reduces(std::string_view collective) {
  return collective.find("reduce") != std::string_view::npos;
}

}  // namespace

std::string_view name(Library library) {
  return library == Library::openmpi ? "openmpi" : "mpich";
}

std::optional<Library> library_named(std::string_view text) {
  for (Library one : {Library::openmpi, Library::mpich}) {
    if (text == name(one)) return one;
  }
  return std::nullopt;
}

bool Needs::can_run_on(int ranks) const {
  if (two_ranks && ranks != 2) return false;
  return !power_of_two || std::has_single_bit(static_cast<unsigned>(ranks));
}

const std::vector<std::string>& tunable_collectives(Library library) {
  const auto names = [](const auto& known) {
    std::vector<std::string> all;
    for (const Known& one : known) {
      if (all.empty() || all.back() != one.collective) all.emplace_back(one.collective);
    }
    return all;
  };
  static const std::vector<std::string> openmpi = names(known_openmpi);
  static const std::vector<std::string> mpich = names(known_mpich);
  return library == Library::openmpi ? openmpi : mpich;
}

std::vector<Algorithm> openmpi_algorithms(std::string_view collective, std::string_view info,
                                          const std::vector<std::int64_t>& segments) {
  std::vector<std::pair<int, std::string>> names = listed(collective, info);
  const bool by_table = names.empty();
  for (const Known& one : known_openmpi) {
    if (by_table && one.collective == collective) names.emplace_back(one.number, one.name);
  }
  std::vector<Algorithm> all;
  for (const auto& [number, algorithm] : names) {
    const Known* const known = known_algorithm(collective, algorithm);
    const Needs needs = known ? known->needs : Needs{.commutative = reduces(collective)};
    all.push_back({std::string(collective), algorithm, number, 0, needs});
    if (!known || !known->segmented) continue;
    for (std::int64_t segment : segments) {
      all.push_back({std::string(collective), fmt::format("{}:{}", algorithm, segment), number, segment, needs});
    }
  }
  return all;
}

std::string mpich_rule_name(const Algorithm& algorithm) {
  std::string collective = algorithm.collective;
  collective[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(collective[0])));
  const std::string_view communicators = algorithm.name == "nb" ? "allcomm" : "intra";
  return fmt::format("algorithm=MPIR_{}_{}_{}", collective, communicators, algorithm.name);
}

std::vector<Algorithm> mpich_algorithms(std::string_view collective, std::string_view library) {
  std::vector<Algorithm> all;
  for (const Known& one : known_mpich) {
    if (one.collective != collective) continue;
    Algorithm algorithm{std::string(collective), std::string(one.name), 0, 0, one.needs, words(one.parameters)};
    const std::string in_library = mpich_rule_name(algorithm) + '\0';
    if (library.empty() || library.find(in_library) != std::string_view::npos) all.push_back(std::move(algorithm));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> forcing(Library library, const Algorithm& algorithm) {
  if (library == Library::mpich) {
    const std::string collective = upper(algorithm.collective);
    // The device would run it on parts of the communicator.
    return {{fmt::format("MPIR_CVAR_{}_DEVICE_COLLECTIVE", collective), "0"},
            {fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM", collective), algorithm.name}};
  }
  const std::string setting = fmt::format("OMPI_MCA_coll_tuned_{}_algorithm", algorithm.collective);
  std::vector<std::pair<std::string, std::string>> all = {{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                                          {setting, fmt::format("{}", algorithm.number)}};
  if (algorithm.segment > 0) all.emplace_back(setting + "_segmentsize", fmt::format("{}", algorithm.segment));
  if (algorithm.name.starts_with("chain")) all.emplace_back(setting + "_chain_fanout", fmt::format("{}", chains));
  return all;
}

}  // namespace quadrille::native
