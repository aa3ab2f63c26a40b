#include "base/clock.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace base {
namespace {

using namespace std::chrono_literals;

Time At(int64_t seconds, int64_t micros = 0) {
  return Time(std::chrono::seconds(seconds) + std::chrono::microseconds(micros));
}

int64_t Micros(std::string_view text) {
  const auto parsed = ParseRfc3339(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? parsed->time_since_epoch().count() : -1;
}

TEST(Rfc3339, Formats) {
  EXPECT_EQ(FormatRfc3339(At(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339(At(1'785'405'600, 999'999)), "2026-07-30T10:00:00Z");
  EXPECT_EQ(FormatRfc3339Micro(At(1'785'405'600, 42)), "2026-07-30T10:00:00.000042Z");
  EXPECT_EQ(FormatRfc3339(At(-1)), "1969-12-31T23:59:59Z");
  EXPECT_EQ(FormatRfc3339Micro(At(-1, 500'000)), "1969-12-31T23:59:59.500000Z");
}

TEST(Rfc3339, ParsesFractionsAndOffsets) {
  EXPECT_EQ(Micros("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(Micros("1970-01-01T00:00:01.5Z"), 1'500'000);
  EXPECT_EQ(Micros("1970-01-01t00:00:00.000000999z"), 0);
  EXPECT_EQ(Micros("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(Micros("1969-12-31T19:30:00-04:30"), 0);
  EXPECT_EQ(Micros("2026-07-30T10:00:00.123456789Z"), 1'785'405'600'123'456);
  EXPECT_EQ(Micros("2024-02-29T00:00:00Z"), 1'709'164'800'000'000);
}

TEST(Rfc3339, ParsesWhatItFormats) {
  for (const int64_t micros : {int64_t{0}, int64_t{1'785'405'600'123'456}, int64_t{-1},
                               int64_t{951'782'400'000'000}, int64_t{253'402'300'799'999'999}}) {
    EXPECT_EQ(Micros(FormatRfc3339Micro(Time(std::chrono::microseconds(micros)))), micros);
  }
}

TEST(Rfc3339, RefusesTheRest) {
  for (const std::string_view text :
       {"", "2026-07-30", "2026-07-30T10:00:00", "2026-07-30T10:00Z", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00Zx",
        "26-01-01T00:00:00Z", " 2026-01-01T00:00:00Z", "2026-1-1T00:00:00Z"}) {
    const auto parsed = ParseRfc3339(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
  }
}

TEST(ShortDuration, FloorsToOneUnit) {
  EXPECT_EQ(ShortDuration(-2s), "<invalid>");
  EXPECT_EQ(ShortDuration(-1500ms), "0s");
  EXPECT_EQ(ShortDuration(0s), "0s");
  EXPECT_EQ(ShortDuration(59'999ms), "59s");
  EXPECT_EQ(ShortDuration(60s), "1m");
  EXPECT_EQ(ShortDuration(3599s), "59m");
  EXPECT_EQ(ShortDuration(1h), "1h");
  EXPECT_EQ(ShortDuration(24h - 1s), "23h");
  EXPECT_EQ(ShortDuration(24h), "1d");
  EXPECT_EQ(ShortDuration(24h * 365 - 1s), "364d");
  EXPECT_EQ(ShortDuration(24h * 365), "1y");
  EXPECT_EQ(ShortDuration(24h * 730), "2y");
}

int64_t Nanos(std::string_view text) {
  const auto parsed = ParseGoDuration(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? parsed->count() : -1;
}

std::string DurationError(std::string_view text) {
  const auto parsed = ParseGoDuration(text);
  return parsed ? "parsed" : parsed.error().message;
}

TEST(GoDuration, Parses) {
  EXPECT_EQ(Nanos("0"), 0);
  EXPECT_EQ(Nanos("-0"), 0);
  EXPECT_EQ(Nanos("0s"), 0);
  EXPECT_EQ(Nanos("5s"), 5'000'000'000);
  EXPECT_EQ(Nanos("1h30m"), 5'400'000'000'000);
  EXPECT_EQ(Nanos("300ms"), 300'000'000);
  EXPECT_EQ(Nanos("1.5h"), 5'400'000'000'000);
  EXPECT_EQ(Nanos(".5s"), 500'000'000);
  EXPECT_EQ(Nanos("1.s"), 1'000'000'000);
  EXPECT_EQ(Nanos("-1m"), -60'000'000'000);
  EXPECT_EQ(Nanos("+1ns"), 1);
  EXPECT_EQ(Nanos("1us"), 1'000);
  EXPECT_EQ(Nanos("1\u00b5s"), 1'000);
  EXPECT_EQ(Nanos("1\u03bcs"), 1'000);
  EXPECT_EQ(Nanos("39h9m14.425s"), 140'954'425'000'000);
}

TEST(GoDuration, IsExact) {
  EXPECT_EQ(Nanos("2562047h47m16.854775807s"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Nanos("9223372036854775807ns"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Nanos("-9223372036854775808ns"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Nanos("9007199254740993ns"), 9'007'199'254'740'993);
  EXPECT_EQ(Nanos("0.3333333333333333333h"), 1'200'000'000'000);
  EXPECT_EQ(Nanos("0.100000000000000000000h"), 360'000'000'000);
  EXPECT_EQ(Nanos("0.830103483285477580700h"), 2'988'372'539'827);
  for (int64_t millis = 0; millis < 1000; ++millis) {
    const std::string digits = std::to_string(1000 + millis).substr(1);
    EXPECT_EQ(Nanos("7." + digits + "s"), 7'000'000'000 + millis * 1'000'000);
  }
}

TEST(GoDuration, RefusesTheRestInGosWords) {
  EXPECT_EQ(DurationError(""), "time: invalid duration \"\"");
  EXPECT_EQ(DurationError("x"), "time: invalid duration \"x\"");
  EXPECT_EQ(DurationError("3"), "time: missing unit in duration \"3\"");
  EXPECT_EQ(DurationError("3x"), "time: unknown unit \"x\" in duration \"3x\"");
  EXPECT_EQ(DurationError("1msx"), "time: unknown unit \"msx\" in duration \"1msx\"");
  EXPECT_EQ(DurationError("1d"), "time: unknown unit \"d\" in duration \"1d\"");
  for (const std::string_view text :
       {"-", "+", ".", "-.", ".s", "+.s", "s", "--1s", "1s ", " 1s", "1 s", "1s2", "1e3s",
        "9223372036854775808ns", "9223372036854775.808us", "-9223372036854775809ns", "3000000h",
        "2562048h", "99999999999999999999h"}) {
    EXPECT_NE(DurationError(text), "parsed") << text;
  }
  EXPECT_NE(DurationError(std::string(400, '1') + "." + std::string(400, '1') + "s"), "parsed");
  EXPECT_EQ(Nanos("1." + std::string(400, '0') + "1s"), 1'000'000'000);
}

TEST(FakeClock, StandsStillUntilAdvanced) {
  FakeClock clock(At(100));
  const auto steady = clock.Steady();
  EXPECT_EQ(clock.Now(), At(100));
  clock.Advance(5s);
  EXPECT_EQ(clock.Now(), At(105));
  EXPECT_EQ(clock.Steady() - steady, 5s);
}

}  // namespace
}  // namespace base
