#include "base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/strings.h"

namespace base {
namespace {

// digits * 2^binary * 10^decimal, where `digits` are decimal digits without a point.
struct Amount {
  bool negative = false;
  std::string digits;
  int binary = 0;
  int64_t decimal = 0;
};

struct Suffix {
  std::string_view text;
  int binary;
  int decimal;
};

constexpr std::array<Suffix, 16> kSuffixes{{{"", 0, 0},
                                            {"n", 0, -9},
                                            {"u", 0, -6},
                                            {"m", 0, -3},
                                            {"k", 0, 3},
                                            {"M", 0, 6},
                                            {"G", 0, 9},
                                            {"T", 0, 12},
                                            {"P", 0, 15},
                                            {"E", 0, 18},
                                            {"Ki", 10, 0},
                                            {"Mi", 20, 0},
                                            {"Gi", 30, 0},
                                            {"Ti", 40, 0},
                                            {"Pi", 50, 0},
                                            {"Ei", 60, 0}}};

// Beyond this, every exponent gives 0, 1 or the maximum.
constexpr int64_t kMaxExponent = 1'000'000'000;

size_t TakeDigits(std::string_view text, size_t at, std::string& digits) {
  const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  digits.append(text.substr(at, end - at));
  return end;
}

bool ReadSuffix(std::string_view text, Amount& amount) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) {
      amount.binary = suffix.binary;
      amount.decimal += suffix.decimal;
      return true;
    }
  }
  if (text.front() != 'e' && text.front() != 'E') return false;
  const std::optional<int64_t> exponent = ParseInt(text.substr(1));
  if (!exponent) return false;
  amount.decimal += std::clamp(*exponent, -kMaxExponent, kMaxExponent);
  return true;
}

// As lenient as ParseQuantity of k8s.io/apimachinery: accepts "1." and ".5", and no digits at all
// ("m", "-") are zero.
std::optional<Amount> Read(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Amount amount;
  size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    amount.negative = text[0] == '-';
    at = 1;
  }
  at = TakeDigits(text, at, amount.digits);
  if (at < text.size() && text[at] == '.') {
    const size_t before = amount.digits.size();
    at = TakeDigits(text, at + 1, amount.digits);
    amount.decimal -= static_cast<int64_t>(amount.digits.size() - before);
  }
  if (!ReadSuffix(text.substr(at), amount)) return std::nullopt;
  // Outside of its fast path, ParseQuantity does require a digit.
  if (amount.digits.empty() && (amount.binary >= 50 || amount.decimal < -9)) return std::nullopt;
  return amount;
}

void MultiplyByPowerOfTwo(std::string& digits, int power) {
  if (power == 0) return;
  // 9 * 2^60 plus a carry below 2^60 fits 64 bits.
  uint64_t carry = 0;
  for (size_t i = digits.size(); i-- > 0;) {
    const uint64_t product = (static_cast<uint64_t>(digits[i] - '0') << power) + carry;
    digits[i] = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  if (carry != 0) digits.insert(0, std::to_string(carry));
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// a * 10 + b, at most kMax.
int64_t Shift(int64_t a, int64_t b) { return a > (kMax - b) / 10 ? kMax : a * 10 + b; }

// |amount| * 10^decimals, rounded up, at most kMax.
int64_t Magnitude(Amount amount, int decimals) {
  std::string& digits = amount.digits;
  MultiplyByPowerOfTwo(digits, amount.binary);
  const int64_t scale = amount.decimal + decimals;
  bool rest = false;
  if (scale < 0) {
    const size_t drop = std::min(digits.size(), static_cast<size_t>(-scale));
    rest = digits.find_first_not_of('0', digits.size() - drop) != std::string::npos;
    digits.resize(digits.size() - drop);
  }
  int64_t value = 0;
  for (const char digit : digits) value = Shift(value, digit - '0');
  for (int64_t i = 0; i < scale && value != 0 && value != kMax; ++i) value = Shift(value, 0);
  return rest && value != kMax ? value + 1 : value;
}

Result<int64_t> Parse(std::string_view text, int decimals) {
  std::optional<Amount> amount = Read(text);
  if (!amount) {
    return Fail(Code::kInvalidArgument,
                fmt::format("\"{}\" is not a quantity: want a number and a suffix such as m, k, M, "
                            "G, Ki, Mi, Gi or e3",
                            text));
  }
  const bool negative = amount->negative;
  const int64_t magnitude = Magnitude(std::move(*amount), decimals);
  return negative ? -magnitude : magnitude;
}

}  // namespace

Result<int64_t> ParseQuantityMilli(std::string_view text) { return Parse(text, 3); }
Result<int64_t> ParseQuantity(std::string_view text) { return Parse(text, 0); }

}  // namespace base
