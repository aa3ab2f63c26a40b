#include "text/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "text/testing/json_generator.h"

namespace text {
namespace {

Json Parse(std::string_view text) {
  auto parsed = ParseJson(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Json(nullptr);
}

std::string ErrorOf(std::string_view text) {
  const auto parsed = ParseJson(text);
  return parsed ? "parsed as " + ToJson(*parsed) : parsed.error().message;
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsEveryKind) {
  const Json value = Parse(R"( {"n":null,"t":true,"f":false,"i":-3,"u":18446744073709551615,)"
                           R"("d":1.5,"s":"x","a":[1,[2]],"o":{"k":{}}} )");
  EXPECT_EQ(ToJson(value), R"({"n":null,"t":true,"f":false,"i":-3,"u":18446744073709551615,)"
                           R"("d":1.5,"s":"x","a":[1,[2]],"o":{"k":{}}})");
}

TEST(ParseJson, KeepsKeyOrderAndTheLastOfDuplicateKeys) {
  EXPECT_EQ(ToJson(Parse(R"({"z":1,"a":2,"m":3})")), R"({"z":1,"a":2,"m":3})");
  EXPECT_EQ(GetInt(Parse(R"({"a":1,"a":2})"), {"a"}), 2);
}

TEST(ParseJson, ErrorsNameLineAndColumn) {
  EXPECT_EQ(ErrorOf("{\n  \"a\": 1,\n  \"b\": x\n}").substr(0, 9), "JSON 3:8:");
  EXPECT_EQ(ErrorOf("1 2").substr(0, 9), "JSON 1:3:");
  EXPECT_EQ(ErrorOf("").substr(0, 9), "JSON 1:1:");
  EXPECT_EQ(ErrorOf("[1,").substr(0, 9), "JSON 1:4:");
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  for (const std::string_view text : {"",
                                      " ",
                                      "nul",
                                      "01",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "'a'",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "\"\t\"",
                                      "\"\\x\"",
                                      "NaN",
                                      "Infinity",
                                      "// c\n1",
                                      "\"\xff\"",
                                      "\"\xc0\x80\"",
                                      "\"\xed\xa0\x80\"",
                                      "[1] [2]",
                                      "1e400",
                                      "-1e400",
                                      "\"abc"}) {
    const auto parsed = ParseJson(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, base::Code::kInvalidArgument);
  }
}

TEST(ParseJson, LimitsTheDepth) {
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth)).has_value());
  EXPECT_FALSE(ParseJson(Nested(kMaxJsonDepth + 1)).has_value());
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '[')).has_value());
}

TEST(ParseJson, DecodesEscapes) {
  EXPECT_EQ(Parse(R"("\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00")").get_string(),
            "\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(ParseJson, ReadsTheNearestDouble) {
  for (const double number : {0.1, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308,
                              123456789.123456789, 9007199254740993.0, 0.30000000000000004}) {
    EXPECT_EQ(Parse(ToJson(Json(number))).to_number<double>(), number);
  }
  EXPECT_EQ(Parse("1e-400").get_double(), 0.0);
}

TEST(ToJson, PrintsNumbersAsKubernetesDoes) {
  EXPECT_EQ(ToJson(Json(1.0)), "1");
  EXPECT_EQ(ToJson(Json(1.5)), "1.5");
  EXPECT_EQ(ToJson(Json(-0.25)), "-0.25");
  EXPECT_EQ(ToJson(Json(-0.0)), "0");
  EXPECT_EQ(ToJson(Json(1e6)), "1000000");
  EXPECT_EQ(ToJson(Json(1e20)), "100000000000000000000");
  EXPECT_EQ(ToJson(Json(1e21)), "1e+21");
  EXPECT_EQ(ToJson(Json(1e-6)), "0.000001");
  EXPECT_EQ(ToJson(Json(1e-7)), "1e-7");
  EXPECT_EQ(ToJson(Json(1.5e-12)), "1.5e-12");
  EXPECT_EQ(ToJson(Json(1e300)), "1e+300");
  EXPECT_EQ(ToJson(Json(std::numeric_limits<int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(ToJson(Json(std::numeric_limits<uint64_t>::max())), "18446744073709551615");
  EXPECT_EQ(ToJson(Json(std::nan(""))), "null");
}

TEST(ToJson, EscapesAsGoDoesWithoutHtml) {
  EXPECT_EQ(ToJson(Json("a\"b\\c\n\r\t\b\f\x01\x1f\x7f<>&/")),
            "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001f\x7f<>&/\"");
  EXPECT_EQ(ToJson(Json("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA")), "\"\\u2028\\u2029\xE2\x80\xAA\"");
  EXPECT_EQ(ToJson(Json("\xC3\xA9\xF0\x9F\x98\x80")), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(Items, AreNoneWhereThereIsNoSuchList) {
  const Json json =
      Parse(R"({"a": {"list": [{"name": "x"}, 1, {"name": "y", "key": "k"}]}, "b": 1})");
  EXPECT_EQ(Items(json, {"a", "list"}).size(), 3u);
  EXPECT_TRUE(Items(json, {"a"}).empty());
  EXPECT_TRUE(Items(json, {"b", "list"}).empty());
  EXPECT_EQ(Members(json, {"a"}).size(), 1u);
  EXPECT_TRUE(Members(json, {"a", "list"}).empty());
  EXPECT_EQ(ItemNamed(json, {"a", "list"}, "y"), &Items(json, {"a", "list"})[2]);
  EXPECT_EQ(ItemNamed(json, {"a", "list"}, "k", "key"), &Items(json, {"a", "list"})[2]);
  EXPECT_EQ(ItemNamed(json, {"a", "list"}, "z"), nullptr);
  EXPECT_EQ(ItemNamed(json, {"b"}, "x"), nullptr);
}

TEST(ToText, QuotesNoString) {
  EXPECT_EQ(ToText(Json("a\"b")), "a\"b");
  EXPECT_EQ(ToText(Json(12)), "12");
  EXPECT_EQ(QuoteJson("a\"b"), R"("a\"b")");
}

TEST(ToJson, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ToJson(Json("a\xff"
                        "b\xC3")),
            "\"a\\ufffdb\\ufffd\"");
  EXPECT_EQ(ToJson(Json("\xed\xa0\x80")), "\"\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(ToJson(Json("\xf4\x90\x80\x80")), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

TEST(ToPrettyJson, IndentsAndKeepsEmptyContainersShort) {
  const Json value = Parse(R"({"a":[1,{"b":null}],"e":{},"l":[]})");
  EXPECT_EQ(ToPrettyJson(value), R"({
    "a": [
        1,
        {
            "b": null
        }
    ],
    "e": {},
    "l": []
})");
  EXPECT_EQ(ToPrettyJson(Json("x")), "\"x\"");
  EXPECT_EQ(ToPrettyJson(Parse("[1]"), 2), "[\n  1\n]");
}

RC_GTEST_PROP(JsonText, PrintsAndReadsBackTheSame, ()) {
  const Json value = *GenerateJson();
  const std::string compact = ToJson(value);
  const auto read = ParseJson(compact);
  RC_ASSERT(read.has_value());
  RC_ASSERT(SameJson(*read, value));
  RC_ASSERT(ToJson(*read) == compact);
  const auto pretty = ParseJson(ToPrettyJson(value));
  RC_ASSERT(pretty.has_value());
  RC_ASSERT(ToJson(*pretty) == compact);
}

TEST(Accessors, FindFollowsObjectsOnly) {
  Json value = Parse(R"({"metadata":{"name":"a","labels":{"x":"y"}},"items":[{"a":1}]})");
  EXPECT_EQ(GetString(value, {"metadata", "name"}), "a");
  EXPECT_EQ(GetString(value, {"metadata", "labels", "x"}), "y");
  EXPECT_EQ(GetString(value, {"metadata", "labels"}), "");
  EXPECT_EQ(GetString(value, {"metadata", "name", "x"}), "");
  EXPECT_EQ(Find(value, {"items", "0"}), nullptr);
  EXPECT_EQ(Find(value, {"nothing", "here"}), nullptr);
  EXPECT_EQ(Find(value, {}), &value);
  EXPECT_EQ(FindArray(value, {"items"})->size(), 1U);
  EXPECT_EQ(FindArray(value, {"metadata"}), nullptr);
  EXPECT_EQ(FindObject(value, {"metadata", "labels"})->size(), 1U);
  EXPECT_EQ(FindObject(value, {"items"}), nullptr);
}

TEST(Accessors, GetIntTakesWholeNumbersInRange) {
  const Json value =
      Parse(R"({"i":-4,"d":3.0,"h":3.5,"u":18446744073709551615,"s":"3","big":1e30})");
  EXPECT_EQ(GetInt(value, {"i"}), -4);
  EXPECT_EQ(GetInt(value, {"d"}), 3);
  EXPECT_EQ(GetInt(value, {"h"}), std::nullopt);
  EXPECT_EQ(GetInt(value, {"u"}), std::nullopt);
  EXPECT_EQ(GetInt(value, {"s"}), std::nullopt);
  EXPECT_EQ(GetInt(value, {"big"}), std::nullopt);
  EXPECT_EQ(GetInt(value, {"absent"}), std::nullopt);
}

TEST(Accessors, GetBool) {
  const Json value = Parse(R"({"t":true,"s":"true"})");
  EXPECT_EQ(GetBool(value, {"t"}), true);
  EXPECT_EQ(GetBool(value, {"s"}), std::nullopt);
}

TEST(Accessors, EnsureMakesObjectsOnTheWayAndReplacesWhatIsNotOne) {
  Json value;
  Set(value, {"a", "b"}, 1);
  Set(value, {"a", "c"}, "x");
  EXPECT_EQ(ToJson(value), R"({"a":{"b":1,"c":"x"}})");
  Set(value, {"a", "b", "d"}, true);
  EXPECT_EQ(ToJson(value), R"({"a":{"b":{"d":true},"c":"x"}})");
  EXPECT_TRUE(Ensure(value, {"new"}).is_null());
  Set(value, {}, 3);
  EXPECT_EQ(ToJson(value), "3");
}

TEST(Accessors, EraseKeepsTheOrderOfTheOthers) {
  Json value = Parse(R"({"a":1,"b":2,"c":3,"d":{"x":1,"y":2,"z":3}})");
  Erase(value, {"b"});
  Erase(value, {"d", "x"});
  Erase(value, {"absent"});
  Erase(value, {"c", "under a number"});
  Erase(value, {});
  EXPECT_EQ(ToJson(value), R"({"a":1,"c":3,"d":{"y":2,"z":3}})");
}

}  // namespace
}  // namespace text
