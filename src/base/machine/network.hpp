#pragma once

#include <cstdint>
#include <string>

namespace quadrille::machine {

// The network that connects this node with others, as the system shows it.
struct Network {
  enum class Kind : std::uint8_t { ethernet, infiniband, slingshot, omni_path };

  Kind kind = Kind::ethernet;
  std::int64_t megabits = 0;  // a second; 0: unknown
};

// The fastest that is up.
Network network();

// "ethernet-10000", "infiniband".
std::string name_of(const Network& network);

}  // namespace quadrille::machine
