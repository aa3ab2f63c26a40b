#include "local/server/field_validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "local/server/schema.h"

namespace local::server {
namespace {

// Finds and takes out the fields that no type names.
class UnknownFields {
 public:
  // kJson: spec.containers[0].imag; kTyped: .spec.containers[name="pytorch"].imag
  enum class Style { kJson, kTyped };
  explicit UnknownFields(Style style) : style_(style) {}

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
  std::vector<std::string> Paths() && { return std::move(paths_); }

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
        paths_.push_back(path_);
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
    if (style_ == Style::kJson || shape.keys.empty()) return fmt::format("[{}]", index);
    std::vector<std::string> keys;
    for (const std::string_view key : shape.keys) {
      const text::Json* const value = text::Find(item, {key});
      if (value != nullptr) keys.push_back(fmt::format("{}={}", key, text::ToJson(*value)));
    }
    std::sort(keys.begin(), keys.end());
    return fmt::format("[{}]", fmt::join(keys, ","));
  }

  void Below(std::string_view name, text::Json& value, const Shape& shape) {
    const size_t length = Enter(name);
    TakeFrom(value, shape);
    path_.resize(length);
  }

  // The length of the path before.
  size_t Enter(std::string_view name) {
    const size_t length = path_.size();
    if (style_ == Style::kTyped || !path_.empty()) path_ += '.';
    path_ += name;
    return length;
  }

  const Style style_;
  std::string path_;
  std::vector<std::string> paths_;
};

// Of a text that has been parsed once: here only its names matter.
class DuplicateScan {
 public:
  explicit DuplicateScan(std::string_view text) : text_(text) {}

  std::vector<std::string> Run() && {
    Value();
    return std::move(found_);
  }

 private:
  char Next() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void Value() {
    switch (Next()) {
      case '{':
        return Members();
      case '[':
        return Items();
      case '"':
        (void)Text();
        return;
      default:
        at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
  }

  // What stands between the quotes.
  std::string_view Text() {
    const size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view text = text_.substr(start, at_ - start);
    if (at_ < text_.size()) ++at_;
    return text;
  }

  void Members() {
    ++at_;
    const size_t length = path_.size();
    std::vector<std::string_view> names;
    while (Next() == '"' || Next() == ',') {
      if (Next() == ',') {
        ++at_;
        continue;
      }
      names.push_back(Text());
      if (Next() != ':') break;
      ++at_;
      Enter(names.back());
      Value();
      path_.resize(length);
    }
    if (Next() == '}') ++at_;
    std::sort(names.begin(), names.end());
    for (auto it = names.begin(); (it = std::adjacent_find(it, names.end())) != names.end();) {
      Enter(*it);
      found_.push_back(path_);
      path_.resize(length);
      it = std::upper_bound(it, names.end(), *it);
    }
  }

  void Items() {
    ++at_;
    const size_t length = path_.size();
    for (size_t i = 0; at_ < text_.size() && Next() != ']'; ++i) {
      path_ += fmt::format("[{}]", i);
      const size_t before = at_;
      Value();
      path_.resize(length);
      if (Next() == ',') ++at_;
      if (at_ == before) return;
    }
    if (Next() == ']') ++at_;
  }

  void Enter(std::string_view name) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string path_;
  std::vector<std::string> found_;
};

Shape ShapeOf(const api::Resource& resource) {
  Shape shape;
  shape.type = TypeOf(resource);
  if (shape.type != nullptr) shape.kind = Shape::Kind::kObject;
  return shape;
}

// Bodies in which a member may stand twice: JSON objects. Our YAML refuses them by itself.
bool MayHaveDuplicates(const net::HttpRequest& http) {
  const std::string type = base::ToLower(net::FindHeader(http.headers, "Content-Type"));
  const std::string_view media = base::Trim(std::string_view(type).substr(0, type.find(';')));
  return (media.empty() || media.ends_with("json")) && media != "application/json-patch+json";
}

bool IsIn(std::string_view path, std::string_view field) {
  return path.starts_with(field) &&
         (path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[');
}

std::string StrictWords(const std::vector<std::string>& faults) {
  return fmt::format("strict decoding error: {}", fmt::join(faults, ", "));
}

}  // namespace

std::vector<std::string> TakeUnknownFields(const api::Resource& resource, text::Json& object) {
  UnknownFields unknown(UnknownFields::Style::kJson);
  unknown.TakeFrom(object, ShapeOf(resource));
  std::vector<std::string> paths = std::move(unknown).Paths();
  // What a CRD defines is pruned once its metadata has been read.
  if (IsCustom(resource)) {
    const auto rest = std::stable_partition(
        paths.begin(), paths.end(), [](const auto& path) { return path.starts_with("metadata."); });
    std::sort(rest, paths.end());
  }
  return paths;
}

std::vector<std::string> DuplicateFields(std::string_view json) {
  return DuplicateScan(json).Run();
}

std::vector<std::string> TakeFieldFaults(FieldValidation mode, const api::Resource& resource,
                                         const net::HttpRequest& http, text::Json& object) {
  const std::vector<std::string> unknown = TakeUnknownFields(resource, object);
  std::vector<std::string> faults;
  if (mode == FieldValidation::kIgnore) return faults;
  if (MayHaveDuplicates(http)) {
    for (const std::string& path : DuplicateFields(http.body)) {
      // What a built-in kind does not know is not looked at.
      const bool is_unknown =
          !IsCustom(resource) && std::any_of(unknown.begin(), unknown.end(),
                                             [&](const auto& field) { return IsIn(path, field); });
      if (!is_unknown) faults.push_back(fmt::format("duplicate field \"{}\"", path));
    }
  }
  for (const std::string& path : unknown)
    faults.push_back(fmt::format("unknown field \"{}\"", path));
  return faults;
}

ApiError StrictDecoding(const api::Resource& resource, const std::vector<std::string>& faults) {
  return BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind,
                                resource.version, resource.kind, StrictWords(faults)));
}

ApiError StrictPatch(const text::Json& patched, const std::vector<std::string>& faults) {
  const std::string why =
      fmt::format("Invalid value: {}: {}", text::ToJson(text::Json(text::ToJson(patched))),
                  StrictWords(faults));
  return {422, "Invalid", fmt::format(" \"\" is invalid: patch: {}", why),
          text::Object{{"causes", text::Array{text::Object{{"reason", "FieldValueInvalid"},
                                                           {"message", why},
                                                           {"field", "patch"}}}}}};
}

std::string UndeclaredFields(const api::Resource& resource, const text::Json& applied) {
  UnknownFields unknown(UnknownFields::Style::kTyped);
  text::Json copy = applied;
  unknown.TakeFrom(copy, ShapeOf(resource));
  const std::vector<std::string> paths = std::move(unknown).Paths();
  std::string why = paths.size() > 1 ? "errors:" : "";
  for (const std::string& path : paths) {
    why += fmt::format("{}{}: field not declared in schema", paths.size() > 1 ? "\n  " : "", path);
  }
  return why;
}

}  // namespace local::server
