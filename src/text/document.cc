#include "text/document.h"

#include <utility>

namespace text {
namespace {

Json Keep(const Json& value, const Projection& parts, size_t node) {
  const Projection::Node& kept = parts.node(node);
  const Object* const object = value.if_object();
  const Array* const array = value.if_array();
  if (kept.is_whole || (object == nullptr && array == nullptr)) return value;
  if (array != nullptr) {
    Array items;
    items.reserve(array->size());
    for (const Json& item : *array) items.push_back(Keep(item, parts, node));
    return items;
  }
  Object members;
  for (const auto& [key, member] : *object) {
    const size_t child = kept.Child(key);
    if (child != 0) members.emplace(key, Keep(member, parts, child));
  }
  return members;
}

}  // namespace

Json PartOf(const Json& value, const Projection& parts) { return Keep(value, parts, 0); }

base::Result<Json> Document::Whole() const {
  if (value_ != nullptr) return *value_;
  return ParseJson(text_);
}

base::Result<Json> Document::Part(const Projection& parts) const {
  if (value_ != nullptr) return PartOf(*value_, parts);
  return ParsePart(text_, parts);
}

}  // namespace text
