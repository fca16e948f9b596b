#pragma once

#include <string>

namespace quadrille::measure {

// Whether the file has to be written directly: it exists and is not a regular file, but a device or a pipe.
bool is_stream(const std::string& path);

// Whether replace_file would succeed now.
bool is_replaceable(const std::string& path);

// Writes the text to PATH.new and renames that, so that at any moment the file has the old text or the new one, whole.
// A link is followed; a stream is written directly. Throws std::runtime_error.
void replace_file(const std::string& path, const std::string& text);

}  // namespace quadrille::measure
