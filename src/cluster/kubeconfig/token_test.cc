#include "cluster/kubeconfig/token.h"

#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"

namespace cluster {
namespace {

std::string TokenOf(std::string_view claims) {
  std::string encoded = base::Base64Encode(claims);
  encoded.erase(encoded.find_last_not_of('=') + 1);
  for (char& c : encoded) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return "header." + encoded + ".signature";
}

TEST(ExpiryOfToken, OfAWebTokenAndOfNothingElse) {
  const auto at = ExpiryOfToken(TokenOf(R"({"exp": 1500000000, "sub": "\u00ff>>>???"})"));
  ASSERT_TRUE(at);
  EXPECT_EQ(base::FormatRfc3339(*at), "2017-07-14T02:40:00Z");
  for (const std::string& other :
       {std::string(), std::string("abc"), std::string("a.b"), std::string("a.%%%.c"),
        TokenOf("[]"), TokenOf("{}"), TokenOf(R"({"exp": "soon"})"), TokenOf(R"({"exp": -1})"),
        TokenOf(R"({"exp": 9223372036854775807})")}) {
    EXPECT_FALSE(ExpiryOfToken(other)) << other;
  }
}

}  // namespace
}  // namespace cluster
