#include "arena/objects/unified_diff.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <vector>

namespace arena {
namespace {

// What `patch` does: `from` with the hunks applied; the context is checked.
std::string Patched(const std::string& from, const std::string& diff) {
  std::vector<std::string> lines;
  std::istringstream input(from);
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  std::string out;
  size_t at = 0;
  std::istringstream hunks(diff);
  for (std::string line; std::getline(hunks, line);) {
    if (line.starts_with("---") || line.starts_with("+++")) continue;
    if (line.starts_with("@@")) {
      size_t begin = 0;
      EXPECT_EQ(std::sscanf(line.c_str(), "@@ -%zu", &begin), 1);
      const bool is_empty = line.find(",0 +") != std::string::npos;
      for (const size_t first = is_empty ? begin : begin - 1; at < first;) {
        out += lines.at(at++) + "\n";
      }
      continue;
    }
    if (line[0] != '+') {
      EXPECT_EQ(line.substr(1), lines.at(at));
      ++at;
    }
    if (line[0] != '-') out += line.substr(1) + "\n";
  }
  while (at < lines.size()) out += lines[at++] + "\n";
  return out;
}

TEST(UnifiedDiffTest, ShowsAChangeInItsContext) {
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a", "b"),
            "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  EXPECT_EQ(UnifiedDiff("same\n", "same\n", "a", "b"), "");
}

TEST(UnifiedDiffTest, NearChangesShareAHunkAndFarOnesDoNot) {
  const std::string near =
      UnifiedDiff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", "", "");
  EXPECT_EQ(near.find("@@ -1,8 +1,8 @@"), near.find("@@"));
  const std::string far =
      UnifiedDiff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "", "");
  EXPECT_NE(far.find("@@ -1,4 +1,4 @@"), std::string::npos);
  EXPECT_NE(far.find("@@ -6,4 +6,4 @@"), std::string::npos);
}

TEST(UnifiedDiffTest, EmptyTextsAndMissingLineEnds) {
  EXPECT_EQ(UnifiedDiff("", "x\ny\n", "a", "b"), "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n");
  EXPECT_EQ(UnifiedDiff("x\n", "", "a", "b"), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
  EXPECT_EQ(UnifiedDiff("x", "x\n", "a", "b"),
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

TEST(UnifiedDiffTest, WhatItPrintsMakesTheOtherText) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const auto text = [&] {
      std::string made;
      for (size_t i = random() % 30; i > 0; --i)
        made += std::string(1, "abcd"[random() % 4]) + "\n";
      return made;
    };
    const std::string from = text();
    const std::string to = text();
    EXPECT_EQ(Patched(from, UnifiedDiff(from, to, "a", "b")), to) << from << "--\n" << to;
  }
}

TEST(UnifiedDiffTest, ThousandsOfChangesAreAReplacement) {
  std::string from = "same\n";
  std::string to = "same\n";
  for (int i = 0; i < 5000; ++i) {
    from += "old " + std::to_string(i) + "\n";
    to += "new " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(Patched(from, UnifiedDiff(from, to, "a", "b")), to);
}

}  // namespace
}  // namespace arena
