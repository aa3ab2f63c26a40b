#include "reconcile/json_compare.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/quantity.h"

namespace reconcile {
namespace {

bool IsEmpty(const text::Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (const text::Object* const object = value->if_object()) return object->empty();
  if (const text::Array* const array = value->if_array()) return array->empty();
  return false;
}

std::optional<int64_t> Quantity(const text::Json& value) {
  if (value.is_bool()) return std::nullopt;
  const std::string text =
      value.is_string() ? std::string(std::string_view(value.get_string())) : text::ToJson(value);
  const auto milli = base::ParseQuantityMilli(text);
  return milli ? std::optional(*milli) : std::nullopt;
}

bool AreSameObjects(const text::Object& a, const text::Object& b) {
  for (const auto& [key, value] : a) {
    if (!IsSameValue(&value, b.if_contains(key))) return false;
  }
  for (const auto& [key, value] : b) {
    if (!a.contains(key) && !IsEmpty(&value)) return false;
  }
  return true;
}

bool AreSameArrays(const text::Array& a, const text::Array& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!IsSameValue(&a[i], &b[i])) return false;
  }
  return true;
}

}  // namespace

bool IsSameValue(const text::Json* a, const text::Json* b) {
  if (a != nullptr && b != nullptr && a->is_object() && b->is_object()) {
    return AreSameObjects(a->get_object(), b->get_object());
  }
  if (IsEmpty(a) || IsEmpty(b)) return IsEmpty(a) && IsEmpty(b);
  if (a->is_array() && b->is_array()) return AreSameArrays(a->get_array(), b->get_array());
  if (a->is_structured() || b->is_structured()) return false;
  if (*a == *b) return true;
  const auto quantity = Quantity(*a);
  return quantity && quantity == Quantity(*b);
}

}  // namespace reconcile
