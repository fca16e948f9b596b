#include "interpose/command_line.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace quadrille::interpose {

std::string command_line() {
  constexpr std::size_t most = 1000;
  std::ifstream file("/proc/self/cmdline");
  std::string line(std::istreambuf_iterator<char>(file), {});
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  if (line.size() > most) line = line.substr(0, most) + "...";
  return line;
}

}  // namespace quadrille::interpose
