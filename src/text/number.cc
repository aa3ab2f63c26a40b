#include "text/number.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace text {
namespace {

// value| = 0.d1d2d3... * 10^(exponent + 1), with the fewest digits that distinguish it from its
// neighbours.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

template <typename Float>
Decimal Shortest(Float value) {
  char text[40];
  const auto result =
      std::to_chars(text, text + sizeof text, std::fabs(value), std::chars_format::scientific);
  const std::string_view scientific(text, static_cast<size_t>(result.ptr - text));
  const size_t e = scientific.find('e');
  Decimal decimal;
  decimal.digits = scientific[0];
  if (e > 2) decimal.digits += scientific.substr(2, e - 2);
  const std::string_view exponent = scientific.substr(e + 2);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  if (scientific[e + 1] == '-') decimal.exponent = -decimal.exponent;
  return decimal;
}

void AppendFixed(std::string& out, const Decimal& decimal) {
  const auto count = static_cast<int>(decimal.digits.size());
  if (decimal.exponent < 0) {
    out += "0.";
    out.append(static_cast<size_t>(-decimal.exponent - 1), '0');
    out += decimal.digits;
  } else if (decimal.exponent + 1 >= count) {
    out += decimal.digits;
    out.append(static_cast<size_t>(decimal.exponent + 1 - count), '0');
  } else {
    const auto whole = static_cast<size_t>(decimal.exponent + 1);
    out.append(decimal.digits, 0, whole);
    out += '.';
    out.append(decimal.digits, whole);
  }
}

void AppendScientific(std::string& out, const Decimal& decimal, size_t exponent_width) {
  out += decimal.digits[0];
  if (decimal.digits.size() > 1) {
    out += '.';
    out.append(decimal.digits, 1);
  }
  out += decimal.exponent < 0 ? "e-" : "e+";
  const std::string exponent = std::to_string(std::abs(decimal.exponent));
  if (exponent.size() < exponent_width) out += '0';
  out += exponent;
}

template <typename Float>
std::string FormatG(Float value) {
  const Decimal decimal = Shortest(value);
  std::string out;
  if (std::signbit(value)) out += '-';
  if (decimal.exponent < -4 || decimal.exponent >= 6) {
    AppendScientific(out, decimal, 2);
  } else {
    AppendFixed(out, decimal);
  }
  return out;
}

}  // namespace

void AppendJsonDouble(std::string& out, double value) {
  if (value < 0) out += '-';
  const double size = std::fabs(value);
  const Decimal decimal = Shortest(value);
  if (size != 0 && (size < 1e-6 || size >= 1e21)) {
    AppendScientific(out, decimal, 1);
  } else {
    AppendFixed(out, decimal);
  }
}

Json WholeAsInteger(const Json& value) {
  const double* const number = value.if_double();
  if (number == nullptr || std::trunc(*number) != *number || std::fabs(*number) > 0x1p64) {
    return value;
  }
  std::string digits;
  AppendJsonDouble(digits, *number);
  const char* const end = digits.data() + digits.size();
  int64_t whole = 0;
  if (std::from_chars(digits.data(), end, whole).ec == std::errc()) return Json(whole);
  uint64_t large = 0;
  if (*number > 0 && std::from_chars(digits.data(), end, large).ec == std::errc()) {
    return Json(large);
  }
  return value;
}

std::string ShortestG(double value) { return FormatG(value); }
std::string ShortestG(float value) { return FormatG(value); }

}  // namespace text
