#include "watch/keys.h"

#include <gtest/gtest.h>

namespace watch {
namespace {

using Kind = Key::Kind;

std::vector<Kind> KindsOf(const std::vector<Key>& keys) {
  std::vector<Kind> kinds;
  for (const Key& key : keys) kinds.push_back(key.kind);
  return kinds;
}

TEST(KeyReader, ReadsLettersAndSequences) {
  KeyReader reader;
  EXPECT_EQ(reader.Feed("q"), (std::vector<Key>{{Kind::kChar, 'q'}}));
  EXPECT_EQ(KindsOf(reader.Feed("\x1b[A\x1b[B\x1bOH\x1b[4~\x1b[5~\x1b[6~\r\x7f")),
            (std::vector<Kind>{Kind::kUp, Kind::kDown, Kind::kHome, Kind::kEnd, Kind::kPageUp,
                               Kind::kPageDown, Kind::kEnter, Kind::kBackspace}));
  EXPECT_EQ(reader.Feed("\x03").at(0).letter, 3);
}

TEST(KeyReader, ASequenceMayComeInPieces) {
  KeyReader reader;
  EXPECT_TRUE(reader.Feed("\x1b").empty());
  EXPECT_TRUE(reader.is_waiting());
  EXPECT_TRUE(reader.Feed("[").empty());
  EXPECT_EQ(KindsOf(reader.Feed("A")), (std::vector<Kind>{Kind::kUp}));
  EXPECT_FALSE(reader.is_waiting());
}

TEST(KeyReader, EscapeAloneIsAKeyWhenNothingFollows) {
  KeyReader reader;
  reader.Feed("\x1b");
  EXPECT_EQ(KindsOf(reader.Flush()), (std::vector<Kind>{Kind::kEscape}));
  EXPECT_EQ(KindsOf(reader.Feed("\x1bq")), (std::vector<Kind>{Kind::kEscape, Kind::kChar}));
}

TEST(KeyReader, WhatItDoesNotKnowIsPassedOver) {
  KeyReader reader;
  EXPECT_TRUE(reader.Feed("\x1b[200~\x1b[1;5C\xc3\xa9").empty());
  reader.Feed("\x1b[" + std::string(100, '1'));
  EXPECT_FALSE(reader.is_waiting());
}

}  // namespace
}  // namespace watch
