#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <quadrille/detail/handle.hpp>
#include <quadrille/options.hpp>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "engine/context.hpp"
#include "engine/window.hpp"

namespace quadrille::detail {

// What windows of C++ and C are made of: memory that the ranks of a communicator have in windows, or, where all have
// agreed that they can't, in plain memory.
class Exposed {
 public:
  // Collective. Null: memory of its own. Throws Error, on all ranks alike but for arguments that are wrong on some.
  Exposed(std::shared_ptr<engine::Context> context, void* memory, std::int64_t bytes);
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;
  // Collective.
  ~Exposed();

  std::byte* memory() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }
  bool one_sided() const { return trouble_.empty(); }
  // In words.
  std::string transport() const;

  // A call, the same on every rank: bytes of the data, or of a block where there is one of each rank.
  struct Call {
    Collective collective = Collective::barrier;
    Rank root = 0;
    std::int64_t offset = 0;
    std::int64_t count = 0;
  };
  void run(const Call& call, const Options& options);
  // Ready to start.
  Handle prepare(const Call& call, const Options& options);

 private:
  // Plain memory of its own, on all ranks or none.
  void allocate();
  std::int64_t least(std::int64_t own) const;
  // Bytes of the whole range.
  std::int64_t range(const Call& call) const;
  void refuse(const Call& call) const;
  Case case_of(const Call& call, Form form) const;
  // How a call is run through the window; native: it goes by messages.
  Decision decide(const Case& asked, const Options& options) const;
  std::unique_ptr<engine::Task> task(const Call& call, const Case& asked, const Decision& decision) const;
  detail::Call by_messages(const Call& call) const;

  std::shared_ptr<engine::Context> context_;
  std::byte* memory_;
  std::int64_t bytes_;
  std::int64_t common_bytes_ = 0;  // that every rank has
  std::shared_ptr<engine::Window> window_;
  std::vector<std::byte> plain_;  // memory of its own without a window
  std::string trouble_;           // why there is no window
};

}  // namespace quadrille::detail
