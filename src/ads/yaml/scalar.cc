#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <string>

#include "ads/yaml/yaml.h"
#include "base/strings.h"

// PyYAML's implicit resolvers, in its order: bool, float, int, null, timestamp.
namespace ads {
namespace {

using base::IsDigit;

class ScalarScanner {
 public:
  explicit ScalarScanner(std::string_view text) : rest_(text) {}

  bool is_done() const { return rest_.empty(); }
  bool TakeOneOf(std::string_view chars) {
    if (rest_.empty() || chars.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeText(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  size_t TakeAll(std::string_view chars) {
    const size_t count = std::min(rest_.find_first_not_of(chars), rest_.size());
    rest_.remove_prefix(count);
    return count;
  }
  // Removes between `least` and `most` decimal digits.
  bool TakeDigits(size_t least, size_t most) {
    size_t count = 0;
    while (count < most && count < rest_.size() && IsDigit(rest_[count])) ++count;
    if (count < least) return false;
    rest_.remove_prefix(count);
    return true;
  }
  // (:[0-5]?[0-9])+
  bool TakeSexagesimal() {
    size_t groups = 0;
    while (rest_.size() > 1 && rest_[0] == ':' && IsDigit(rest_[1])) {
      const bool has_two = rest_.size() > 2 && IsDigit(rest_[2]) && rest_[1] <= '5';
      rest_.remove_prefix(has_two ? 3 : 2);
      ++groups;
    }
    return groups > 0;
  }

 private:
  std::string_view rest_;
};

constexpr std::string_view kDigits = "0123456789_";

bool IsWordOf(std::string_view text, std::string_view lower) {
  if (text == lower || text == base::ToUpper(lower)) return true;
  std::string title(lower);
  title[0] = base::ToUpper(lower.substr(0, 1))[0];
  return text == title;
}

bool HasExponentOrEnd(ScalarScanner& scan) {
  if (scan.is_done()) return true;
  return scan.TakeOneOf("eE") && scan.TakeOneOf("+-") && scan.TakeDigits(1, SIZE_MAX) &&
         scan.is_done();
}

bool IsPyFloat(std::string_view text) {
  {
    ScalarScanner scan(text);
    scan.TakeOneOf("+-");
    if (scan.TakeDigits(1, 1)) {
      scan.TakeAll(kDigits);
      ScalarScanner sexagesimal = scan;
      if (scan.TakeOneOf(".")) {
        scan.TakeAll(kDigits);
        return HasExponentOrEnd(scan);
      }
      if (!sexagesimal.TakeSexagesimal() || !sexagesimal.TakeOneOf(".")) return false;
      sexagesimal.TakeAll(kDigits);
      return sexagesimal.is_done();
    }
  }
  ScalarScanner fraction(text);
  if (fraction.TakeOneOf(".") && fraction.TakeDigits(1, 1)) {
    fraction.TakeAll(kDigits);
    return HasExponentOrEnd(fraction);
  }
  ScalarScanner word(text);
  const bool has_sign = word.TakeOneOf("+-");
  for (const std::string_view name : {".inf", ".Inf", ".INF"}) {
    ScalarScanner infinity = word;
    if (infinity.TakeText(name) && infinity.is_done()) return true;
  }
  return !has_sign && (text == ".nan" || text == ".NaN" || text == ".NAN");
}

bool IsPyInt(std::string_view text) {
  ScalarScanner scan(text);
  scan.TakeOneOf("+-");
  ScalarScanner other = scan;
  if (other.TakeText("0b")) return other.TakeAll("01_") > 0 && other.is_done();
  other = scan;
  if (other.TakeText("0x")) return other.TakeAll("0123456789abcdefABCDEF_") > 0 && other.is_done();
  if (scan.TakeOneOf("0")) {
    scan.TakeAll("01234567_");
    return scan.is_done();
  }
  if (!scan.TakeOneOf("123456789")) return false;
  scan.TakeAll(kDigits);
  return scan.is_done() || (scan.TakeSexagesimal() && scan.is_done());
}

bool IsZoneText(ScalarScanner scan) {
  scan.TakeAll(" \t");
  if (scan.is_done()) return true;
  if (scan.TakeOneOf("Z")) return scan.is_done();
  if (!scan.TakeOneOf("+-") || !scan.TakeDigits(1, 2)) return false;
  return scan.is_done() || (scan.TakeOneOf(":") && scan.TakeDigits(2, 2) && scan.is_done());
}

bool IsPyTimestamp(std::string_view text) {
  ScalarScanner date(text);
  if (!date.TakeDigits(4, 4) || !date.TakeOneOf("-")) return false;
  ScalarScanner whole = date;
  if (whole.TakeDigits(2, 2) && whole.TakeOneOf("-") && whole.TakeDigits(2, 2) && whole.is_done()) {
    return true;
  }
  if (!date.TakeDigits(1, 2) || !date.TakeOneOf("-") || !date.TakeDigits(1, 2)) return false;
  if (!date.TakeOneOf("Tt") && date.TakeAll(" \t") == 0) return false;
  if (!date.TakeDigits(1, 2) || !date.TakeOneOf(":") || !date.TakeDigits(2, 2) ||
      !date.TakeOneOf(":") || !date.TakeDigits(2, 2)) {
    return false;
  }
  if (date.TakeOneOf(".")) date.TakeDigits(0, SIZE_MAX);
  return IsZoneText(date);
}

// Decimal digits of text in another base: Python's integers are unlimited.
std::string ToDecimal(std::string_view digits, int base) {
  std::string number = "0";  // least significant first
  for (const char c : digits) {
    int carry = IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    for (char& digit : number) {
      const int value = (digit - '0') * base + carry;
      digit = static_cast<char>('0' + value % 10);
      carry = value / 10;
    }
    for (; carry > 0; carry /= 10) number += static_cast<char>('0' + carry % 10);
  }
  while (number.size() > 1 && number.back() == '0') number.pop_back();
  return {number.rbegin(), number.rend()};
}

std::string WithoutUnderscores(std::string_view text) {
  std::string out(text);
  std::erase(out, '_');
  return out;
}

// 12:30:45 -> 45045.
double FromSexagesimal(std::string_view text) {
  double value = 0;
  for (const std::string& part : base::Split(text, ':')) {
    value = value * 60 + std::strtod(part.c_str(), nullptr);
  }
  return value;
}

std::string IntText(std::string_view plain) {
  std::string text = WithoutUnderscores(plain);
  const bool is_negative = text.starts_with('-');
  if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
  std::string digits;
  if (text.find(':') != std::string::npos) {
    digits = fmt::format("{:.0f}", FromSexagesimal(text));
  } else if (text.starts_with("0b")) {
    digits = ToDecimal(text.substr(2), 2);
  } else if (text.starts_with("0x")) {
    digits = ToDecimal(text.substr(2), 16);
  } else {
    digits = ToDecimal(text, text.starts_with('0') ? 8 : 10);
  }
  return is_negative && digits != "0" ? "-" + digits : digits;
}

std::string FloatText(std::string_view plain) {
  std::string text = base::ToLower(WithoutUnderscores(plain));
  const double sign = text.starts_with('-') ? -1 : 1;
  if (text.starts_with('-') || text.starts_with('+')) text.erase(0, 1);
  if (text == ".inf") return PyFloatText(sign * std::numeric_limits<double>::infinity());
  if (text == ".nan") return "nan";
  const bool is_sexagesimal = text.find(':') != std::string::npos;
  return PyFloatText(sign *
                     (is_sexagesimal ? FromSexagesimal(text) : std::strtod(text.c_str(), nullptr)));
}

// str() of the date or datetime that PyYAML makes of it.
std::string TimestampText(std::string_view plain) {
  ScalarScanner scan(plain);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  std::string text(plain);
  if (std::sscanf(text.c_str(), "%d-%d-%d", &year, &month, &day) != 3) return text;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return text;
  const size_t start = text.find_first_not_of("0123456789-");
  std::string_view rest = std::string_view(text).substr(text.find_first_of("0123456789", start));
  if (std::sscanf(rest.data(), "%d:%d:%d", &hour, &minute, &second) != 3) return text;
  std::string out =
      fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", year, month, day, hour, minute, second);
  rest.remove_prefix(rest.rfind(':', rest.find_first_of("Z+- .", 0)) + 3);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    std::string fraction(
        rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size())));
    rest.remove_prefix(fraction.size());
    fraction.resize(6, '0');
    if (fraction != "000000") out += "." + fraction;
  }
  rest = base::Trim(rest);
  if (rest.empty()) return out;
  if (rest == "Z") return out + "+00:00";
  int hours = 0, minutes = 0;
  std::sscanf(std::string(rest.substr(1)).c_str(), "%d:%d", &hours, &minutes);
  return out + fmt::format("{}{:02}:{:02}", rest[0], hours, minutes);
}

}  // namespace

PyValue ResolvePyScalar(std::string_view text) {
  PyValue value;
  const auto as = [&](PyValue::Kind kind, std::string shown) {
    value.kind = kind;
    value.text = std::move(shown);
    return value;
  };
  for (const std::string_view word : {"yes", "true", "on"}) {
    if (IsWordOf(text, word)) return as(PyValue::Kind::kBool, "True");
  }
  for (const std::string_view word : {"no", "false", "off"}) {
    if (IsWordOf(text, word)) return as(PyValue::Kind::kBool, "False");
  }
  if (text.empty() || text == "~" || IsWordOf(text, "null")) return value;
  if (IsPyFloat(text)) return as(PyValue::Kind::kFloat, FloatText(text));
  if (IsPyInt(text)) return as(PyValue::Kind::kInt, IntText(text));
  if (IsPyTimestamp(text)) return as(PyValue::Kind::kTimestamp, TimestampText(text));
  return as(PyValue::Kind::kString, std::string(text));
}

}  // namespace ads
