// Time against memory: an all-to-all of random sizes with two buffers, by MPI's own call, and in place, with increasing
// extra memory:
//
//   mpirun -n 16 in_place [--kind symmetric|irregular] [--bytes BYTES] [--rounds ROUNDS] [--memory PERCENT,...]
//                         [--orders NAME,...] [--rate MBITS] [--json FILE] [--svg FILE]
//
// BYTES is the average sent by a rank. Symmetric: two ranks have blocks of the same size for each other, as
// MPI_IN_PLACE requires; irregular: all sizes are independent; default: both. All variants are measured in turn in
// every round; a variant's time is that of the slowest rank, best and median of the rounds. Every result is verified
// before the measurement.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <quadrille/quadrille.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "draw/plot.hpp"

namespace {

struct Options {
  std::vector<std::string> kinds = {"symmetric", "irregular"};
  std::string json;
  std::string svg;
  std::int64_t bytes = 4 << 20;
  int rounds = 15;
  double rate = 0;
  std::vector<double> memory = {1, 2, 5, 12, 25, 50, 100};
  std::vector<std::string> orders = {"tournament", "hierarchical_sets", "linear_shift", "hierarchical_factor",
                                     "by_rank"};
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--kind") options.kinds = {value};
    if (name == "--json") options.json = value;
    if (name == "--svg") options.svg = value;
    if (name == "--bytes") options.bytes = std::stoll(value);
    if (name == "--rounds") options.rounds = std::stoi(value);
    if (name == "--rate") options.rate = std::stod(value);
    if (name == "--orders") options.orders = split(value);
    if (name != "--memory") continue;
    options.memory.clear();
    for (const std::string& one : split(value)) options.memory.push_back(std::stod(one));
  }
  return options;
}

using Word = std::uint64_t;

// Sizes of all messages, the same on every rank, in words.
struct Sizes {
  Sizes(int count, std::int64_t bytes, bool symmetric) : ranks(count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(count));
    const std::int64_t mean = bytes / static_cast<std::int64_t>(sizeof(Word)) / ranks;
    std::uniform_int_distribution<std::int64_t> size(0, 2 * mean);
    all.resize(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks));
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) at(from, to) = symmetric && to < from ? at(to, from) : size(random);
    }
  }
  std::int64_t& at(int from, int to) { return all[static_cast<std::size_t>(from * ranks + to)]; }

  int ranks;
  std::vector<std::int64_t> all;
};

Word word(int from, int to, std::int64_t index) {
  return static_cast<Word>(from) << 48U | static_cast<Word>(to) << 32U | static_cast<Word>(index);
}

class Benchmark {
 public:
  Benchmark(quadrille::Communicator& comm, const Options& options, bool symmetric)
      : comm_(comm), options_(options), symmetric_(symmetric), sizes_(comm.size(), options.bytes, symmetric) {
    for (int peer = 0; peer < comm.size(); ++peer) {
      send_.push_back(sizes_.at(comm.rank(), peer));
      receive_.push_back(sizes_.at(peer, comm.rank()));
    }
    const auto as_ints = [](const std::vector<std::int64_t>& from, std::vector<int>& counts, std::vector<int>& at) {
      int next = 0;
      for (const std::int64_t one : from) {
        counts.push_back(static_cast<int>(one));
        at.push_back(next);
        next += counts.back();
      }
      return next;
    };
    data_.resize(static_cast<std::size_t>(as_ints(send_, send_counts_, send_at_)));
    other_.resize(static_cast<std::size_t>(as_ints(receive_, receive_counts_, receive_at_)));
    data_.resize(std::max(data_.size(), other_.size()));
  }

  void add_native() {
    add("MPI_Alltoallv, two buffers", 100, other_, [this] {
      MPI_Alltoallv(data_.data(), send_counts_.data(), send_at_.data(), MPI_UINT64_T, other_.data(),
                    receive_counts_.data(), receive_at_.data(), MPI_UINT64_T, MPI_COMM_WORLD);
    });
    if (!symmetric_) return;
    add("MPI_Alltoallv, in place", -1, data_, [this] {
      MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, data_.data(), receive_counts_.data(),
                    receive_at_.data(), MPI_UINT64_T, MPI_COMM_WORLD);
    });
  }
  void add_symmetric(const std::string& order, double percent) {
    const auto memory = static_cast<std::int64_t>(percent / 100 * static_cast<double>(options_.bytes));
    add(order, percent, data_, [this, order, memory] {
      const std::span<Word> data(data_.data(), other_.size());
      comm_.alltoallv(data, send_, data, receive_, {.algorithm = order, .memory = memory});
    });
  }

  void add_irregular(double percent) {
    const auto memory = static_cast<std::int64_t>(percent / 100 * static_cast<double>(options_.bytes));
    add("alltoallv_in_place", percent, data_,
        [this, memory] { comm_.alltoallv_in_place(data_, {send_}, {receive_}, {.memory = memory}); });
  }

  void run() {
    for (int round = 0; round < options_.rounds; ++round) {
      for (Variant& variant : variants_) {
        comm_.barrier();
        const double start = MPI_Wtime();
        variant.call();
        const double own = MPI_Wtime() - start;
        double slowest = 0;
        comm_.allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX);
        variant.times.push_back(slowest);
      }
    }
    for (Variant& variant : variants_) std::sort(variant.times.begin(), variant.times.end());
  }

  void print() {
    std::printf("%s, %d ranks, %lld bytes a rank\n", kind(), comm_.size(), static_cast<long long>(options_.bytes));
    if (options_.rate > 0) std::printf("lower bound by the links: %.1f ms\n", 1e3 * on_the_wire());
    std::printf("%-32s %8s %10s %10s %7s\n", "", "memory", "best", "median", "ratio");
    for (const Variant& one : variants_) {
      const std::string memory = one.percent < 0 ? "?" : std::to_string(static_cast<int>(one.percent)) + " %";
      std::printf("%-32s %8s %7.1f ms %7.1f ms %7.2f\n", one.name.c_str(), memory.c_str(), 1e3 * one.times.front(),
                  1e3 * one.median(), one.median() / variants_.front().median());
    }
  }
  void write(std::ostream& json) {
    json << "{\"kind\":\"" << kind() << "\",\"ranks\":" << comm_.size() << ",\"bytes\":" << options_.bytes
         << ",\"rounds\":" << options_.rounds << ",\"wire\":" << (options_.rate > 0 ? on_the_wire() : 0)
         << ",\"variants\":[";
    const char* comma = "\n";
    for (const Variant& one : variants_) {
      json << comma << "{\"name\":\"" << one.name << "\",\"percent\":" << one.percent
           << ",\"best\":" << one.times.front() << ",\"median\":" << one.median() << "}";
      comma = ",\n";
    }
    json << "]}";
  }
  // Times against memory: a line per variant, horizontal for those with fixed memory.
  quadrille::draw::Panel panel() {
    using quadrille::draw::SeriesStyle;
    quadrille::draw::Panel made{.title = kind(), .series = {}};
    const auto& memory = options_.memory;
    for (const Variant& one : variants_) {
      const bool level = one.percent < 0 || &one == &variants_.front();
      auto place =
          std::find_if(made.series.begin(), made.series.end(), [&](const auto& of) { return of.name == one.name; });
      if (place == made.series.end()) {
        made.series.push_back(
            {.name = one.name, .points = {}, .style = level ? SeriesStyle::reference : SeriesStyle::line});
        if (level) made.series.back().variation = one.percent < 0 ? 1 : 0;
        place = made.series.end() - 1;
      }
      for (const double percent : level ? memory : std::vector<double>{one.percent}) {
        place->points.push_back({.x = percent, .y = one.median()});
      }
    }
    if (options_.rate > 0) {
      made.series.push_back({.name = "the busiest link", .points = {}, .style = SeriesStyle::floor});
      for (const double percent : memory) made.series.back().points.push_back({.x = percent, .y = on_the_wire()});
    }
    return made;
  }

 private:
  const char* kind() const { return symmetric_ ? "symmetric" : "irregular"; }
  // The time of the busiest link, with headers.
  double on_the_wire() {
    constexpr double headers = 1.045;
    double most = 0;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      double out = 0;
      double in = 0;
      for (int peer = 0; peer < comm_.size(); ++peer) {
        if (peer == rank) continue;
        out += static_cast<double>(sizes_.at(rank, peer));
        in += static_cast<double>(sizes_.at(peer, rank));
      }
      most = std::max({most, in, out});
    }
    return most * sizeof(Word) * 8 * headers / (options_.rate * 1e6);
  }

  struct Variant {
    std::string name;
    double percent;
    std::function<void()> call;
    std::vector<double> times;

    double median() const { return times[times.size() / 2]; }
  };

  void add(const std::string& name, double percent, const std::vector<Word>& result, std::function<void()> call) {
    std::size_t place = 0;
    for (int peer = 0; peer < comm_.size(); ++peer) {
      for (std::int64_t i = 0; i < send_[static_cast<std::size_t>(peer)]; ++i)
        data_[place++] = word(comm_.rank(), peer, i);
    }
    call();
    place = 0;
    for (int peer = 0; peer < comm_.size(); ++peer) {
      for (std::int64_t i = 0; i < receive_[static_cast<std::size_t>(peer)]; ++i) {
        if (result[place++] == word(peer, comm_.rank(), i)) continue;
        std::fprintf(stderr, "%s: rank %d has wrong data from rank %d\n", name.c_str(), comm_.rank(), peer);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
    variants_.push_back({name, percent, std::move(call), {}});
  }

  quadrille::Communicator& comm_;
  Options options_;
  bool symmetric_;
  Sizes sizes_;
  std::vector<std::int64_t> send_;
  std::vector<std::int64_t> receive_;
  std::vector<int> send_counts_;
  std::vector<int> send_at_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_at_;
  std::vector<Word> data_;
  std::vector<Word> other_;
  std::vector<Variant> variants_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    quadrille::Communicator comm(MPI_COMM_WORLD);
    const Options options = parse_options(argc, argv);
    quadrille::draw::Plot plot;
    plot.heading = "In-place all-to-all: time against memory";
    plot.subheading = std::to_string(comm.size()) + " ranks, " + std::to_string(options.bytes >> 20U) +
                      " MiB a rank in messages of random sizes; medians of " + std::to_string(options.rounds);
    plot.x = {"extra memory, % of the data", quadrille::draw::Quantity::number};
    plot.y = {"time", quadrille::draw::Quantity::seconds};
    std::ostringstream json;
    for (const std::string& kind : options.kinds) {
      const bool symmetric = kind == "symmetric";
      Benchmark benchmark(comm, options, symmetric);
      benchmark.add_native();
      for (const std::string& order : symmetric ? options.orders : std::vector<std::string>{}) {
        for (const double percent : options.memory) benchmark.add_symmetric(order, percent);
      }
      for (const double percent : options.memory) benchmark.add_irregular(percent);
      benchmark.run();
      if (comm.rank() != 0) continue;
      benchmark.print();
      json << (json.tellp() == 0 ? "[" : ",\n");
      benchmark.write(json);
      plot.panels.push_back(benchmark.panel());
    }
    if (comm.rank() == 0 && !options.json.empty()) std::ofstream(options.json) << json.str() << "]\n";
    if (comm.rank() == 0 && !options.svg.empty()) std::ofstream(options.svg) << quadrille::draw::plot(plot);
  }
  MPI_Finalize();
  return 0;
}
