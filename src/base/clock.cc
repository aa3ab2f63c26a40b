#include "base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/strings.h"

namespace base {
namespace {

class RealClock final : public Clock {
 public:
  Time Now() override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
  }
  std::chrono::steady_clock::time_point Steady() override {
    return std::chrono::steady_clock::now();
  }
};

struct Civil {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::microseconds> time;
};

Civil ToCivil(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  return {std::chrono::year_month_day(day),
          std::chrono::hh_mm_ss<std::chrono::microseconds>(time - day)};
}

bool TakeDigits(std::string_view& text, size_t count, int& value) {
  if (text.size() < count) return false;
  value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Clock& SystemClock() {
  static RealClock* const clock = new RealClock;
  return *clock;
}

std::string FormatRfc3339(Time time) {
  const Civil c = ToCivil(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(c.date.year()),
                     static_cast<unsigned>(c.date.month()), static_cast<unsigned>(c.date.day()),
                     c.time.hours().count(), c.time.minutes().count(), c.time.seconds().count());
}

std::string FormatRfc3339Micro(Time time) {
  const Civil c = ToCivil(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(c.date.year()),
                     static_cast<unsigned>(c.date.month()), static_cast<unsigned>(c.date.day()),
                     c.time.hours().count(), c.time.minutes().count(), c.time.seconds().count(),
                     c.time.subseconds().count());
}

Result<Time> ParseRfc3339(std::string_view text) {
  const auto invalid = [&] {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is not an RFC 3339 time such as 2026-07-30T10:00:00Z", text));
  };
  std::string_view rest = text;
  int year, month, day, hour, minute, second;
  if (!TakeDigits(rest, 4, year) || !TakeChar(rest, '-') || !TakeDigits(rest, 2, month) ||
      !TakeChar(rest, '-') || !TakeDigits(rest, 2, day) ||
      !(TakeChar(rest, 'T') || TakeChar(rest, 't') || TakeChar(rest, ' ')) ||
      !TakeDigits(rest, 2, hour) || !TakeChar(rest, ':') || !TakeDigits(rest, 2, minute) ||
      !TakeChar(rest, ':') || !TakeDigits(rest, 2, second)) {
    return invalid();
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return invalid();
  int64_t micros = 0;
  if (TakeChar(rest, '.')) {
    int64_t scale = 100'000;
    if (rest.empty() || rest.front() < '0' || rest.front() > '9') return invalid();
    while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
      micros += (rest.front() - '0') * scale;
      scale /= 10;
      rest.remove_prefix(1);
    }
  }
  std::chrono::minutes offset{0};
  if (!TakeChar(rest, 'Z') && !TakeChar(rest, 'z')) {
    if (rest.empty() || (rest.front() != '+' && rest.front() != '-')) return invalid();
    const int sign = rest.front() == '+' ? 1 : -1;
    rest.remove_prefix(1);
    int offset_hours, offset_minutes;
    if (!TakeDigits(rest, 2, offset_hours) || !TakeChar(rest, ':') ||
        !TakeDigits(rest, 2, offset_minutes) || offset_hours > 23 || offset_minutes > 59) {
      return invalid();
    }
    offset = std::chrono::minutes(sign * (offset_hours * 60 + offset_minutes));
  }
  if (!rest.empty()) return invalid();
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second) +
         std::chrono::microseconds(micros) - offset;
}

std::string ShortDuration(Duration duration) {
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86'400) return fmt::format("{}h", seconds / 3600);
  if (seconds < 31'536'000) return fmt::format("{}d", seconds / 86'400);
  return fmt::format("{}y", seconds / 31'536'000);
}

namespace {

constexpr uint64_t kMaxNanos = uint64_t{1} << 63;  // for negative durations; one less for others

struct Unit {
  std::string_view name;
  uint64_t nanos;
};
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},  // micro sign
                                         {"\u03bcs", 1'000},  // Greek mu
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

// The leading digits of `text`: `value` as a whole number, value / scale as what follows a point.
// Digits that do not fit are dropped, as Go drops those of a fraction. Nullopt without a digit.
struct Digits {
  uint64_t value = 0;
  double scale = 1;
  bool overflow = false;
};
std::optional<Digits> TakeNumber(std::string_view& text) {
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  Digits digits;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1)) {
    const auto digit = static_cast<uint64_t>(text.front() - '0');
    if (digits.overflow || digits.value > (kMaxNanos - digit) / 10) {
      digits.overflow = true;
      continue;
    }
    digits.value = digits.value * 10 + digit;
    digits.scale *= 10;
  }
  return digits;
}

}  // namespace

// Whole parts are exact, fractions truncated, as in Go.
Result<std::chrono::nanoseconds> ParseGoDuration(std::string_view text) {
  const auto invalid = [&](std::string_view why) {
    return Fail(Code::kInvalidArgument, fmt::format("time: {} \"{}\"", why, text));
  };
  std::string_view rest = text;
  const bool negative = TakeChar(rest, '-');
  if (!negative) TakeChar(rest, '+');
  if (rest == "0") return std::chrono::nanoseconds(0);
  if (rest.empty()) return invalid("invalid duration");
  uint64_t total = 0;
  while (!rest.empty()) {
    const std::optional<Digits> whole = TakeNumber(rest);
    if (whole && whole->overflow) return invalid("invalid duration");
    std::optional<Digits> fraction;
    if (TakeChar(rest, '.')) fraction = TakeNumber(rest);
    if (!whole && !fraction) return invalid("invalid duration");
    const size_t unit_end = std::min(rest.find_first_of(".0123456789"), rest.size());
    const std::string_view name = rest.substr(0, unit_end);
    if (name.empty()) return invalid("missing unit in duration");
    rest.remove_prefix(unit_end);
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [name](const Unit& candidate) {
      return candidate.name == name;
    });
    if (unit == kUnits.end()) {
      return invalid(fmt::format("unknown unit \"{}\" in duration", name));
    }
    uint64_t nanos = whole ? whole->value : 0;
    if (nanos > kMaxNanos / unit->nanos) return invalid("invalid duration");
    nanos *= unit->nanos;
    if (fraction) {
      nanos += static_cast<uint64_t>(static_cast<double>(fraction->value) *
                                     (static_cast<double>(unit->nanos) / fraction->scale));
    }
    total += nanos;  // both are at most 2^63, so there is no overflow
    if (nanos > kMaxNanos || total > kMaxNanos) return invalid("invalid duration");
  }
  if (negative) return std::chrono::nanoseconds(static_cast<int64_t>(0 - total));
  if (total == kMaxNanos) return invalid("invalid duration");
  return std::chrono::nanoseconds(static_cast<int64_t>(total));
}

}  // namespace base
