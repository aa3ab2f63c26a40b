#include "text/member_stream.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "text/testing/json_generator.h"

namespace text {
namespace {

constexpr std::string_view kList =
    R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":"]\"}"} , [1,2],
  3, "x\\",null],"after": 12 })";

struct StreamedList {
  std::vector<std::string> elements;
  std::string rest;  // or the error
};

StreamedList ReadStream(std::string_view text, size_t piece) {
  StreamedList list;
  MemberStream stream("items", 1 << 20, [&](std::string_view element) {
    list.elements.emplace_back(element);
    return base::Status();
  });
  for (size_t at = 0; at < text.size(); at += piece) {
    const base::Status fed = stream.Feed(text.substr(at, piece));
    if (fed) continue;
    list.rest = fed.error().message;
    return list;
  }
  const auto rest = stream.Finish();
  list.rest = rest ? ToJson(*rest) : rest.error().message;
  return list;
}

TEST(MemberStream, GivesOutTheElementsHoweverTheBytesCome) {
  for (size_t piece = 1; piece <= kList.size(); ++piece) {
    const StreamedList list = ReadStream(kList, piece);
    EXPECT_EQ(list.elements,
              (std::vector<std::string>{R"({"a":"]\"}"})", "[1,2]", "3", R"("x\\")", "null"}))
        << piece;
    EXPECT_EQ(list.rest, R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"after":12})");
  }
}

TEST(MemberStream, KnowsEveryPlaceAtWhichATextIsCutOff) {
  for (size_t size = 0; size < kList.size(); ++size) {
    for (const size_t piece : {size_t{1}, size_t{7}, kList.size()}) {
      const StreamedList list = ReadStream(kList.substr(0, size), piece);
      EXPECT_NE(list.rest.find("the text is cut off"), std::string::npos) << size << list.rest;
    }
  }
}

TEST(MemberStream, TheArrayMayBeEmptyOrNull) {
  EXPECT_EQ(ReadStream(R"({"items":[]})", 1).rest, "{}");
  EXPECT_EQ(ReadStream(R"({"items":null,"a":1})", 1).rest, R"({"items":null,"a":1})");
  EXPECT_EQ(ReadStream("{}", 1).rest, "{}");
  EXPECT_EQ(ReadStream(R"({"a":{"items":[1]}})", 3).rest, R"({"a":{"items":[1]}})");
}

TEST(MemberStream, SaysWhereTheTextIsBroken) {
  EXPECT_EQ(ReadStream("<html>", 2).rest, "JSON, byte 1: an object is missing");
  EXPECT_EQ(ReadStream(R"({"items":[1] 2})", 1).rest, "JSON, byte 14: a comma or brace is missing");
  EXPECT_EQ(ReadStream(R"({"items":[{} {}]})", 4).rest,
            "JSON, byte 14: a comma or bracket is missing");
  EXPECT_EQ(ReadStream("{} x", 4).rest, "JSON, byte 4: text after the end of the value");
  EXPECT_EQ(ReadStream(R"({a:1})", 4).rest, "JSON, byte 2: a string is missing");
}

TEST(MemberStream, StopsAtARefusalAndAtItsLimit) {
  int count = 0;
  MemberStream stream("items", 64, [&](std::string_view) {
    return ++count == 2 ? base::Status(base::Fail(base::Code::kCancelled, "enough"))
                        : base::Status();
  });
  EXPECT_EQ(stream.Feed(R"({"items":[1,2,3]})").error().message, "enough");
  EXPECT_EQ(count, 2);
  MemberStream small("items", 64, [](std::string_view) { return base::Status(); });
  EXPECT_TRUE(small.Feed(R"({"items":[")" + std::string(40, 'x')).has_value());
  EXPECT_EQ(small.Feed(std::string(40, 'x')).error().code, base::Code::kExhausted);
  MemberStream long_one("items", 64, [](std::string_view) { return base::Status(); });
  EXPECT_TRUE(long_one.Feed(R"({"items":[1)").has_value());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(long_one.Feed(",{\"a\":1}").has_value());
}

RC_GTEST_PROP(MemberStream, ReadsWhatTheParserReads, ()) {
  Object object{{"a", *GenerateJson(2)}};
  Array items;
  for (const Json& item : *rc::gen::resize(5, rc::gen::container<std::vector<Json>>(
                                                  rc::gen::lazy([] { return GenerateJson(2); })))) {
    items.push_back(item);
  }
  object["items"] = items;
  const StreamedList list = ReadStream(ToJson(object), *rc::gen::inRange<size_t>(1, 20));
  RC_ASSERT(list.elements.size() == items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    RC_ASSERT(SameJson(*ParseJson(list.elements[i]), items[i]));
  }
}

}  // namespace
}  // namespace text
