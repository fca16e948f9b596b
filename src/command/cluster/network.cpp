#include "cluster/network.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "launch/command.hpp"
#include "launch/system.hpp"

namespace quadrille::cluster {

namespace {

using launch::Descriptor;
using launch::require;

constexpr std::string_view core = "switch";

std::string rack_name(int rack) {
  return fmt::format("rack{}", rack);
}

// The two ends of a rack's link to the core: the rack's and the core's.
std::string uplink_end(int rack) {
  return fmt::format("up{}", rack);
}

std::string downlink_end(int rack) {
  return fmt::format("down{}", rack);
}

std::string bridge_lines(std::string_view name) {
  return fmt::format(
      "link add {0} type bridge forward_delay 0 stp_state 0\n"
      "link set {0} up\n",
      name);
}

// The burst may pass unshaped after a pause. A large one lets whole messages through: with 128 KiB, 64 KiB at 200
// Mbit/s took a fifth of the wire time; with 12 KiB 89 %, with 6 KiB 97 to 99 %. One below what the rate moves between
// two timer ticks of the kernel would throttle: with 3 KiB, 1 MiB took at least 105 %.
std::int64_t burst_of(std::int64_t rate) {
  constexpr std::int64_t least = 6 << 10;
  return std::max(least, rate / 8 / 10'000);
}

std::string shape_line(std::string_view interface, std::int64_t rate) {
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {} latency 200ms\n", interface, rate, burst_of(rate));
}

// Segmentation offload up to the size of the burst. Larger packets would be segmented at the shaper, and each segment
// would cost CPU time: a chain through 16 nodes on 2 cores took three times the wire time, with whole packets twice.
std::int64_t train_bytes(std::int64_t rate) {
  constexpr std::int64_t frame = 1514;
  constexpr std::int64_t payload = 1448;
  constexpr std::int64_t kept_for_headers = 400;
  constexpr std::int64_t most = 65536;
  return std::min(burst_of(rate) / frame * payload + kept_for_headers, most);
}

// Whether the kernel lacks the feature. If it fails for another reason, no module helps.
bool is_missing(const std::string& output) {
  const auto has = [&output](const char* part) { return output.find(part) != std::string::npos; };
  return has("Operation not supported") || has("Not supported") || has("Unknown device type") ||
         has("qdisc kind is unknown") || has("Specified qdisc not found") || has("No such file or directory");
}

// The missing feature, by the failed line and the program's output, and the remedy.
std::string remedy_for(const std::string& line, const std::string& output) {
  if (!is_missing(output)) return "";
  constexpr const char* text =
      "the kernel lacks {0}: load the module as root ('modprobe {1}'), or use a kernel with {2}";
  if (line.find("type bridge") != std::string::npos) return fmt::format(text, "bridges", "bridge", "CONFIG_BRIDGE");
  if (line.find("type veth") != std::string::npos) return fmt::format(text, "veth interfaces", "veth", "CONFIG_VETH");
  if (line.find(" tbf ") != std::string::npos) {
    return fmt::format(text, "the token bucket filter", "sch_tbf", "CONFIG_NET_SCH_TBF");
  }
  return "";
}

std::string line_of(const std::string& lines, int number) {
  std::istringstream text(lines);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(text, line);
  return line;
}

std::string in_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

ifreq request_for(const std::string& interface) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), IFNAMSIZ - 1);
  return request;
}

Descriptor any_socket() {
  Descriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  require(any.get(), "can't open a socket");
  return any;
}

}  // namespace

std::string address_of(int node) {
  constexpr int in_a_row = 250;
  return fmt::format("10.77.{}.{}", node / in_a_row, node % in_a_row + 1);
}

std::string switch_end(int node) {
  return fmt::format("n{}", node);
}

std::string switch_links(const Options& options, const std::vector<pid_t>& holders) {
  std::string lines = bridge_lines(core);
  for (int rack = 0; rack < options.racks; ++rack) {
    lines += bridge_lines(rack_name(rack));
    lines += fmt::format("link add {} type veth peer name {}\n", uplink_end(rack), downlink_end(rack));
    lines += fmt::format("link set {} master {} up\n", uplink_end(rack), rack_name(rack));
    lines += fmt::format("link set {} master {} up\n", downlink_end(rack), core);
  }
  for (int node = 0; node < options.nodes; ++node) {
    const std::string bridge = options.racks > 0 ? rack_name(rack_of(options, node)) : std::string(core);
    lines += fmt::format("link add {} type veth peer name eth0 netns {}\n", switch_end(node), holders.at(node));
    lines += fmt::format("link set {} master {} up\n", switch_end(node), bridge);
  }
  return lines;
}

std::string switch_shapes(const Options& options) {
  std::string lines;
  for (int node = 0; node < options.nodes; ++node) lines += shape_line(switch_end(node), rate_of(options, node));
  for (int rack = 0; rack < options.racks; ++rack) {
    const std::int64_t uplink = uplink_of(options, rack);
    lines += shape_line(uplink_end(rack), uplink) + shape_line(downlink_end(rack), uplink);
  }
  return lines;
}

std::string node_links(const Options& options, int node) {
  return fmt::format(
      "link set lo up\n"
      "addr add {}/16 brd + dev eth0\n"
      "link set eth0 gso_max_size {} up\n",
      address_of(node), train_bytes(rate_of(options, node)));
}

std::string node_shapes(const Options& options, int node) {
  return shape_line("eth0", rate_of(options, node));
}

std::string hosts_text(int nodes) {
  std::string text = "127.0.0.1 localhost\n";
  for (int node = 0; node < nodes; ++node) text += fmt::format("{} {}\n", address_of(node), node_name(node));
  return text;
}

void configure(const std::string& program, const std::string& lines) {
  const auto path = launch::find_program(program);
  if (!path) {
    throw std::runtime_error(fmt::format("the program {} was not found: install iproute2", program));
  }
  const launch::CommandResult done = launch::run({*path, "-batch", "-"}, lines);
  if (done.status == 0) return;
  // "Command failed -:3"
  std::smatch place;
  const bool known = std::regex_search(done.text, place, std::regex("Command failed -:([0-9]+)"));
  const std::string line = known ? line_of(lines, std::stoi(place[1])) : std::string("-batch -");
  const std::string output = in_one_line(known ? done.text.substr(0, place.position(0)) : done.text);
  const std::string remedy = remedy_for(line, output);
  throw std::runtime_error(
      fmt::format("'{} {}' failed: {}{}{}", program, line, output, remedy.empty() ? "" : "; ", remedy));
}

bool link_is_up(const std::string& interface) {
  ifreq request = request_for(interface);
  const Descriptor any = any_socket();
  require(ioctl(any.get(), SIOCGIFFLAGS, &request), fmt::format("can't query the interface {}", interface));
  return (request.ifr_flags & IFF_UP) != 0;
}

void set_link(const std::string& interface, bool up) {
  ifreq request = request_for(interface);
  const Descriptor any = any_socket();
  require(ioctl(any.get(), SIOCGIFFLAGS, &request), fmt::format("can't query the interface {}", interface));
  const int flags = up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
  request.ifr_flags = static_cast<short>(flags);
  require(ioctl(any.get(), SIOCSIFFLAGS, &request), fmt::format("can't set the interface {}", interface));
}

void set_up_stack() {
  const auto set = [](const std::string& name, const char* value) {
    std::ofstream("/proc/sys/net/" + name) << value << '\n';  // errors are ignored: the kernel may lack some
  };
  for (const char* which : {"all", "default"}) set(fmt::format("ipv6/conf/{}/disable_ipv6", which), "1");
  // What clusters use. The host's algorithm may pace its packets, as bbr does, and every message would wait for timers.
  // Inside a user's namespace it may be set only if the machine allows it (tcp_allowed_congestion_control).
  set("ipv4/tcp_congestion_control", "cubic");
  // A switch has no firewall.
  for (const char* which : {"ip", "ip6", "arp"}) set(fmt::format("bridge/bridge-nf-call-{}tables", which), "0");
}

}  // namespace quadrille::cluster
