#include "text/markup.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace quadrille::text {
namespace {

TEST(Markup, IsEscaped) {
  EXPECT_EQ(escaped("<b a=\"1\">&amp;</b>"), "&lt;b a=&quot;1&quot;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(escaped("12.3 µs\n"), "12.3 µs\n");
}

TEST(Markup, HasNoCharactersThatXmlDoesNotAllow) {
  using namespace std::string_view_literals;
  EXPECT_EQ(escaped("a\0b\x1b[31mc\x7f\xef\xbf\xbf"sv), "ab[31mc");
}

TEST(Markup, IsUtf8WhateverItWasMadeOf) {
  const std::string unknown = "\xef\xbf\xbd";
  EXPECT_EQ(escaped("a\xff<"), "a" + unknown + "&lt;");
  EXPECT_EQ(escaped("\xc3"), unknown);                              // cut off
  EXPECT_EQ(escaped("\xc0\xbc"), unknown + unknown);                // a longer way to write '<'
  EXPECT_EQ(escaped("\xed\xa0\x80"), unknown + unknown + unknown);  // a surrogate
  EXPECT_EQ(escaped("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

TEST(Markup, PrintableTextCannotMoveTheCursor) {
  EXPECT_EQ(printable("a\x1b[2Jb\nc\td"), "a?[2Jb?c?d");
  EXPECT_EQ(printable("µ\xff\xc2\x9b"), "µ??");
}

}  // namespace
}  // namespace quadrille::text
