#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "select/selector.hpp"

namespace quadrille {

// Remembers what a selector has decided, so that calls which alternate cost no second look. Each case has one place,
// which the latest takes. Not thread-safe.
class Memo {
 public:
  const Decision& decide(const Selector& selector, const Case& asked, const Request& request) {
    Entry& entry = entries_[place(asked)];
    if (!entry.known || entry.asked != asked || entry.request != request) {
      entry = {true, asked, request, selector.decide(asked, request)};
    }
    return entry.decision;
  }

 private:
  struct Entry {
    bool known = false;
    Case asked;
    Request request;
    Decision decision;
  };

  static std::size_t place(const Case& asked) {
    const auto number = [](std::int64_t any) { return static_cast<std::uint64_t>(any); };
    const std::uint64_t all = static_cast<std::uint64_t>(asked.collective) + 32 * number(asked.operation) +
                              4096 * number(asked.root) + (number(asked.count) << 24U) + 7 * number(asked.unit_bytes);
    return all * 0x9e3779b97f4a7c15U >> (64 - bits);
  }

  static constexpr unsigned bits = 6;
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << bits);
};

}  // namespace quadrille
