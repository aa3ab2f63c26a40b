#include "text/document.h"

#include <gtest/gtest.h>

namespace text {
namespace {

const Projection& Parts() {
  static const Projection kParts{
      {"metadata", "name"}, {"spec", "containers", "image"}, {"status"}, {"data", "*", "kept"}};
  return kParts;
}

TEST(Document, APartOfAValueIsWhatAReaderOfItsTextGets) {
  for (
      const std::string_view text :
      {R"({"metadata":{"labels":{},"name":"a"},"spec":{"containers":[{"image":"i","env":[1]},{}]}})",
       R"({"status":{"conditions":[{"type":"Ready"}]},"data":{"x":{"kept":[1,2],"not":3},"y":4}})",
       R"({"metadata":"text","spec":[{"containers":{"image":null}},7],"status":[]})", "[]", "5"}) {
    const auto read = ParsePart(text, Parts());
    const auto value = ParseJson(text);
    ASSERT_TRUE(read && value) << text;
    EXPECT_EQ(ToJson(PartOf(*value, Parts())), ToJson(*read));
    EXPECT_EQ(PartToJson(*value, Parts()), ToJson(*read));
    EXPECT_EQ(ToJson(*Document(text, &*value).Part(Parts())), ToJson(*read));
    EXPECT_EQ(ToJson(*Document(text).Part(Parts())), ToJson(*read));
  }
}

TEST(Document, WhatIsKnownIsNotParsed) {
  const Json value = Object{{"a", 1}};
  EXPECT_EQ(*Document("not read", &value).Whole(), value);
  EXPECT_EQ(*Document(R"({"a":1})").Whole(), value);
  EXPECT_FALSE(Document("not JSON").Whole());
  EXPECT_EQ(std::string_view(Document("text", &value)), "text");
  const Document without_text("", &value);
  EXPECT_EQ(std::string_view(without_text), R"({"a":1})");
}

}  // namespace
}  // namespace text
