#include "text/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "base/strings.h"
#include "text/number.h"

namespace text {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Removes leading [0-9]+; returns its length.
size_t TakeDigits(std::string_view& text) {
  const size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

bool TakeOneOf(std::string_view& text, std::string_view chars) {
  if (text.empty() || chars.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Scalar> ResolveWord(std::string_view text) {
  if (text.size() > 5) return std::nullopt;
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return Scalar{ScalarType::kNull, nullptr};
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return Scalar{ScalarType::kBool, true};
  }
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return Scalar{ScalarType::kBool, false};
  }
  if (IsOneOf(text, {".nan", ".NaN", ".NAN"})) {
    return Scalar{ScalarType::kFloat, std::numeric_limits<double>::quiet_NaN()};
  }
  if (IsOneOf(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) {
    return Scalar{ScalarType::kFloat, kInfinity};
  }
  if (IsOneOf(text, {"-.inf", "-.Inf", "-.INF"})) return Scalar{ScalarType::kFloat, -kInfinity};
  return std::nullopt;
}

// Go's strconv.ParseInt with base 0, then ParseUint; nullopt when the text is not a number or too
// large.
std::optional<Json> ParseInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool has_sign = TakeOneOf(text, "+-");
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = text.size() > 2 ? static_cast<char>(text[1] | 0x20) : '\0';
    base = kind == 'b' ? 2 : kind == 'x' ? 16 : 8;
    text.remove_prefix(kind == 'b' || kind == 'x' || kind == 'o' ? 2 : 1);
  }
  uint64_t magnitude = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, magnitude, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (negative) {
    if (magnitude > kMax + 1) return std::nullopt;
    return Json(static_cast<int64_t>(0 - magnitude));
  }
  if (magnitude <= kMax) return Json(static_cast<int64_t>(magnitude));
  if (has_sign) return std::nullopt;
  return Json(magnitude);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(std::string_view text) {
  TakeOneOf(text, "+-");
  const size_t whole = TakeDigits(text);
  if (TakeOneOf(text, ".")) {
    if (TakeDigits(text) == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (text.empty()) return true;
  if (!TakeOneOf(text, "eE")) return false;
  TakeOneOf(text, "+-");
  return TakeDigits(text) != 0 && text.empty();
}

// Nullopt when it overflows; zero when it underflows.
std::optional<Json> ParseFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(value)) return std::nullopt;
  }
  return Json(value);
}

// Removes underscores, which must be between digits.
std::optional<std::string> JoinDigits(std::string_view text) {
  std::string joined;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      joined += text[i];
    } else if (i == 0 || !base::IsDigit(text[i - 1]) || i + 1 == text.size() ||
               !base::IsDigit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return joined;
}

// Removes one or two leading digits with min <= value <= max.
std::optional<int> TakeNumber(std::string_view& text, int min, int max) {
  int value = 0;
  size_t count = 0;
  for (; count < 2 && count < text.size() && base::IsDigit(text[count]); ++count) {
    value = value * 10 + (text[count] - '0');
  }
  if (count == 0 || value < min || value > max) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

int DaysIn(int month, int year) {
  if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

bool TakeTime(std::string_view& text) {
  if (!TakeNumber(text, 0, 23) || !TakeOneOf(text, ":") || !TakeNumber(text, 0, 59) ||
      !TakeOneOf(text, ":") || !TakeNumber(text, 0, 59)) {
    return false;
  }
  if (text.size() > 1 && (text[0] == '.' || text[0] == ',') && base::IsDigit(text[1])) {
    text.remove_prefix(1);
    TakeDigits(text);
  }
  return true;
}

// Z or +hh:mm, the whole text.
bool IsZone(std::string_view text) {
  if (text == "Z") return true;
  if (text.size() != 6 || text[3] != ':' || !TakeOneOf(text, "+-")) return false;
  return TakeNumber(text, 0, 24) && TakeOneOf(text, ":") && TakeNumber(text, 0, 60) && text.empty();
}

// The four forms that go-yaml recognizes as a timestamp: yyyy-m-d alone; with T or t, a time and a
// zone; or with a space and a time.
bool IsTimestamp(std::string_view text) {
  if (text.size() < 8 || text[4] != '-' ||
      !std::all_of(text.begin(), text.begin() + 4, base::IsDigit)) {
    return false;
  }
  const int year = std::atoi(std::string(text.substr(0, 4)).c_str());
  text.remove_prefix(5);
  const std::optional<int> month = TakeNumber(text, 1, 12);
  if (!month || !TakeOneOf(text, "-")) return false;
  if (!TakeNumber(text, 1, DaysIn(*month, year))) return false;
  if (text.empty()) return true;
  if (TakeOneOf(text, "Tt")) return TakeTime(text) && IsZone(text);
  return TakeOneOf(text, " ") && TakeTime(text) && text.empty();
}

// [-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?
bool IsBase60(std::string_view text) {
  TakeOneOf(text, "+-");
  if (text.empty() || !base::IsDigit(text.front())) return false;
  text.remove_prefix(std::min(text.find_first_not_of("0123456789_"), text.size()));
  size_t groups = 0;
  while (TakeOneOf(text, ":")) {
    if (!TakeNumber(text, 0, 59)) return false;
    ++groups;
  }
  if (groups == 0) return false;
  if (TakeOneOf(text, ".")) {
    return text.find_first_not_of("0123456789_") == std::string_view::npos;
  }
  return text.empty();
}

}  // namespace

Scalar ResolvePlain(std::string_view text) {
  if (std::optional<Scalar> word = ResolveWord(text)) return std::move(*word);
  const char first = text.front();
  if (first == '.') {
    const std::optional<std::string> plain = JoinDigits(text);
    std::optional<Json> value = plain ? ParseFloat(*plain) : std::nullopt;
    if (value) return {ScalarType::kFloat, std::move(*value)};
  } else if (base::IsDigit(first) || first == '+' || first == '-') {
    if (IsTimestamp(text)) return {ScalarType::kTimestamp, Json(text)};
    std::string plain(text);
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    if (std::optional<Json> value = ParseInteger(plain)) {
      return {ScalarType::kInt, std::move(*value)};
    }
    if (std::optional<Json> value = ParseFloat(plain)) {
      return {ScalarType::kFloat, std::move(*value)};
    }
  }
  return {ScalarType::kString, Json(text)};
}

bool ReadsAsString(std::string_view text) {
  return ResolvePlain(text).type == ScalarType::kString && !IsBase60(text);
}

bool HasUnicodeBreak(std::string_view text) {
  return text.find("\xC2\x85") != std::string_view::npos ||
         text.find("\xE2\x80\xA8") != std::string_view::npos ||
         text.find("\xE2\x80\xA9") != std::string_view::npos ||
         text.find("\xEF\xBB\xBF") != std::string_view::npos;
}

std::optional<std::string> KeyText(const Scalar& scalar) {
  switch (scalar.type) {
    case ScalarType::kNull:
      return std::nullopt;
    case ScalarType::kBool:
      return scalar.value.get_bool() ? "true" : "false";
    case ScalarType::kInt:
      return NumberText(scalar.value);
    case ScalarType::kFloat: {
      const double value = scalar.value.get_double();
      if (std::isnan(value)) return ".nan";
      const auto narrow =
          static_cast<float>(std::clamp(value, -1.0 * std::numeric_limits<float>::max(),
                                        1.0 * std::numeric_limits<float>::max()));
      if (std::isinf(value) || std::fabs(value) > 1.0 * std::numeric_limits<float>::max()) {
        return value > 0 ? ".inf" : "-.inf";
      }
      return ShortestG(narrow);
    }
    case ScalarType::kString:
    case ScalarType::kTimestamp:
      break;
  }
  return std::string(scalar.value.get_string().c_str(), scalar.value.get_string().size());
}

std::string NumberText(const Json& number) {
  if (const int64_t* const value = number.if_int64()) return std::to_string(*value);
  if (const uint64_t* const value = number.if_uint64()) return std::to_string(*value);
  const Json whole = WholeAsInteger(number);
  return whole.is_double() ? ShortestG(whole.get_double()) : NumberText(whole);
}

}  // namespace text
