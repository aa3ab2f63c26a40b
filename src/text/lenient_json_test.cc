#include "text/lenient_json.h"

#include <gtest/gtest.h>

namespace text {
namespace {

TEST(ParseJsonLeniently, HalfOfASurrogatePairIsNoCharacter) {
  const std::string none = "\xEF\xBF\xBD";
  EXPECT_EQ(*ParseJsonLeniently(
                R"(["\\\ud83d\ude00", "\uD800", "a\udcffb\ud83d", "\ud83d\ud83d\ude00"])"),
            (Json{"\\\xF0\x9F\x98\x80", none, "a" + none + "b" + none, none + "\xF0\x9F\x98\x80"}));
  EXPECT_FALSE(ParseJsonLeniently(R"("\ud8zz")"));
  EXPECT_FALSE(ParseJsonLeniently(R"("\ud83d\uzzzz")"));
  EXPECT_EQ(*ParseJsonLeniently("\"a\xff\""), Json("a" + none));
  EXPECT_FALSE(ParseJson(R"("\ud800")"));
}

TEST(ParseJsonLeniently, WhatPythonWritesForNoNumberIsNull) {
  EXPECT_EQ(
      *ParseJsonLeniently(R"({"loss": NaN, "a\"NaN": "-Infinity", "l": [Infinity, -Infinity, 1]})"),
      (Json{{"loss", nullptr}, {"a\"NaN", "-Infinity"}, {"l", {nullptr, nullptr, 1}}}));
  EXPECT_FALSE(ParseJsonLeniently("nan"));
  EXPECT_FALSE(ParseJsonLeniently("\"NaN\\"));
}

}  // namespace
}  // namespace text
