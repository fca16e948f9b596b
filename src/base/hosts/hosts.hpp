#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quadrille::hosts {

// A host, and the ranks that may run on it.
struct Host {
  std::string name;
  int slots = 1;

  friend bool operator==(const Host&, const Host&) = default;
};

// A list of hosts as launchers take it: lines "node0", "node0 slots=4" or "node0:4"; one that is listed again has the
// slots of all its lines. # begins a comment. Throws std::invalid_argument with the file's name and the line.
std::vector<Host> parse_hosts(std::string_view text, const std::string& file);
// "16x4": node0 to node15, of 4 slots each. Nothing if the text is of another form.
std::vector<Host> numbered_hosts(std::string_view text);

// Whether two names are of one host: one may have a domain, and the other not.
bool same_host(std::string_view one, std::string_view other);

}  // namespace quadrille::hosts
