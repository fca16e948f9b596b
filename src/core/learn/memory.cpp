#include "learn/memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "files/replace.hpp"
#include "machine/host.hpp"
#include "text/markup.hpp"
#include "text/quantities.hpp"

namespace quadrille::learn {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".table";
constexpr std::string_view draft = ".table.new-";  // of files::replace_file
constexpr std::size_t usual_files = 32;            // more are merged
constexpr std::size_t most_files = 1024;
constexpr std::size_t most_findings = 16384;
constexpr std::int64_t most_bytes = 4 << 20;  // of a file: more than so many findings take
constexpr std::int64_t most_bytes_in_all = 64 << 20;
constexpr auto age_of_drafts = std::chrono::hours(24);  // of processes that ended while they wrote

// By which a job's file is known. It is the job's start that its age counts from.
std::string own_stem() {
  static const auto& start = *new std::string([] {
    std::string text = text::utc_now();
    std::erase_if(text, [](char one) { return one == '-' || one == ':'; });
    return text;
  }());
  // Containers may have the same names and process numbers.
  static const unsigned random = std::random_device{}();
  std::string host = machine::host_name();
  std::replace(host.begin(), host.end(), '/', '-');
  return fmt::format("{}-{}-{}-{:08x}", start, host, getpid(), random);
}

// Where a process may write no more than so much, the system would end it.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutSizeSignal() {
    const timespec at_once = {};
    if (sigismember(&before_, SIGXFSZ) == 0) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  sigset_t signal_ = {};
  sigset_t before_ = {};
};

// The text of a file, or why there is none.
struct Text {
  std::string text;
  std::string wrong;
  bool gone = false;  // since the folder was listed
};

std::string wrong_with(const struct stat& of) {
  if (!S_ISREG(of.st_mode)) return "is not a regular file";
  if (of.st_uid != geteuid() && of.st_uid != 0) return "belongs to another user";
  if (of.st_size > most_bytes) return fmt::format("has more than {} bytes", most_bytes);
  return "";
}

Text text_without_number(int error) {
  const bool gone = error == ENOENT || error == ESTALE;
  return {.text = {}, .wrong = gone ? "" : std::generic_category().message(error), .gone = gone};
}

// A link is not followed, and what might wait or take notice is not opened.
Text text_of(const std::string& path) {
  struct stat of = {};
  if (lstat(path.c_str(), &of) != 0) return text_without_number(errno);
  if (std::string wrong = wrong_with(of); !wrong.empty()) return {.text = {}, .wrong = std::move(wrong)};
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return text_without_number(errno);
  Text result;
  if (fstat(file, &of) == 0) result.wrong = wrong_with(of);
  std::array<char, 1 << 16> piece = {};
  while (result.wrong.empty()) {
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) result = text_without_number(errno);
    if (got <= 0) break;
    result.text.append(piece.data(), static_cast<std::size_t>(got));
    if (std::ssize(result.text) > most_bytes) result.wrong = fmt::format("has more than {} bytes", most_bytes);
  }
  close(file);
  return result;
}

// What is in a file.
struct Content {
  std::vector<Finding> findings;
  std::int64_t bytes = 0;
  std::string wrong;
  bool gone = false;

  // Nothing else is in it.
  bool whole() const { return !gone && wrong.empty(); }
};

Content content_of(const fs::path& path) {
  Text file = text_of(path);
  Content content{.findings = {}, .bytes = std::ssize(file.text), .wrong = std::move(file.wrong), .gone = file.gone};
  const std::string shown = text::printable(path.native());
  if (content.gone || file.text.empty() || !content.wrong.empty()) {
    if (!content.wrong.empty()) content.wrong = fmt::format("{} {}", shown, content.wrong);
    return content;
  }
  try {
    std::vector<std::string> complaints;
    content.findings = findings_in(parse_table(file.text, shown, complaints));
    if (!complaints.empty()) content.wrong = complaints.front();
  } catch (const std::exception& error) {
    content.wrong = error.what();
  }
  return content;
}

// The names of all files, the newest first; nothing if there is no folder.
struct Listing {
  std::vector<std::string> tables;
  std::vector<std::string> drafts;
  std::string wrong;
};

Listing listing_of(const std::string& folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator one(folder, error);
  for (; !error && one != fs::directory_iterator(); one.increment(error)) {
    std::string name = one->path().filename();
    if (name.starts_with('.')) continue;
    if (name.find(draft) != std::string::npos) {
      listing.drafts.push_back(std::move(name));
    } else if (name.ends_with(suffix)) {
      listing.tables.push_back(std::move(name));
    }
    if (listing.tables.size() + listing.drafts.size() < 16 * most_files) continue;
    listing.wrong = fmt::format("{} has more files than are read", text::printable(folder));
    break;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    listing.wrong = fmt::format("{}: {}", text::printable(folder), error.message());
  }
  std::sort(listing.tables.rbegin(), listing.tables.rend());
  return listing;
}

// One reading of all files; `gone`: others were merging them, and something may have been missed.
struct Reading {
  Recalled recalled;
  std::size_t skipped = 0;
  std::string first;
  bool gone = false;

  void skip(const std::string& why) {
    if (skipped++ == 0) first = why;
  }
};

Reading read_all(const std::string& folder, std::string_view mpi) {
  Reading reading;
  Listing listing = listing_of(folder);
  if (!listing.wrong.empty()) reading.skip(listing.wrong);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < listing.tables.size(); ++i) {
    if (i == most_files || bytes > most_bytes_in_all) {
      reading.skip(fmt::format("{} has more files than are read", text::printable(folder)));
      break;
    }
    Content content = content_of(fs::path(folder) / listing.tables[i]);
    reading.gone |= content.gone;
    bytes += content.bytes;
    if (!content.wrong.empty()) reading.skip(content.wrong);
    reading.recalled.files += content.findings.empty() ? 0 : 1;
    for (Finding& one : content.findings) {
      if (mpi.empty() || one.mpi == mpi) reading.recalled.findings.push_back(std::move(one));
    }
  }
  return reading;
}

// What was written is there after a crash of the system, too. If somebody took it meanwhile, he sees to that.
void sync(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return;
  if (file < 0) throw std::system_error(errno, std::generic_category(), "can't open " + path);
  const int failed = fsync(file) != 0 && errno != EINVAL ? errno : 0;
  close(file);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "can't write " + path);
}

// Files that are to be merged into this process's own. Each is renamed before it is read, so that nobody else writes to
// it or takes it, and is removed when all of them have been written; its name remains one that others read and merge.
class Merger {
 public:
  explicit Merger(const std::string& folder) : folder_(folder), stem_(own_stem()) {}

  std::string own_name() const { return stem_ + std::string(suffix); }
  fs::path own_path() const { return folder_ / own_name(); }

  // Nothing if somebody else took it.
  std::optional<Content> take(const std::string& name) {
    static int number = 0;
    const fs::path path = folder_ / fmt::format("{}.taken-{}{}", stem_, ++number, suffix);
    std::error_code error;
    fs::rename(folder_ / name, path, error);
    if (error) return std::nullopt;
    Content content = content_of(path);
    if (content.gone) return std::nullopt;
    taken_.push_back(path);
    return content;
  }

  // Without findings there is no file.
  void write(std::vector<Finding> findings) {
    std::error_code ignored;
    findings = merged(std::move(findings), text::utc_now(), most_findings);
    if (!findings.empty()) {
      files::replace_file(own_path(), to_text(table_of(findings)));
      if (!taken_.empty()) {
        sync(own_path());
        sync(folder_);
      }
    } else {
      fs::remove(own_path(), ignored);
    }
    for (const fs::path& path : taken_) fs::remove(path, ignored);
    taken_.clear();
  }

 private:
  fs::path folder_;
  std::string stem_;
  std::vector<fs::path> taken_;
};

void remove_drafts(const std::string& folder, const std::vector<std::string>& drafts) {
  std::error_code error;
  for (const std::string& name : drafts) {
    const fs::path path = fs::path(folder) / name;
    const fs::file_time_type written = fs::last_write_time(path, error);
    if (!error && fs::file_time_type::clock::now() - written > age_of_drafts) fs::remove(path, error);
  }
}

// What can't be read whole stays: a newer version may have written it.
void merge_older(const std::string& folder, Merger& merger) {
  const Listing listing = listing_of(folder);
  if (listing.tables.size() <= usual_files) return;
  std::vector<Finding> all = content_of(merger.own_path()).findings;
  for (const std::string& name : listing.tables) {
    if (name >= merger.own_name() || !content_of(fs::path(folder) / name).whole()) continue;
    const std::optional<Content> content = merger.take(name);
    if (content) all.insert(all.end(), content->findings.begin(), content->findings.end());
  }
  merger.write(std::move(all));
  remove_drafts(folder, listing.drafts);
}

std::mutex& writing() {
  static auto& one = *new std::mutex;
  return one;
}

std::size_t forget_all(const std::string& folder, std::string& complaint) {
  std::size_t findings = 0;
  Listing listing = listing_of(folder);
  complaint = listing.wrong;
  listing.tables.insert(listing.tables.end(), listing.drafts.begin(), listing.drafts.end());
  for (const std::string& name : listing.tables) {
    const fs::path path = fs::path(folder) / name;
    const std::size_t here = name.ends_with(suffix) ? content_of(path).findings.size() : 0;
    std::error_code error;
    const bool removed = fs::remove(path, error);
    if (removed) findings += here;
    if (error) complaint = fmt::format("{}: {}", text::printable(path.native()), error.message());
  }
  return findings;
}

}  // namespace

Recalled recall(const std::string& folder, std::string_view mpi) {
  if (folder.empty()) return {};
  try {
    constexpr int attempts = 5;
    Reading reading = read_all(folder, mpi);
    for (int i = 1; i < attempts && reading.gone; ++i) reading = read_all(folder, mpi);
    Recalled recalled = std::move(reading.recalled);
    recalled.findings = merged(std::move(recalled.findings), text::utc_now(), most_findings);
    if (reading.skipped > 0) {
      recalled.complaint = reading.first;
      if (reading.skipped > 1) recalled.complaint += fmt::format("; {} more files likewise", reading.skipped - 1);
      recalled.complaint += ": skipped; quadrille knows --forget removes all that was learned";
    }
    return recalled;
  } catch (const std::exception& error) {
    return {.findings = {}, .files = 0, .complaint = fmt::format("{}: {}", text::printable(folder), error.what())};
  }
}

std::string remember(const std::string& folder, std::vector<Finding> findings) {
  if (folder.empty() || findings.empty()) return "";
  try {
    const std::lock_guard lock(writing());
    const WithoutSizeSignal no_signal;
    for (Finding& one : findings) {
      if (!is_time(one.when)) one.when = text::utc_now();
    }
    if (fs::create_directories(folder)) fs::permissions(folder, fs::perms::owner_all);
    Merger merger(folder);
    const std::vector<Finding> before = content_of(merger.own_path()).findings;
    findings.insert(findings.end(), before.begin(), before.end());
    merger.write(std::move(findings));
    merge_older(folder, merger);
    return "";
  } catch (const std::exception& error) {
    return fmt::format("what was learned is not remembered: {}", text::printable(error.what()));
  }
}

Forgotten forget(const std::string& folder, const std::function<bool(const Finding&)>& which) {
  Forgotten forgotten;
  if (folder.empty()) return forgotten;
  try {
    const std::lock_guard lock(writing());
    if (!which) {
      forgotten.findings = forget_all(folder, forgotten.complaint);
      return forgotten;
    }
    const WithoutSizeSignal no_signal;
    Merger merger(folder);
    std::vector<Finding> kept;
    for (const std::string& name : listing_of(folder).tables) {
      const std::vector<Finding> here = content_of(fs::path(folder) / name).findings;
      if (std::none_of(here.begin(), here.end(), which)) continue;
      std::optional<Content> content = merger.take(name);
      if (!content) continue;
      forgotten.findings += std::erase_if(content->findings, which);
      kept.insert(kept.end(), content->findings.begin(), content->findings.end());
    }
    const std::vector<Finding> own = content_of(merger.own_path()).findings;
    kept.insert(kept.end(), own.begin(), own.end());
    merger.write(std::move(kept));
  } catch (const std::exception& error) {
    forgotten.findings = 0;
    forgotten.complaint = fmt::format("not all is forgotten: {}", text::printable(error.what()));
  }
  return forgotten;
}

}  // namespace quadrille::learn
