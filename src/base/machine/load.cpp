#include "machine/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "machine/host.hpp"

namespace quadrille::machine {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Without interrupts: those of the network are for the ranks as often as not.
double busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double user = 0;
  double nice = 0;
  double system = 0;
  double idle = 0;
  double waiting = 0;
  double interrupts = 0;
  double soft_interrupts = 0;
  double stolen = 0;
  if (!(stat >> word >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen)) return 0;
  return (user + nice + system + stolen) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

Load load() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {.busy = busy_seconds(), .own = seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

double processors() {
  return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::uint64_t identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  if (!(file >> boot)) boot = host_name();
  return std::hash<std::string>{}(boot);
}

}  // namespace quadrille::machine
