#include "text/quantities.hpp"

#include <gtest/gtest.h>

namespace quadrille::text {
namespace {

TEST(Quantities, BytesAreExact) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1000), "1000 B");
  EXPECT_EQ(bytes(65536), "64 KiB");
  EXPECT_EQ(bytes(std::int64_t{3} << 30), "3 GiB");
}

TEST(Quantities, ApproximateBytesHaveOneDecimal) {
  EXPECT_EQ(about_bytes(1000), "1000 B");
  EXPECT_EQ(about_bytes(1536), "1.5 KiB");
  EXPECT_EQ(about_bytes(1 << 20), "1.0 MiB");
}

TEST(Quantities, SecondsHaveThreeDigits) {
  EXPECT_EQ(seconds(0), "0.00 ns");
  EXPECT_EQ(seconds(12.34e-6), "12.3 µs");
  EXPECT_EQ(seconds(9.996e-6), "10.0 µs");
  EXPECT_EQ(seconds(999.6e-6), "1.00 ms");
  EXPECT_EQ(seconds(1234), "1234 s");
  EXPECT_EQ(rate(2.5e6), "2.5 MB/s");
  EXPECT_EQ(rate(999.6), "1 kB/s");
}

TEST(Quantities, TimesAreInUtc) {
  EXPECT_EQ(utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(utc_now().size(), utc(0).size());
}

TEST(Quantities, CountsHaveSeparators) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1000), "1,000");
  EXPECT_EQ(count(12345678), "12,345,678");
  EXPECT_EQ(count(-123456), "-123,456");
}

TEST(Quantities, SharesAreNeverRoundedToAllOrNothing) {
  EXPECT_EQ(share(0), "0 %");
  EXPECT_EQ(share(0.0001), "< 0.1 %");
  EXPECT_EQ(share(0.025), "2.5 %");
  EXPECT_EQ(share(0.344), "34 %");
  EXPECT_EQ(share(0.996), "99.6 %");
  EXPECT_EQ(share(0.9999), "> 99.9 %");
  EXPECT_EQ(share(1), "100 %");
}

TEST(Quantities, DurationsHaveTwoUnitsAtMost) {
  EXPECT_EQ(duration(0), "0 s");
  EXPECT_EQ(duration(0.2), "1 s");
  EXPECT_EQ(duration(59.5), "1 min");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 5 min");
  EXPECT_EQ(duration(3601), "1 h");
}

TEST(Quantities, ShortSecondsHaveNoTrailingZeros) {
  EXPECT_EQ(short_seconds(20e-6), "20 µs");
  EXPECT_EQ(short_seconds(1e-3), "1 ms");
  EXPECT_EQ(short_seconds(1000), "1000 s");
  EXPECT_EQ(short_seconds(2.5e-3), "2.5 ms");
}

}  // namespace
}  // namespace quadrille::text
