#include "text/projection.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "text/testing/json_generator.h"

namespace text {
namespace {

constexpr std::string_view kPod =
    R"({"kind":"Pod","metadata":{"name":"a","labels":{"x":"1","y":"2"},
  "annotations":{"long\n":"\u00e9\ud83d\ude00"}},"spec":{"containers":[{"name":"c","env":[{"k":[1,2]}],
  "resources":{"limits":{"gpu":"1"}}},{"name":"d"}],"volumes":[[],[{}]]},"status":{"n":[1.5,-2,
  18446744073709551615,true,null]}})";

std::string Part(std::string_view text, const Projection& parts) {
  const auto value = ParsePart(text, parts);
  return value ? ToJson(*value) : value.error().message;
}

TEST(Projection, KeepsWhatIsNamedAndPassesOverTheRest) {
  EXPECT_EQ(Part(kPod, {{"metadata", "name"}, {"status"}}),
            R"({"metadata":{"name":"a"},"status":{"n":[1.5,-2,18446744073709551615,true,null]}})");
  EXPECT_EQ(Part(kPod, {{"kind"}, {"metadata", "labels", "y"}}),
            R"({"kind":"Pod","metadata":{"labels":{"y":"2"}}})");
  EXPECT_EQ(Part(kPod, {{"metadata", "annotations"}}),
            "{\"metadata\":{\"annotations\":{\"long\\n\":\"\xC3\xA9\xF0\x9F\x98\x80\"}}}");
  EXPECT_EQ(Part(kPod, {{"nothing"}}), "{}");
}

TEST(Projection, LooksThroughArrays) {
  EXPECT_EQ(Part(kPod, {{"spec", "containers", "name"}}),
            R"({"spec":{"containers":[{"name":"c"},{"name":"d"}]}})");
  EXPECT_EQ(Part(kPod, {{"spec", "containers", "resources", "limits"}}),
            R"({"spec":{"containers":[{"resources":{"limits":{"gpu":"1"}}},{}]}})");
  EXPECT_EQ(Part(kPod, {{"spec", "volumes", "x"}}), R"({"spec":{"volumes":[[],[{}]]}})");
  EXPECT_EQ(Part(R"([{"a":1,"b":2},3,[{"b":4}]])", {{"b"}}), R"([{"b":2},3,[{"b":4}]])");
}

TEST(Projection, MayKeepMoreThanAnother) {
  const Projection name{{"metadata", "name"}};
  const Projection more(name, {{"metadata", "labels", "x"}, {"kind"}});
  EXPECT_EQ(Part(kPod, more), R"({"kind":"Pod","metadata":{"name":"a","labels":{"x":"1"}}})");
  EXPECT_EQ(Part(kPod, name), R"({"metadata":{"name":"a"}})");
}

TEST(Projection, AStarIsEveryOtherKey) {
  constexpr std::string_view kSpecs =
      R"({"specs":{"Master":{"a":1,"b":2},"Worker":{"a":3,"b":4},"*":{"b":5}}})";
  EXPECT_EQ(Part(kSpecs, {{"specs", "*", "b"}}),
            R"({"specs":{"Master":{"b":2},"Worker":{"b":4},"*":{"b":5}}})");
  EXPECT_EQ(Part(kSpecs, {{"specs", "*", "b"}, {"specs", "Worker", "a"}}),
            R"({"specs":{"Master":{"b":2},"Worker":{"a":3},"*":{"b":5}}})");
}

TEST(Projection, FindsTheTextOfOneValue) {
  EXPECT_EQ(FindText(kPod, {"kind"}), R"("Pod")");
  EXPECT_EQ(FindText(kPod, {"metadata", "labels"}), R"({"x":"1","y":"2"})");
  EXPECT_EQ(FindText(kPod, {"metadata", "labels", "y"}), R"("2")");
  EXPECT_EQ(FindText(kPod, {}), kPod);
  EXPECT_EQ(FindText(R"({"a":1,"b":{"a":2}} and more)", {"b", "a"}), "2");
  for (const std::string_view text :
       {"", "[]", "7", "{}", R"({"b":{}})", R"({"b":7})", R"({"a")", R"({"a":)", R"({"b":{"a" 1}})",
        R"({"c":"x)", R"({"c":1 "b":{"a":1}})", R"({"\u0062":{"a":1}})"}) {
    EXPECT_EQ(FindText(text, {"b", "a"}), "") << text;
  }
}

TEST(Projection, WhatStandsWhereAnObjectWasMeantIsKept) {
  EXPECT_EQ(Part(R"({"metadata":"x","spec":7})", {{"metadata", "name"}}), R"({"metadata":"x"})");
  EXPECT_EQ(Part("null", {{"metadata", "name"}}), "null");
}

TEST(Projection, WhatIsKeptIsCheckedAndTheRestMustEnd) {
  for (const std::string_view text :
       {R"({"a":1,"b":{"c":[1,}})", R"({"a":"\x"})", R"({"a":nul})", R"({"a":{"b":1,}})",
        R"({"a":1)", R"({"a":1} 2)", R"({"a":1,"b":"x)", R"({"a":1,"b":})", R"({"a" 1})",
        R"([{"a":1},)", R"([{"a":1} {"a":2}])", ""}) {
    EXPECT_FALSE(ParsePart(text, {{"a"}}).has_value()) << text;
    EXPECT_FALSE(ParseJson(text).has_value()) << text;
  }
  EXPECT_EQ(Part(R"({"b":[nul,"\x"],"a":1})", {{"a"}}), R"({"a":1})");
}

TEST(Projection, ADeepTextIsRefused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_FALSE(ParsePart(deep, {{"a"}}).has_value());
  EXPECT_FALSE(ParsePart(deep, {{}}).has_value());
}

TEST(Projection, KeysMayBeEscaped) {
  EXPECT_EQ(Part(R"({"\u0061":1,"\"":2,"b\n":3})", {{"a"}, {"\""}}), R"({"a":1,"\"":2})");
  EXPECT_EQ(Part(R"({"a":1,"a":2})", {{"a"}}), R"({"a":2})");
}

RC_GTEST_PROP(Projection, KeepsTheMembersOfItsNames, ()) {
  Object object;
  for (const char* const key : {"a", "b", "c"}) object[key] = *GenerateJson(3);
  const auto part = ParsePart(ToJson(object), {{"a"}, {"c"}});
  RC_ASSERT(part.has_value());
  object.erase("b");
  RC_ASSERT(SameJson(*part, object));
}

RC_GTEST_PROP(Projection, TheRootKeepsEverything, ()) {
  const Json value = *GenerateJson();
  const auto part = ParsePart(ToJson(value), {{}});
  RC_ASSERT(part.has_value());
  RC_ASSERT(SameJson(*part, value));
}

std::vector<std::string> Members(std::string_view text) {
  std::vector<std::string> found;
  const auto status = VisitMembers(text, [&](std::string_view key, std::string_view value) {
    found.push_back(std::string(key) + "=" + std::string(value));
    return base::Status();
  });
  if (!status) found.push_back("error: " + status.error().message);
  return found;
}

using Strings = std::vector<std::string>;

TEST(VisitMembers, FindsWhereEachBeginsAndEnds) {
  EXPECT_EQ(Members(R"( { "a" : 1 ,"b":{"}":"]\"{"} , "c":[[1],"\\"],"d":"x,y" } )"),
            (Strings{"a=1", R"(b={"}":"]\"{"})", R"(c=[[1],"\\"])", R"(d="x,y")"}));
  EXPECT_EQ(Members("{}"), Strings{});
}

TEST(VisitMembers, SaysWhereTheTextIsBroken) {
  EXPECT_EQ(Members("[1]").back(), "error: JSON 1:1: an object is missing");
  EXPECT_EQ(Members(R"({"a" 1})").back(), "error: JSON 1:6: a colon is missing");
  EXPECT_EQ(Members(R"({"a":[1,2})").back(), "error: JSON 1:11: a comma or brace is missing");
  EXPECT_EQ(Members(R"({"a":[1,2)").back(), "error: JSON 1:6: an object or array does not end");
  EXPECT_EQ(Members(R"({"a":"b)").back(), "error: JSON 1:8: a string does not end");
  EXPECT_EQ(Members(R"({"a":"b\)").back(), "error: JSON 1:9: a string does not end");
  EXPECT_EQ(Members(R"({"a":})").back(), "error: JSON 1:6: a value is missing");
  EXPECT_EQ(Members(R"({"a":1 "b":2})").back(), "error: JSON 1:8: a comma or brace is missing");
  EXPECT_EQ(Members(R"({"a":1}x)").back(), "error: JSON 1:8: text after the end of the value");
}

}  // namespace
}  // namespace text
