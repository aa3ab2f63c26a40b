#include "launch/python/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace launch {
namespace {

// Each was given to int() and float() of Python 3.11.
TEST(ParsePythonInt, ReadsWhatIntReads) {
  EXPECT_EQ(ParsePythonInt("12"), 12);
  EXPECT_EQ(ParsePythonInt(" -1\n"), -1);
  EXPECT_EQ(ParsePythonInt("+1_000"), 1000);
  EXPECT_EQ(ParsePythonInt("007"), 7);
  EXPECT_EQ(ParsePythonInt("99999999999999999999"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParsePythonInt("-99999999999999999999"), std::numeric_limits<int64_t>::min());
  for (const char* bad : {"", " ", "+", "-", "1__0", "_1", "1_", "+_1", "1.0", "1e3", "0x1", "a",
                          "1 0", "--1", "+-1"}) {
    EXPECT_EQ(ParsePythonInt(bad), std::nullopt) << bad;
  }
}

TEST(ParsePythonFloat, ReadsWhatFloatReads) {
  EXPECT_EQ(ParsePythonFloat("0.1"), 0.1);
  EXPECT_EQ(ParsePythonFloat(" +1 "), 1);
  EXPECT_EQ(ParsePythonFloat(".5"), 0.5);
  EXPECT_EQ(ParsePythonFloat("5."), 5);
  EXPECT_EQ(ParsePythonFloat("1_0.5"), 10.5);
  EXPECT_EQ(ParsePythonFloat("1e-320"), 1e-320);
  EXPECT_EQ(ParsePythonFloat("1e-400"), 0);
  EXPECT_EQ(ParsePythonFloat("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParsePythonFloat("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(ParsePythonFloat("nan").value_or(0)));
  for (const char* bad : {"", "a", "0x10", "nan(1)", "1e", "1_", "1 2", "+-1", "1._5"}) {
    EXPECT_EQ(ParsePythonFloat(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace launch
