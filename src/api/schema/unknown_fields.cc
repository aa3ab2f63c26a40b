#include "api/schema/unknown_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace api {
namespace {

class Walk {
 public:
  Walk(PathStyle style, std::string path) : style_(style), path_(std::move(path)) {}

  void TakeFrom(text::Json& value, const Shape& shape) {
    switch (shape.kind) {
      case Shape::Kind::kObject:
        if (value.is_object()) TakeFromObject(value, *shape.type);
        return;
      case Shape::Kind::kMap:
        if (!value.is_object() || shape.type == nullptr) return;
        for (auto& [key, item] : value.get_object()) Below(key, item, shape.Element());
        return;
      case Shape::Kind::kList:
        if (value.is_array() && shape.type != nullptr) TakeFromList(value.get_array(), shape);
        return;
      case Shape::Kind::kScalar:
      case Shape::Kind::kAny:
        return;
    }
  }
  std::vector<UnknownField> Found() && { return std::move(found_); }

 private:
  void TakeFromObject(text::Json& value, const ObjectType& type) {
    const bool is_root = path_.empty();
    std::vector<std::string> gone;
    for (auto& [key, field] : value.get_object()) {
      const std::string_view name = key;
      if (const Shape* const known = type.Find(name)) {
        Below(name, field, *known);
      } else if (!type.keeps_unknown && !(is_root && (name == "apiVersion" || name == "kind"))) {
        const size_t length = Enter(name);
        found_.push_back({path_, std::string(name), &type});
        path_.resize(length);
        gone.emplace_back(name);
      }
    }
    for (const std::string& name : gone) text::Erase(value, {name});
  }

  void TakeFromList(text::Array& items, const Shape& shape) {
    const size_t length = path_.size();
    for (size_t i = 0; i < items.size(); ++i) {
      path_ += Index(items[i], shape, i);
      TakeFrom(items[i], shape.Element());
      path_.resize(length);
    }
  }

  std::string Index(const text::Json& item, const Shape& shape, size_t index) const {
    if (style_ == PathStyle::kJson || shape.keys.empty()) return fmt::format("[{}]", index);
    std::vector<std::string> keys;
    for (const std::string_view key : shape.keys) {
      const text::Json* const value = text::Find(item, {key});
      if (value != nullptr) keys.push_back(fmt::format("{}={}", key, text::ToJson(*value)));
    }
    std::sort(keys.begin(), keys.end());
    return fmt::format("[{}]", fmt::join(keys, ","));
  }

  void Below(std::string_view name, text::Json& value, const Shape& shape) {
    if (shape.kind == Shape::Kind::kScalar || shape.kind == Shape::Kind::kAny) return;
    const size_t length = Enter(name);
    TakeFrom(value, shape);
    path_.resize(length);
  }

  // Returns the length of the path before the call.
  size_t Enter(std::string_view name) {
    const size_t length = path_.size();
    if (style_ == PathStyle::kTyped || !path_.empty()) path_ += '.';
    path_ += name;
    return length;
  }

  const PathStyle style_;
  std::string path_;
  std::vector<UnknownField> found_;
};

}  // namespace

std::optional<FieldValidation> ParseFieldValidation(std::string_view word) {
  if (word.empty() || word == "Warn") return FieldValidation::kWarn;
  if (word == "Ignore") return FieldValidation::kIgnore;
  if (word == "Strict") return FieldValidation::kStrict;
  return std::nullopt;
}

std::vector<UnknownField> TakeUnknownFields(text::Json& value, const Shape& shape, PathStyle style,
                                            std::string path) {
  Walk walk(style, std::move(path));
  walk.TakeFrom(value, shape);
  return std::move(walk).Found();
}

}  // namespace api
