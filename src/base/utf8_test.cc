#include "base/utf8.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(IsUtf8, AcceptsWholeSequencesOnly) {
  for (const char* good : {"", "a", "\xc3\xa4", "\xf0\x9f\x98\x80"}) EXPECT_TRUE(IsUtf8(good));
  for (const char* bad : {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80"}) EXPECT_FALSE(IsUtf8(bad));
}

TEST(AppendUtf8, WritesWholeSequences) {
  std::string text;
  for (const char32_t point : {U'a', U'\u00e4', U'\u20ac', U'\U0001f600'}) {
    AppendUtf8(point, text);
  }
  EXPECT_EQ(text, "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(FromMarkedUtf16, ConvertsWhatHasAMark) {
  using std::string_literals::operator""s;
  EXPECT_EQ(FromMarkedUtf16("\xff\xfe"s + "a\0\xe4\0\x3d\xd8\x00\xde\n\0"s),
            "a\xc3\xa4\xf0\x9f\x98\x80\n");
  EXPECT_EQ(FromMarkedUtf16("\xfe\xff\0a"s), "a");
  EXPECT_EQ(FromMarkedUtf16("\xff\xfe\x3d\xd8x\0y"s), "\xEF\xBF\xBDx");
  for (const char* plain : {"", "a", "\xff", "\xef\xbb\xbf x"}) {
    EXPECT_EQ(FromMarkedUtf16(plain), plain);
  }
}

}  // namespace
}  // namespace base
