#include "text/packing.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace text {
namespace {

constexpr char kDictionary[] =
    R"({"metadata":{"name":"","labels":{"app":""}},"status":{"phase":"Running"}})";
constexpr char kObject[] =
    R"({"metadata":{"name":"a","labels":{"app":"b"}},"status":{"phase":"Running"}})";

TEST(Packing, GivesBackWhatItWasGiven) {
  const Packing packing(kDictionary);
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("{}"), std::string(kDictionary),
        std::string(kObject), std::string(kDictionary) + kObject, std::string(3, '\0'),
        std::string(100'000, 'x'), std::string("\xff\x00\x80", 3)}) {
    EXPECT_EQ(packing.Unpack(packing.Pack(text)), text);
  }
}

TEST(Packing, WorksWithoutADictionary) {
  for (const char* const dictionary : {"", "abc"}) {
    const Packing packing(dictionary);
    EXPECT_EQ(packing.Unpack(packing.Pack(kObject)), kObject);
    EXPECT_EQ(packing.Unpack(packing.Pack("")), "");
  }
}

TEST(Packing, GivesBackWhatBeginsInTheDictionaryAndEndsInTheText) {
  for (const char* const text : {"ghijcdefghijcdefghijk", "ffffffffff", "cdefcdefcdefcdef"}) {
    EXPECT_EQ(Packing("abcdef").Unpack(Packing("abcdef").Pack(text)), text);
    EXPECT_EQ(Packing("ffff").Unpack(Packing("ffff").Pack(text)), text);
  }
}

TEST(Packing, TakesWhatTheTextSharesWithTheDictionaryFromThere) {
  EXPECT_LT(Packing(kDictionary).Pack(kObject).size(), 30U);
  EXPECT_GT(Packing("").Pack(kObject).size(), 60U);
}

TEST(Packing, TakesWhatTheTextRepeatsFromTheText) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += kObject;
  EXPECT_LT(Packing("").Pack(text).size(), text.size() / 20);
}

// Literals and matches of all lengths, especially where their encoding grows.
TEST(Packing, GivesBackRunsOfEveryLength) {
  const Packing packing("0123456789");
  for (size_t length = 0; length < 600; ++length) {
    std::string unlike;
    for (size_t i = 0; i < length; ++i) unlike += static_cast<char>(i * i * 31 + i / 7);
    for (const std::string& text : {std::string(length, 'a'), unlike, "2345" + unlike + unlike}) {
      ASSERT_EQ(packing.Unpack(packing.Pack(text)), text) << length;
    }
  }
}

TEST(Packing, RefersNoFartherThanItsNotationReaches) {
  std::mt19937 random(1);  // NOLINT: the same each time
  std::string text;
  while (text.size() < 70'000) text += static_cast<char>(random());
  const std::string twice = text + text;
  const Packing packing(text.substr(0, 40'000));
  EXPECT_EQ(packing.Unpack(packing.Pack(twice)), twice);
  const Packing large(twice);
  EXPECT_EQ(large.Unpack(large.Pack(twice)), twice);
}

TEST(Packing, GivesBackTextsOfAnyWords) {
  std::mt19937 random(7);  // NOLINT: the same each time
  const Packing packing(kDictionary);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (size_t words = random() % 40; words > 0; --words) {
      const std::string_view all(kDictionary);
      const size_t begin = random() % all.size();
      text += all.substr(begin, random() % 20);
      if (random() % 3 == 0) text += static_cast<char>(random());
    }
    ASSERT_EQ(packing.Unpack(packing.Pack(text)), text);
  }
}

}  // namespace
}  // namespace text
