#include "api/schema/structural_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/clock.h"
#include "base/quantity.h"

namespace api {

namespace {

std::vector<std::string> StringsOf(const text::Json& schema, std::string_view name) {
  std::vector<std::string> found;
  for (const text::Json& item : text::Items(schema, {name}))
    found.emplace_back(text::GetString(item, {}));
  return found;
}

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string FieldPath(const std::string& path, std::string_view name) {
  if (path.empty()) return std::string(name);
  std::string joined;
  joined.reserve(path.size() + 1 + name.size());
  joined.append(path).append(1, '.').append(name);
  return joined;
}

}  // namespace

StructuralSchema::StructuralSchema(const text::Json& schema)
    : keys_(StringsOf(schema, "x-kubernetes-list-map-keys")),
      pattern_(text::GetString(schema, {"pattern"})),
      is_int32_(text::GetString(schema, {"format"}) == "int32"),
      is_time_(text::GetString(schema, {"format"}) == "date-time") {
  const std::string_view type = text::GetString(schema, {"type"});
  type_ = type == "string"    ? Type::kString
          : type == "integer" ? Type::kInteger
          : type == "boolean" ? Type::kBool
          : type == "array"   ? Type::kArray
          : type == "object"  ? Type::kObject
                              : Type::kQuantity;
  for (const std::string_view name : {"items", "additionalProperties"}) {
    if (const text::Json* const items = text::Find(schema, {name})) {
      items_ = std::make_unique<StructuralSchema>(*items);
    }
  }
  const std::vector<std::string> required = StringsOf(schema, "required");
  for (const auto& [name, property] : text::Members(schema, {"properties"})) {
    Field field{name, std::make_unique<StructuralSchema>(property), Holds(required, name), {}};
    if (const text::Json* const value = text::Find(property, {"default"})) {
      field.value_if_absent = *value;
    }
    fields_.push_back(std::move(field));
  }
  std::sort(fields_.begin(), fields_.end(),
            [](const Field& a, const Field& b) { return a.name < b.name; });
}

void StructuralSchema::ApplyDefaults(text::Json& value) const {
  if (text::Array* const array = value.if_array()) {
    if (!items_) return;
    for (text::Json& item : *array) items_->ApplyDefaults(item);
  } else if (text::Object* const object = value.if_object()) {
    for (const Field& field : fields_) {
      if (field.value_if_absent) object->emplace(field.name, *field.value_if_absent);
      if (text::Json* const own = object->if_contains(field.name))
        field.schema->ApplyDefaults(*own);
    }
    if (!items_) return;
    for (auto& [key, item] : *object) items_->ApplyDefaults(item);
  }
}

std::string_view StructuralSchema::NameOf(Type type) {
  switch (type) {
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kBool:
      return "boolean";
    case Type::kQuantity:
      return "integer,string";
    case Type::kArray:
      return "array";
    case Type::kObject:
      return "object";
  }
  return "";
}

// The API server accepts a double without a fraction as an integer, and nothing beyond 64 bits.
bool StructuralSchema::IsOfType(const text::Json& value, Type type) {
  const bool is_integer = text::GetInt(value, {}).has_value();
  if (type == Type::kInteger) return is_integer;
  if (type == Type::kQuantity) return value.is_string() || is_integer;
  return text::TypeName(value) == NameOf(type);
}

void StructuralSchema::AddTypeError(const text::Json& value, const std::string& path, Type type,
                                    Findings& out) {
  const std::string_view got = value.is_uint64() ? "number" : text::TypeName(value);
  const auto add = [&](std::string_view expected) {
    out.causes.push_back(
        fmt::format("{}: Invalid value: \"{}\": {} in body must be of type {}: \"{}\"", path, got,
                    path, expected, got));
  };
  out.are_types_wrong = true;
  add(NameOf(type));
  if (type != Type::kQuantity) return;
  out.causes.push_back(fmt::format(
      "<nil>: Invalid value: \"\": \"{}\" must validate at least one schema (anyOf)", path));
  add("integer");
}

StructuralSchema::Findings StructuralSchema::Check(const text::Json& value,
                                                   std::string_view path) const {
  Findings findings;
  CheckTypes(value, std::string(path), findings);
  CheckKeys(value, std::string(path), findings.causes);
  return findings;
}

void StructuralSchema::CheckTypes(const text::Json& value, const std::string& path,
                                  Findings& out) const {
  if (!IsOfType(value, type_)) {
    AddTypeError(value, path, type_, out);
  } else if (type_ == Type::kQuantity && value.is_string()) {
    const std::string_view written = text::GetString(value, {});
    if (base::ParseQuantityMilli(written)) return;
    out.causes.push_back(fmt::format("{}: Invalid value: \"{}\": {} in body should match '{}'",
                                     path, written, path, pattern_));
  } else if (is_time_) {
    const std::string_view written = text::GetString(value, {});
    if (base::ParseRfc3339(written)) return;
    const size_t dot = path.rfind('.');
    out.are_types_wrong = true;
    out.causes.push_back(fmt::format(
        "{0}: Invalid value: \"{1}\": {2} in body must be of type date-time: \"{1}\"", path,
        written, std::string_view(path).substr(dot == std::string::npos ? 0 : dot + 1)));
  } else if (type_ == Type::kInteger && is_int32_) {
    const int64_t number = text::GetInt(value, {}).value_or(0);
    if (number >= INT32_MIN && number <= INT32_MAX) return;
    out.causes.push_back(fmt::format(
        "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in {}",
        path));
  } else if (type_ == Type::kObject) {
    CheckFields(value.get_object(), path, out);
    if (items_) CheckItems(value, path, out);
  } else if (type_ == Type::kArray && items_) {
    CheckItems(value, path, out);
  }
}

void StructuralSchema::CheckItems(const text::Json& value, const std::string& path,
                                  Findings& out) const {
  if (const text::Array* const array = value.if_array()) {
    for (size_t i = 0; i < array->size(); ++i) {
      items_->CheckTypes((*array)[i], fmt::format("{}[{}]", path, i), out);
    }
    return;
  }
  for (const auto& [key, item] : value.get_object()) {
    if (!item.is_null()) items_->CheckTypes(item, FieldPath(path, key), out);
  }
}

void StructuralSchema::CheckFields(const text::Object& object, const std::string& path,
                                   Findings& out) const {
  const auto find = [&object](const Field& field) -> const text::Json* {
    const text::Json* const value = object.if_contains(field.name);
    return value == nullptr || value->is_null() ? nullptr : value;
  };
  for (const Field& field : fields_) {
    if (!field.is_required || find(field) != nullptr) continue;
    out.causes.push_back(FieldPath(path, field.name) + ": Required value");
    out.are_types_wrong = true;
  }
  for (const Field& field : fields_) {
    if (const text::Json* const value = find(field)) {
      field.schema->CheckTypes(*value, FieldPath(path, field.name), out);
    }
  }
}

// The API server spells these paths differently from those of type errors. CheckTypes handles an
// item that lacks a key.
void StructuralSchema::CheckKeys(const text::Json& value, const std::string& path,
                                 std::vector<std::string>& causes) const {
  if (const text::Object* const object = value.if_object()) {
    for (const Field& field : fields_) {
      const text::Json* const own = object->if_contains(field.name);
      if (own != nullptr) field.schema->CheckKeys(*own, FieldPath(path, field.name), causes);
    }
    if (!items_) return;
    for (const auto& [key, item] : *object) {
      items_->CheckKeys(item, fmt::format("{}[{}]", path, std::string_view(key)), causes);
    }
  }
  const text::Array* const array = value.if_array();
  if (array == nullptr || !items_) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < array->size(); ++i) {
    const std::string item_path = fmt::format("{}[{}]", path, i);
    std::string key;
    for (const std::string& name : keys_) {
      const text::Json* const part = text::Find((*array)[i], {name});
      if (part == nullptr || part->is_structured()) break;
      key += fmt::format("{}\"{}\":{}", key.empty() ? "" : ", ", name, text::ToJson(*part));
      if (name != keys_.back() || seen.insert(key).second) continue;
      causes.push_back(
          fmt::format("{}: Duplicate value: map[string]interface {{}}{{{}}}", item_path, key));
    }
    items_->CheckKeys((*array)[i], item_path, causes);
  }
}

}  // namespace api
