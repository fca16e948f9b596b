#include "settings/library.hpp"

#include <algorithm>

namespace quadrille {

namespace {

// The first line, with one blank where there are several or a tab.
std::string first_line(std::string_view text) {
  std::string line;
  for (const char letter : text.substr(0, text.find('\n'))) {
    const bool blank = letter == ' ' || letter == '\t';
    if (!blank) line += letter;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

std::string_view word_of(std::string_view text) {
  return text.substr(0, text.find(' '));
}

// What follows these words, without a blank; empty: they are not there.
std::string_view after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + words.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

}  // namespace

// "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0.2", "MVAPICH Version : 3.0",
// "MPI VERSION : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", "Intel(R) MPI Library 2021.9 for Linux* OS".
Library library_of(std::string_view version) {
  const std::string line = first_line(version);
  const std::string_view text = line;
  if (text.starts_with("Open MPI ")) return {Library::Abi::openmpi, std::string(text.substr(0, text.find(',')))};
  if (const auto cray = after(text, "CRAY MPICH version"); !cray.empty()) {
    return {Library::Abi::mpich, "Cray MPICH " + std::string(word_of(cray))};
  }
  if (const auto intel = after(text, "Intel(R) MPI Library"); !intel.empty()) {
    return {Library::Abi::mpich, "Intel MPI " + std::string(intel.substr(0, intel.find(" for ")))};
  }
  for (const std::string_view name : {"MPICH", "MVAPICH2", "MVAPICH"}) {
    if (word_of(text) != name) continue;
    std::string_view number = after(text, "Version");
    number.remove_prefix(std::min(number.find_first_not_of(": "), number.size()));
    return {Library::Abi::mpich, std::string(name) + ' ' + std::string(word_of(number))};
  }
  return {Library::Abi::other, std::string(text.substr(0, text.find(',')))};
}

}  // namespace quadrille
