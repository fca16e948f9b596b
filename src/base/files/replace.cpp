#include "files/replace.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>
#include <system_error>

namespace quadrille::files {

namespace {

namespace fs = std::filesystem;

bool is_named_as_open(std::string_view path) {
  constexpr std::array<std::string_view, 3> folders = {"/dev/std", "/dev/fd/", "/proc/"};
  return std::any_of(folders.begin(), folders.end(), [&](std::string_view one) { return path.starts_with(one); });
}

// The file itself, if the path is a link: also one that isn't there.
fs::path target_of(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel's
  fs::path target = path;
  std::error_code error;
  for (int links = 0; links < most_links && fs::is_symlink(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;
  }
  return target;
}

// Processes of other nodes and containers may have the same number.
fs::path beside(const fs::path& target) {
  static const unsigned random = std::random_device{}();
  return target.string() + ".new-" + std::to_string(getpid()) + '-' + std::to_string(random);
}

// A file that may not be written is not replaced either, though its folder would permit it.
bool is_protected(const fs::path& target) {
  std::error_code error;
  return fs::exists(target, error) && !std::ofstream(target, std::ios::app);
}

std::error_code last_error() {
  return errno != 0 ? std::error_code(errno, std::generic_category()) : std::make_error_code(std::errc::io_error);
}

// Behind what has been printed: to open it by its name would begin at the start of the file that it is redirected to.
std::error_code write(std::FILE* open, const std::string& text) {
  errno = 0;
  const bool good = std::fwrite(text.data(), 1, text.size(), open) == text.size() && std::fflush(open) == 0;
  return good ? std::error_code() : last_error();
}

std::error_code write(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path);
  file << text;
  file.close();
  return file.good() ? std::error_code() : last_error();
}

std::error_code write_stream(const std::string& path, const std::string& text) {
  if (path == "/dev/stdout") return write(stdout, text);
  return path == "/dev/stderr" ? write(stderr, text) : write(fs::path(path), text);
}

std::error_code write_and_rename(const fs::path& target, const std::string& text) {
  if (is_protected(target)) return std::make_error_code(std::errc::permission_denied);
  std::error_code ignored;
  const fs::path draft = beside(target);
  std::error_code error = write(draft, text);
  const fs::file_status before = fs::status(target, ignored);
  if (!error && fs::exists(before)) fs::permissions(draft, before.permissions(), error);
  if (!error) fs::rename(draft, target, error);
  if (error) fs::remove(draft, ignored);
  return error;
}

}  // namespace

bool is_stream(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) && (is_named_as_open(path) || !fs::is_regular_file(path, error));
}

bool is_replaceable(const std::string& path) {
  const fs::path target = target_of(path);
  if (is_protected(target)) return false;
  if (is_stream(path)) return true;
  if (!std::ofstream(beside(target), std::ios::app)) return false;
  std::error_code error;
  fs::remove(beside(target), error);
  return !error;
}

void replace_file(const std::string& path, const std::string& text) {
  const std::error_code error = is_stream(path) ? write_stream(path, text) : write_and_rename(target_of(path), text);
  if (error) throw std::system_error(error, "can't write " + path);
}

std::string keep_old(const std::string& path) {
  std::error_code error;
  if (is_stream(path) || !fs::is_regular_file(path, error)) return {};
  const std::string old = target_of(path).string() + ".old";
  fs::copy_file(path, old, fs::copy_options::overwrite_existing, error);
  return error ? std::string() : old;
}

void remove_file(const std::string& path) {
  std::error_code none;
  fs::remove(target_of(path), none);
}

}  // namespace quadrille::files
