#include "launch/python/numbers.h"

#include <cstdlib>
#include <limits>
#include <string>

#include "base/strings.h"

namespace launch {
namespace {

// Underscores may stand between digits only.
std::optional<std::string> WithoutUnderscores(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
    } else if (i == 0 || i + 1 == text.size() || !base::IsDigit(text[i - 1]) ||
               !base::IsDigit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return plain;
}

}  // namespace

std::optional<int64_t> ParsePythonInt(std::string_view text) {
  const auto plain = WithoutUnderscores(base::Trim(text));
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  // Only what is too large cannot be parsed.
  return base::ParseInt(*plain).value_or(is_negative ? std::numeric_limits<int64_t>::min()
                                                     : std::numeric_limits<int64_t>::max());
}

std::optional<double> ParsePythonFloat(std::string_view text) {
  const auto plain = WithoutUnderscores(base::Trim(text));
  // strtod knows 0x10 and nan(1) too.
  if (!plain || plain->empty() || plain->find_first_of("xX(") != std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double value = std::strtod(plain->c_str(), &end);
  if (end != plain->c_str() + plain->size()) return std::nullopt;
  return value;
}

}  // namespace launch
