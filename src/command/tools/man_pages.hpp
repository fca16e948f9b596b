#pragma once

#include <filesystem>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace quadrille::tools {

// Writes a man page for each command, quadrille-cluster-up.1 and the like, of the same text as its --help.
void write_man_pages(const CLI::App& app, const std::filesystem::path& folder);

}  // namespace quadrille::tools
