#pragma once

#include <string>

namespace quadrille::files {

// Whether the file has to be written directly: it exists and is a device or a pipe, or it is named as one that is open
// (/dev/stdout), to which others may be writing.
bool is_stream(const std::string& path);

// Whether replace_file would succeed now.
bool is_replaceable(const std::string& path);

// Writes the text to a file beside PATH and renames that, so that at any moment the file has the old text or a new one,
// whole, also if several processes replace it. A link is followed; a stream is written directly. Throws
// std::system_error.
void replace_file(const std::string& path, const std::string& text);

// Copies a regular file to NAME.old, which it returns; empty if it can't.
std::string keep_old(const std::string& path);

// Removes what replace_file would replace, if it is there.
void remove_file(const std::string& path);

}  // namespace quadrille::files
