#include "answers/log/own_stamp.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLongestPrefix = 64;
constexpr int kNoYear = 2000;
constexpr auto kMonths = std::to_array<std::string_view>(
    {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});

struct Date {
  int year = kNoYear, month = 0, day = 0;
};

// Reads a text of digits only.
int DigitsOf(std::string_view digits) {
  int number = -1;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? number : -1;
}

// Reads "2026-03-02", "03/02/2026" and "03-02".
std::optional<Date> ReadDigits(std::string_view word) {
  const size_t first = word.find_first_of("-/");
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = word.find(word[first], first + 1);
  const int one = DigitsOf(word.substr(0, first));
  if (second == std::string_view::npos) {
    if (first != 2 || word.size() != 5) return std::nullopt;
    return Date{kNoYear, one, DigitsOf(word.substr(first + 1))};
  }
  const int two = DigitsOf(word.substr(first + 1, second - first - 1));
  const int three = DigitsOf(word.substr(second + 1));
  if (first == 4) return Date{one, two, three};
  if (word.size() - second == 5) return Date{three, one, two};
  return std::nullopt;
}

// Reads glog's "I0302" and c10's "E302", which omits the first zero.
std::optional<Date> ReadGlog(std::string_view word) {
  if (word.size() != 4 && word.size() != 5) return std::nullopt;
  if (std::string_view("IWEFDC").find(word[0]) == std::string_view::npos) return std::nullopt;
  const size_t day = word.size() - 2;
  return Date{kNoYear, DigitsOf(word.substr(1, day - 1)), DigitsOf(word.substr(day))};
}

// Reads the last word of `text`, which stands before the clock.
std::optional<Date> ReadDateBefore(std::string_view text) {
  const size_t end = text.find_last_not_of(' ');
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(0, end + 1);
  const size_t begin = text.find_last_of(" [(|:") + 1;  // 0 if there is none
  const std::string_view word = text.substr(begin);
  if (auto date = ReadDigits(word)) return date;
  if (auto date = ReadGlog(word)) return date;
  const std::string_view before = base::Trim(text.substr(0, begin));
  if (before.size() < 3) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), before.substr(before.size() - 3));
  if (month == kMonths.end()) return std::nullopt;
  return Date{kNoYear, static_cast<int>(month - kMonths.begin()) + 1, DigitsOf(word)};
}

// Returns where "10:11:04" begins.
size_t FindClock(std::string_view text) {
  constexpr std::string_view kClock = "00:00:00";
  for (size_t at = 1; at + kClock.size() <= text.size(); ++at) {
    const bool is_clock = std::equal(
        kClock.begin(), kClock.end(), text.begin() + at,
        [](char pattern, char c) { return pattern == '0' ? base::IsDigit(c) : pattern == c; });
    const char before = text[at - 1];
    if (is_clock && (before == ' ' || before == 'T' || before == '_')) return at;
  }
  return std::string_view::npos;
}

base::Duration FractionOf(std::string_view text) {
  constexpr size_t kMicroseconds = 6;
  if (text.empty() || (text[0] != '.' && text[0] != ',')) return {};
  int64_t fraction = 0;
  for (size_t i = 1; i <= kMicroseconds; ++i) {
    const bool is_digit = i < text.size() && base::IsDigit(text[i]);
    if (!is_digit) text = text.substr(0, i);  // the missing digits are zeros
    fraction = fraction * 10 + (is_digit ? text[i] - '0' : 0);
  }
  return base::Duration(fraction);
}

}  // namespace

std::optional<OwnStamp> ReadOwnStamp(std::string_view line) {
  const std::string_view begin = line.substr(0, kLongestPrefix);
  const size_t clock = FindClock(begin);
  if (clock == std::string_view::npos) return std::nullopt;
  const auto date = ReadDateBefore(line.substr(0, clock - 1));
  if (!date) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(date->year),
                                        std::chrono::month(static_cast<unsigned>(date->month)),
                                        std::chrono::day(static_cast<unsigned>(date->day))};
  const int hour = DigitsOf(line.substr(clock, 2));
  const int minute = DigitsOf(line.substr(clock + 3, 2));
  const int second = DigitsOf(line.substr(clock + 6, 2));
  if (date->month < 1 || date->day < 1 || !day.ok() || date->year < 1970 || date->year > 9999 ||
      hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  const base::Time time = std::chrono::sys_days(day) + std::chrono::hours(hour) +
                          std::chrono::minutes(minute) + std::chrono::seconds(second) +
                          FractionOf(line.substr(clock + 8));
  return OwnStamp{time, date->year != kNoYear};
}

OwnStamp WithoutYear(OwnStamp stamp) {
  const auto days = std::chrono::floor<std::chrono::days>(stamp.time);
  const std::chrono::year_month_day date(days);
  const std::chrono::sys_days moved = std::chrono::year(kNoYear) / date.month() / date.day();
  return {moved + (stamp.time - days), false};
}

}  // namespace answers
