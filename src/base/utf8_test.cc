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

}  // namespace
}  // namespace base
