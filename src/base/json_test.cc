#include "base/json.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Json, GoesThroughUnchanged) {
  for (const char* text :
       {R"({"a": [1, -2.5e3, true, null, "x\n\"\\"], "b": {}})", R"("\u001f")", "[]", "-0.5"}) {
    const auto value = ParseJson(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(WriteJson(*value), text);
  }
  EXPECT_EQ(ParseJson(R"("\u00e9\ud83d\ude00\ud800")")->text,
            "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
  EXPECT_EQ(JsonQuote("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_FALSE(ParseJson(std::string(100, '[') + std::string(100, ']')));
  for (const char* bad : {"\"", "{\"a\"}", "[1,]", "tru", "\"\\u12\"", "\"\\x\"", "{,}", "1 2"}) {
    EXPECT_FALSE(ParseJson(bad)) << bad;
  }
}

}  // namespace
}  // namespace base
