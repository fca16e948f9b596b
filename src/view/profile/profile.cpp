#include "profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/quantities.hpp"

namespace quadrille::profile {

std::size_t size_class(std::int64_t bytes) {
  return static_cast<std::size_t>(std::lower_bound(size_bounds.begin(), size_bounds.end(), bytes) -
                                  size_bounds.begin());
}

std::string Communicator::title() const {
  if (ranks == 0) return name.empty() ? "others" : name;
  const std::string many = count > 1 ? fmt::format(" x {}", text::count(count)) : "";
  const bool own_name = name == "MPI_COMM_WORLD" || name == "MPI_COMM_SELF";
  if (own_name) return name;
  return fmt::format("{}, {} rank{}{}", name.empty() ? "unnamed" : name, text::count(ranks), ranks == 1 ? "" : "s",
                     many);
}

double Profile::in_collectives() const {
  double sum = 0;
  for (const CollectiveTime& one : collectives) sum += one.mean_seconds;
  return sum;
}

double Profile::weight(const Learned& one) const {
  return one.ranks > 0 && one.ranks < ranks ? static_cast<double>(one.ranks) / ranks : 1;
}

double Profile::saved_seconds() const {
  double sum = 0;
  for (const Learned& one : learned) sum += weight(one) * one.saved_seconds;
  return sum;
}

double Profile::learned_native_seconds() const {
  double sum = 0;
  for (const Learned& one : learned) sum += weight(one) * static_cast<double>(one.calls) * one.native_seconds;
  return sum;
}

std::string range_text(std::int64_t from, std::int64_t to) {
  if (from == to) return text::bytes(to);
  const std::string last = text::bytes(to);
  const std::string end = text::bytes(to + 1);
  return end.size() < last.size() ? fmt::format("{} to below {}", text::bytes(from), end)
                                  : fmt::format("{} to {}", text::bytes(from), last);
}

std::string about_seconds(double seconds) {
  if (seconds == 0) return "0 s";
  const double unit = std::pow(10, std::floor(std::log10(std::abs(seconds))) - 1);
  return text::short_seconds(std::round(seconds / unit) * unit);
}

std::string saved_text(const Profile& profile) {
  if (profile.learned.empty()) return "";
  const double saved = profile.saved_seconds();
  return fmt::format("{} about {} of {} against the MPI's own as measured", saved < 0 ? "lost" : "saved",
                     about_seconds(std::abs(saved)), about_seconds(profile.learned_native_seconds()));
}

}  // namespace quadrille::profile
