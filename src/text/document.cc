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

// ToJson(Keep(...)) without the copies.
void Print(const Json& value, const Projection& parts, size_t node, std::string& out) {
  const Projection::Node& kept = parts.node(node);
  const Object* const object = value.if_object();
  const Array* const array = value.if_array();
  if (kept.is_whole || (object == nullptr && array == nullptr)) {
    out += value.is_string() ? QuoteJson(value.get_string()) : ToJson(value);
    return;
  }
  bool is_first = true;
  const auto separate = [&] {
    if (!std::exchange(is_first, false)) out += ',';
  };
  if (array != nullptr) {
    out += '[';
    for (const Json& item : *array) {
      separate();
      Print(item, parts, node, out);
    }
    out += ']';
    return;
  }
  out += '{';
  for (const auto& [key, member] : *object) {
    const size_t child = kept.Child(key);
    if (child == 0) continue;
    separate();
    out += QuoteJson(key);
    out += ':';
    Print(member, parts, child, out);
  }
  out += '}';
}

}  // namespace

Json PartOf(const Json& value, const Projection& parts) { return Keep(value, parts, 0); }

std::string PartToJson(const Json& value, const Projection& parts) {
  std::string out;
  Print(value, parts, 0, out);
  return out;
}

Document::operator std::string_view() const {
  if (!text_.empty() || value_ == nullptr) return text_;
  if (made_.empty()) made_ = ToJson(*value_);
  return made_;
}

base::Result<Json> Document::Whole() const {
  if (value_ != nullptr) return *value_;
  return ParseJson(text_);
}

base::Result<Json> Document::Part(const Projection& parts) const {
  if (value_ != nullptr) return PartOf(*value_, parts);
  return ParsePart(text_, parts);
}

}  // namespace text
