// The file: a line for each fact, by its first word. docs/reference/trace.md describes it.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>

#include "text/markup.hpp"
#include "trace/trace.hpp"

namespace quadrille::trace {

namespace {

constexpr std::string_view first_words = "quadrille trace ";
constexpr int version = 1;

std::string row_text(std::string_view what, Rank source, const std::map<Rank, Traffic>& row) {
  std::string out = fmt::format("{} {}", what, source);
  for (const auto& [destination, traffic] : row) {
    out += fmt::format(" {}:{}:{}", destination, traffic.messages, traffic.bytes);
  }
  return out + '\n';
}

std::string calls_text(const Kind& kind, const Calls& calls) {
  std::string out = fmt::format("calls {} {}", name(kind.collective), form_names[static_cast<std::size_t>(kind.form)]);
  if (kind.neighbours) out += " neighbours";
  if (kind.in_place) out += " in-place";
  if (!kind.commutative) out += " not-commutative";
  if (kind.rounded) out += " rounded";
  if (kind.root != 0) out += fmt::format(" root={}", kind.root);
  if (kind.count != 0) out += fmt::format(" count={}", kind.count);
  if (kind.unit_bytes != 1) out += fmt::format(" unit={}", kind.unit_bytes);
  out += fmt::format(" calls={} bytes={} seconds={:.6g} longest={:.6g}", calls.calls, calls.bytes, calls.seconds,
                     calls.longest);
  if (calls.waited > 0) out += fmt::format(" waited={:.6g}", calls.waited);
  out += '\n';
  for (const auto& [source, row] : calls.blocks) out += row_text("blocks", source, row);
  return out;
}

std::string communicator_text(const Communicator& communicator) {
  const std::string ranks = communicator.ranks.text();
  if (!communicator.inter()) return fmt::format("communicator {}\n", ranks);
  return fmt::format("communicator {} {}\n", ranks, communicator.remote.text());
}

std::string_view take_word(std::string_view& text, char end = ' ') {
  const std::string_view word = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

template <class Number>
Number number(std::string_view text) {
  Number value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(fmt::format("'{}' is not a number", text));
  }
  return value;
}

void read_row(std::string_view words, Pairs& pairs) {
  auto& row = pairs[number<Rank>(take_word(words))];
  while (!words.empty()) {
    std::string_view word = take_word(words);
    const auto destination = number<Rank>(take_word(word, ':'));
    const auto messages = number<std::int64_t>(take_word(word, ':'));
    row[destination] = {messages, number<std::int64_t>(word)};
  }
}

template <class Names>
std::optional<std::size_t> place_in(const Names& names, std::string_view word) {
  const auto place = std::find(names.begin(), names.end(), word);
  return place == names.end() ? std::nullopt : std::optional<std::size_t>(place - names.begin());
}

void read_call_word(std::string_view word, Kind& kind, Calls& calls) {
  const std::string_view name = take_word(word, '=');
  if (const auto form = place_in(form_names, name)) {
    kind.form = static_cast<Form>(*form);
  } else if (name == "neighbours") {
    kind.neighbours = true;
  } else if (name == "in-place") {
    kind.in_place = true;
  } else if (name == "not-commutative") {
    kind.commutative = false;
  } else if (name == "rounded") {
    kind.rounded = true;
  } else if (name == "root") {
    kind.root = number<Rank>(word);
  } else if (name == "count") {
    kind.count = number<std::int64_t>(word);
  } else if (name == "unit") {
    kind.unit_bytes = number<std::int64_t>(word);
  } else if (name == "calls") {
    calls.calls = number<std::int64_t>(word);
  } else if (name == "bytes") {
    calls.bytes = number<std::int64_t>(word);
  } else if (name == "seconds") {
    calls.seconds = number<double>(word);
  } else if (name == "longest") {
    calls.longest = number<double>(word);
  } else if (name == "waited") {
    calls.waited = number<double>(word);
  } else {
    throw std::invalid_argument(fmt::format("unknown word '{}'", name));
  }
}

class Reader {
 public:
  void read(std::string_view line) {
    const std::string_view what = take_word(line);
    if (what == "program") {
      trace_.program = line;
    } else if (what == "mpi") {
      trace_.mpi = line;
    } else if (what == "host") {
      trace_.host = line;
    } else if (what == "date") {
      trace_.date = line;
    } else if (what == "ranks") {
      trace_.ranks = number<Rank>(line);
    } else if (what == "rank") {
      read_times(line);
    } else if (what == "messages") {
      read_row(line, trace_.messages);
    } else if (what == "communicator") {
      Communicator communicator{Ranks::parse(take_word(line))};
      if (!line.empty()) communicator.remote = Ranks::parse(line);
      kinds_ = &trace_.collectives[communicator];
      calls_ = nullptr;
    } else if (what == "calls") {
      read_calls(line);
    } else if (what == "blocks") {
      if (!calls_) throw std::invalid_argument("blocks without calls before them");
      read_row(line, calls_->blocks);
    } else {
      throw std::invalid_argument(fmt::format("unknown word '{}'", what));
    }
  }
  Trace take() { return std::move(trace_); }

 private:
  void read_times(std::string_view words) {
    RankTimes& times = trace_.times[number<Rank>(take_word(words))];
    times.wall = number<double>(take_word(words));
    for (double& one : times.spent) one = number<double>(take_word(words));
  }

  void read_calls(std::string_view words) {
    if (!kinds_) throw std::invalid_argument("calls without a communicator before them");
    const std::string_view name = take_word(words);
    const auto collective = collective_named(name);
    if (!collective) throw std::invalid_argument(fmt::format("unknown collective '{}'", name));
    Kind kind{.collective = *collective};
    Calls calls;
    while (!words.empty()) read_call_word(take_word(words), kind, calls);
    calls_ = &((*kinds_)[kind] = calls);
  }

  Trace trace_;
  std::map<Kind, Calls>* kinds_ = nullptr;  // of the last communicator
  Calls* calls_ = nullptr;                  // the last ones
};

void check_rank(Rank rank, Rank ranks) {
  if (rank < 0 || rank >= ranks) throw std::invalid_argument(fmt::format("rank {} of {}", rank, ranks));
}

void check_pairs(const Pairs& pairs, Rank sources, Rank destinations) {
  for (const auto& [source, row] : pairs) {
    check_rank(source, sources);
    for (const auto& [destination, traffic] : row) check_rank(destination, destinations);
  }
}

// Messages may leave the program's own ranks.
void check_messages(const Pairs& pairs, Rank ranks) {
  for (const auto& [source, row] : pairs) {
    check_rank(source, ranks);
    for (const auto& [destination, traffic] : row) {
      if (destination != another_world) check_rank(destination, ranks);
    }
  }
}

void check_call(const Kind& kind, const Calls& calls, const Communicator& communicator) {
  if (kind.root < 0) throw std::invalid_argument(fmt::format("root {}", kind.root));
  if (!communicator.ranks.empty() && !communicator.inter()) check_rank(kind.root, communicator.ranks.size());
  for (const std::int64_t one : {kind.count, kind.unit_bytes, calls.calls, calls.bytes}) {
    if (one < 0) throw std::invalid_argument(fmt::format("{} is no count of a call", one));
  }
}

// Whoever reads a trace may use its ranks as places.
void check_ranks(const Trace& trace) {
  for (const auto& [rank, times] : trace.times) check_rank(rank, trace.ranks);
  check_messages(trace.messages, trace.ranks);
  for (const auto& [communicator, kinds] : trace.collectives) {
    const Rank ranks = communicator.ranks.size();
    if (ranks > trace.ranks) throw std::invalid_argument("a communicator of more ranks than there are");
    for (const Rank rank : communicator.ranks.list()) check_rank(rank, trace.ranks);
    // Of one whose ranks are not known, blocks may be of any.
    const Rank sources = ranks > 0 ? ranks : std::numeric_limits<Rank>::max();
    const Rank destinations = communicator.inter() ? communicator.remote.size() : sources;
    for (const auto& [kind, calls] : kinds) {
      check_call(kind, calls, communicator);
      check_pairs(calls.blocks, sources, destinations);
    }
  }
}

}  // namespace

std::string to_text(const Trace& trace) {
  std::string out = fmt::format("{}{}\n", first_words, version);
  const auto add = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) out += fmt::format("{} {}\n", what, text::printable(value));
  };
  add("program", trace.program);
  add("mpi", trace.mpi);
  add("host", trace.host);
  add("date", trace.date);
  out += fmt::format("ranks {}\n", trace.ranks);
  for (const auto& [rank, times] : trace.times) {
    out += fmt::format("rank {} {:.6g}", rank, times.wall);
    for (const double seconds : times.spent) out += fmt::format(" {:.6g}", seconds);
    out += '\n';
  }
  for (const auto& [source, row] : trace.messages) out += row_text("messages", source, row);
  for (const auto& [communicator, kinds] : trace.collectives) {
    out += communicator_text(communicator);
    for (const auto& [kind, calls] : kinds) out += calls_text(kind, calls);
  }
  return out;
}

Trace from_text(std::string_view text) {
  Reader reader;
  for (std::int64_t at = 1; !text.empty(); ++at) {
    const std::string_view line = take_word(text, '\n');
    if (at == 1) {
      if (!line.starts_with(first_words)) throw std::invalid_argument("no trace of quadrille");
      if (line.substr(first_words.size()) != std::to_string(version)) {
        throw std::invalid_argument(fmt::format("a trace of another version than {}", version));
      }
      continue;
    }
    try {
      reader.read(line);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("line {}: {}", at, error.what()));
    }
  }
  Trace trace = reader.take();
  if (trace.ranks < 1) throw std::invalid_argument("a trace without ranks");
  check_ranks(trace);
  return trace;
}

Trace read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument(fmt::format("can't read {}", path));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  try {
    return from_text(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace quadrille::trace
