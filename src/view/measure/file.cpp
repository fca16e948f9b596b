#include "measure/file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace quadrille::measure {

namespace {

namespace fs = std::filesystem;

// The file itself, if the path is a link.
fs::path target_of(const std::string& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : target;
}

fs::path beside(const fs::path& target) {
  return target.string() + ".new";
}

bool written(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file.good();
}

}  // namespace

bool is_stream(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

bool is_replaceable(const std::string& path) {
  const fs::path target = target_of(path);
  // A file that may not be written is not replaced either, though its folder would permit it.
  std::error_code error;
  const bool exists = fs::exists(target, error);
  if (exists && !std::ofstream(target, std::ios::app)) return false;
  if (is_stream(path)) return true;
  if (!std::ofstream(beside(target), std::ios::app)) return false;
  fs::remove(beside(target), error);
  return !error;
}

void replace_file(const std::string& path, const std::string& text) {
  const fs::path target = target_of(path);
  const bool direct = is_stream(path);
  bool done = written(direct ? target : beside(target), text);
  std::error_code error;
  if (done && !direct) fs::rename(beside(target), target, error);
  done &= !error;
  if (!done) throw std::runtime_error(fmt::format("can't write {}", path));
}

}  // namespace quadrille::measure
