#include "api/schema/type_fault.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/clock.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace api {
namespace {

std::string GoScalar(char scalar) {
  switch (scalar) {
    case 'i':
      return "int32";
    case 'l':
      return "int64";
    case 'b':
      return "bool";
    case 'y':
      return "[]uint8";
    case 'q':
      return "resource.Quantity";
    case 'x':
      return "intstr.IntOrString";
    default:
      return "string";
  }
}

std::string GoType(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::kScalar:
      return GoScalar(shape.scalar);
    case Shape::Kind::kObject:
      return fmt::format("v1.{}", shape.type->name);
    case Shape::Kind::kList:
      return "[]" + GoType(shape.Element());
    case Shape::Kind::kMap:
      return "map[string]" + GoType(shape.Element());
    case Shape::Kind::kAny:
      break;
  }
  return "interface {}";
}

// As Go's decoder, which skips line breaks.
bool IsBase64(std::string_view written) {
  std::string joined(written);
  std::erase_if(joined, [](char c) { return c == '\n' || c == '\r'; });
  return base::Base64Decode(joined).has_value();
}

std::string_view GoValue(const text::Json& value) {
  if (value.is_bool()) return "bool";
  if (value.is_number()) return "number";
  return text::TypeName(value);
}

class Walk {
 public:
  std::string Check(const text::Json& value, const Shape& shape) {
    if (value.is_null()) return "";
    switch (shape.kind) {
      case Shape::Kind::kScalar:
        return CheckScalar(value, shape);
      case Shape::Kind::kObject:
        return value.is_object() ? CheckFields(value.get_object(), *shape.type)
                                 : Mismatch(GoValue(value), shape);
      case Shape::Kind::kList:
        if (!value.is_array()) return Mismatch(GoValue(value), shape);
        for (const text::Json& item : value.get_array()) {
          if (std::string fault = Check(item, shape.Element()); !fault.empty()) return fault;
        }
        return "";
      case Shape::Kind::kMap:
        if (!value.is_object()) return Mismatch(GoValue(value), shape);
        for (const auto& [key, item] : value.get_object()) {
          if (std::string fault = Check(item, shape.Element()); !fault.empty()) return fault;
        }
        return "";
      case Shape::Kind::kAny:
        break;
    }
    return "";
  }

 private:
  std::string CheckFields(const text::Object& object, const ObjectType& type) {
    const size_t length = path_.size();
    const std::string_view outer = struct_;
    for (const auto& [key, value] : object) {
      const Shape* const shape = type.Find(key);
      if (shape == nullptr) continue;
      if (length > 0) path_ += '.';
      path_ += key;
      struct_ = type.name;
      if (std::string fault = Check(value, *shape); !fault.empty()) return fault;
      path_.resize(length);
    }
    struct_ = outer;
    return "";
  }

  std::string CheckScalar(const text::Json& value, const Shape& shape) {
    const auto number = text::GetInt(value, {});
    switch (shape.scalar) {
      case 'i':
      case 'l': {
        const bool fits =
            number && (shape.scalar == 'l' || (*number >= INT32_MIN && *number <= INT32_MAX));
        if (fits) return "";
        return Mismatch(
            value.is_number() ? "number " + text::ToJson(value) : std::string(GoValue(value)),
            shape);
      }
      case 'b':
        return value.is_bool() ? "" : Mismatch(GoValue(value), shape);
      case 'q':
        if (value.is_number()) return "";
        if (value.is_string() && base::ParseQuantityMilli(text::GetString(value, {}))) return "";
        return "quantities must match the regular expression "
               "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
      case 'x':
        return value.is_string() || number ? "" : Mismatch(GoValue(value), shape);
      case 'F':
        return value.is_object() ? "" : Mismatch(GoValue(value), shape);
      default:
        return value.is_string() ? CheckText(text::GetString(value, {}), shape.scalar)
                                 : Mismatch(GoValue(value), shape);
    }
  }

  static std::string CheckText(std::string_view written, char scalar) {
    if (scalar == 'y' && !IsBase64(written)) return "illegal base64 data";
    const bool is_time = scalar == 't' || scalar == 'm';
    if (!is_time || written.empty() || base::ParseRfc3339(written)) return "";
    return fmt::format(
        "parsing time \"{0}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{0}\" as \"2006\"",
        written);
  }

  std::string Mismatch(std::string_view value, const Shape& shape) const {
    return fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", value,
                       struct_, path_, GoType(shape));
  }

  std::string path_;
  std::string_view struct_;
};

}  // namespace

std::string TypeFault(const text::Json& object, const Shape& shape) {
  return Walk().Check(object, shape);
}

}  // namespace api
