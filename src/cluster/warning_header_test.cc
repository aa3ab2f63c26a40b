#include "cluster/warning_header.h"

#include <gtest/gtest.h>

namespace cluster {
namespace {

using Texts = std::vector<std::string>;

TEST(ParseWarningHeader, TakesTheText) {
  EXPECT_EQ(ParseWarningHeader("299 - \"unknown field \\\"spec.x\\\"\""),
            Texts{"unknown field \"spec.x\""});
  EXPECT_EQ(ParseWarningHeader("299 kube-apiserver:6443 \"a\" \"Sat, 25 Aug 2012 23:34:45 GMT\""),
            Texts{"a"});
}

TEST(ParseWarningHeader, TakesSeveral) {
  EXPECT_EQ(ParseWarningHeader("299 - \"a, b\", 199 - \"misc\",299 - \"c\""), (Texts{"a, b", "c"}));
}

TEST(ParseWarningHeader, StopsAtWhatIsMalformed) {
  for (const char* value : {"", "299", "299 -", "299 - a", "299 - \"a", "299 - \"a\\", ",,"}) {
    EXPECT_EQ(ParseWarningHeader(value), Texts{}) << value;
  }
  EXPECT_EQ(ParseWarningHeader("299 - \"a\", oops"), Texts{"a"});
}

}  // namespace
}  // namespace cluster
