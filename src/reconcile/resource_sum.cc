#include "reconcile/resource_sum.h"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "base/quantity.h"

namespace reconcile {
namespace {

constexpr int64_t kMilli = 1000;

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// The largest unit in which the number is an integer.
std::string Scale(int64_t value, int64_t factor, std::initializer_list<std::string_view> units) {
  std::string_view unit;
  for (const std::string_view larger : units) {
    if (value == 0 || value % factor != 0) break;
    value /= factor;
    unit = larger;
  }
  return fmt::format("{}{}", value, unit);
}

}  // namespace

void ResourceSum::Add(const text::Object& resources) {
  for (const auto& [name, value] : resources) {
    const std::string text =
        value.is_string() ? std::string(std::string_view(value.get_string())) : text::ToJson(value);
    const auto milli = base::ParseQuantityMilli(text);
    if (!milli) continue;
    const auto [sum, is_new] = sums_.try_emplace(std::string(std::string_view(name)));
    if (is_new) sum->second.is_binary = text.ends_with('i');
    sum->second.milli = SaturatingAdd(sum->second.milli, *milli);
  }
}

text::Object ResourceSum::ToJson() const {
  text::Object json;
  for (const auto& [name, quantity] : sums_) json[name] = ToText(quantity);
  return json;
}

std::string ResourceSum::ToText(const Quantity& quantity) {
  if (quantity.milli % kMilli != 0) return fmt::format("{}m", quantity.milli);
  const int64_t units = quantity.milli / kMilli;
  return quantity.is_binary ? Scale(units, 1024, {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"})
                            : Scale(units, 1000, {"k", "M", "G", "T", "P", "E"});
}

}  // namespace reconcile
