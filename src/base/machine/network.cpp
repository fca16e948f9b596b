#include "machine/network.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace quadrille::machine {

namespace {

namespace fs = std::filesystem;

// Calls visit(folder, name) for each device of a class.
template <class Visit>
void for_each_device(const char* device_class, Visit&& visit) {
  std::error_code error;
  for (fs::directory_iterator one(fs::path("/sys/class") / device_class, error), end; !error && one != end;
       one.increment(error)) {
    visit(one->path(), one->path().filename().string());
  }
}

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return line;
}

// "100 Gb/sec (4X EDR)".
std::int64_t megabits_of_rate(const std::string& rate) {
  return static_cast<std::int64_t>(1000 * std::strtod(rate.c_str(), nullptr));
}

}  // namespace

Network network() {
  // Of bridges and of pairs of virtual devices the speed means nothing, but in a container there may be no other. Of a
  // bond it is that of its ports together.
  std::int64_t of_hardware = 0;
  std::int64_t of_others = 0;
  for_each_device("net", [&](const fs::path& device, const std::string& name) {
    if (name == "lo" || first_line(device / "operstate") == "down") return;
    const std::int64_t speed = std::strtoll(first_line(device / "speed").c_str(), nullptr, 10);
    std::error_code error;
    const bool is_real = fs::exists(device / "device", error) || fs::exists(device / "bonding", error);
    std::int64_t& most = is_real ? of_hardware : of_others;
    most = std::max(most, speed);
  });
  Network fastest{.megabits = of_hardware > 0 ? of_hardware : of_others};
  std::int64_t of_ports = 0;
  for_each_device("infiniband", [&](const fs::path& device, const std::string& name) {
    std::error_code error;
    for (fs::directory_iterator port(device / "ports", error), end; !error && port != end; port.increment(error)) {
      const bool up = first_line(port->path() / "state").find("ACTIVE") != std::string::npos;
      const bool ethernet = first_line(port->path() / "link_layer") == "Ethernet";
      if (!up) continue;
      // Over converged Ethernet MPI bypasses the kernel, too.
      fastest.kind = name.starts_with("hfi1") ? Network::Kind::omni_path : Network::Kind::infiniband;
      const std::int64_t rate = megabits_of_rate(first_line(port->path() / "rate"));
      std::int64_t& most = ethernet ? fastest.megabits : of_ports;
      most = std::max(most, rate);
    }
  });
  if (of_ports > 0) fastest.megabits = of_ports;
  for_each_device("cxi", [&](const fs::path&, const std::string&) {
    fastest.kind = Network::Kind::slingshot;
    fastest.megabits = 200000;
  });
  return fastest;
}

std::string name_of(const Network& network) {
  constexpr std::string_view names[] = {"ethernet", "infiniband", "slingshot", "omni-path"};
  std::string name(names[static_cast<std::size_t>(network.kind)]);
  if (network.megabits > 0) name += '-' + std::to_string(network.megabits);
  return name;
}

}  // namespace quadrille::machine
