#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace quadrille::text {

// Exactly: "64 KiB", "1000 B".
std::string bytes(std::int64_t bytes);
// To one decimal: "1.5 MiB".
std::string about_bytes(std::int64_t bytes);

// With separators: "12,345".
std::string count(std::int64_t number);
// In percent, with a decimal near both ends: "34 %", "2.5 %", "< 0.1 %", "> 99.9 %".
std::string share(double share);

// To three digits: "12.3 µs".
std::string seconds(double seconds);
// The same without trailing zeros: "20 µs".
std::string short_seconds(double seconds);
// Of a run, in whole seconds rounded up or in minutes: "45 s", "3 min 20 s", "2 h 5 min".
std::string duration(double seconds);

// A time in UTC: "2026-11-15T12:00:00Z". The later one is the larger one.
std::string utc(std::time_t when);
std::string utc_now();

// Bytes per second, in powers of ten, without trailing zeros: "2.5 MB/s".
std::string rate(double bytes_a_second);

}  // namespace quadrille::text
