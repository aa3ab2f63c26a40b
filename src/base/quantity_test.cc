#include "base/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace base {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t Milli(std::string_view text) {
  const auto parsed = ParseQuantityMilli(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(-1);
}

int64_t Whole(std::string_view text) {
  const auto parsed = ParseQuantity(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(-1);
}

TEST(Quantity, PlainNumbers) {
  EXPECT_EQ(Milli("0"), 0);
  EXPECT_EQ(Milli("1"), 1000);
  EXPECT_EQ(Milli("0.5"), 500);
  EXPECT_EQ(Milli(".5"), 500);
  EXPECT_EQ(Milli("1."), 1000);
  EXPECT_EQ(Milli("+2"), 2000);
  EXPECT_EQ(Milli("0010"), 10000);
  EXPECT_EQ(Whole("3"), 3);
}

TEST(Quantity, DecimalSuffixes) {
  EXPECT_EQ(Milli("500m"), 500);
  EXPECT_EQ(Milli("4u"), 1);
  EXPECT_EQ(Milli("2k"), 2'000'000);
  EXPECT_EQ(Whole("50k"), 50'000);
  EXPECT_EQ(Whole("7M"), 7'000'000);
  EXPECT_EQ(Whole("6G"), 6'000'000'000);
  EXPECT_EQ(Whole("5T"), 5'000'000'000'000);
  EXPECT_EQ(Whole("2P"), 2'000'000'000'000'000);
  EXPECT_EQ(Whole("1E"), 1'000'000'000'000'000'000);
  EXPECT_EQ(Whole("100.035k"), 100'035);
  EXPECT_EQ(Whole("1.G"), 1'000'000'000);
}

TEST(Quantity, BinarySuffixes) {
  EXPECT_EQ(Milli("1Ki"), 1'024'000);
  EXPECT_EQ(Whole("7Mi"), 7LL << 20);
  EXPECT_EQ(Whole("2Gi"), 2'147'483'648);
  EXPECT_EQ(Whole("5Ti"), 5LL << 40);
  EXPECT_EQ(Whole("4Pi"), 4LL << 50);
  EXPECT_EQ(Whole("3Ei"), 3LL << 60);
  EXPECT_EQ(Whole("0.5Mi"), 1LL << 19);
  EXPECT_EQ(Milli("100.035Ki"), 102'435'840);
  EXPECT_EQ(Whole("0.05Gi"), 53'687'092);  // 53687091.2
}

TEST(Quantity, Exponents) {
  EXPECT_EQ(Milli("1e3"), 1'000'000);
  EXPECT_EQ(Milli("1E-3"), 1);
  EXPECT_EQ(Milli("1.3E+6"), 1'300'000'000);
  EXPECT_EQ(Milli("0.5e-2"), 5);
  EXPECT_EQ(Whole("12e0"), 12);
}

TEST(Quantity, RoundsUpAwayFromZero) {
  EXPECT_EQ(Milli("100n"), 1);
  EXPECT_EQ(Milli("0.0000000001"), 1);
  EXPECT_EQ(Milli("1.0001"), 1001);
  EXPECT_EQ(Whole("500m"), 1);
  EXPECT_EQ(Whole("1001m"), 2);
  EXPECT_EQ(Whole("2000m"), 2);
  EXPECT_EQ(Whole("-1500m"), -2);
  EXPECT_EQ(Milli("1e-2000000000"), 1);
  EXPECT_EQ(Milli("0e-10"), 0);
}

TEST(Quantity, Saturates) {
  EXPECT_EQ(Whole("9223372036854775807"), kMax);
  EXPECT_EQ(Whole("9223372036854775808"), kMax);
  EXPECT_EQ(Whole("9223372036854775806.1"), kMax);
  EXPECT_EQ(Whole("9223372036854775807.1"), kMax);
  EXPECT_EQ(Whole("9Ei"), kMax);
  EXPECT_EQ(Whole("12E"), kMax);
  EXPECT_EQ(Milli("9Pi"), kMax);
  EXPECT_EQ(Whole("-9Ei"), -kMax);
  EXPECT_EQ(Whole("1e1000000000000"), kMax);
  EXPECT_EQ(Whole("0e1000000000000"), 0);
  EXPECT_EQ(Whole(std::string(500, '9')), kMax);
  EXPECT_EQ(Whole("0." + std::string(500, '9')), 1);
}

// ParseQuantity's own table: nothing before the suffix is zero.
TEST(Quantity, AcceptsMissingDigitsAsZero) {
  for (const std::string_view text : {".", "-.", "+", "-", "m", "Ki"}) EXPECT_EQ(Milli(text), 0);
}

TEST(Quantity, RefusesTheRest) {
  for (const std::string_view text : {"",       "1.1.M",
                                      "1+1.0M", "0.1mi",
                                      "0.1am",  "aoeu",
                                      ".5i",    "1i",
                                      "-3.01i", "-3.01e-",
                                      " 1",     "1 ",
                                      "1e",     "1KI",
                                      "1K",     "1ki",
                                      "1mm",    "1e1.5",
                                      "0x10",   "1,5",
                                      "--1",    "1e99999999999999999999",
                                      "1Kim",   ".Ei",
                                      "e-10",   "1_000"}) {
    const auto parsed = ParseQuantity(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
    EXPECT_NE(parsed.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace base
