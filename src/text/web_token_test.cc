#include "text/web_token.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/strings.h"

namespace text {
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
  EXPECT_EQ(ExpiryOfToken(TokenOf(R"({"exp": 2000000000})")),
            base::Time(std::chrono::seconds(2'000'000'000)));
  for (const std::string& other :
       {std::string(), std::string("abc"), std::string("a.b"), std::string("a.%%%.c"),
        std::string("a.b.c.d"), std::string("e30.e30.e30"), std::string("e30.!!.e30"),
        std::string(".."), std::string("e30.eyJleHAiOiJ4In0.x"), TokenOf("[]"), TokenOf("{}"),
        TokenOf(R"({"exp": "soon"})"), TokenOf(R"({"exp": -1})"),
        TokenOf(R"({"exp": 9223372036854775807})")}) {
    EXPECT_FALSE(ExpiryOfToken(other)) << other;
  }
}

}  // namespace
}  // namespace text
