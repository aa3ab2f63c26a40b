#include "local/server/schema/protobuf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "api/schema/schema.h"
#include "base/clock.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace local::server {
namespace {

using base::Code;
using base::Fail;
using base::Result;

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kMaxDepth = 50;
// The depth of the JSON in managedFields, which is inside an object.
constexpr int kMaxRawDepth = 50;
constexpr int64_t kLastSecond = 253'402'300'799;  // of the year 9999
constexpr int64_t kNanosInSecond = 1'000'000'000;

// Whole numbers that mean something at 0. Go sends the others even when they are not set.
constexpr std::array<std::string_view, 16> kMeaningfulZeros = {"replicas",
                                                               "gracePeriodSeconds",
                                                               "terminationGracePeriodSeconds",
                                                               "fsGroup",
                                                               "activeDeadlineSeconds",
                                                               "deletionGracePeriodSeconds",
                                                               "runAsUser",
                                                               "runAsGroup",
                                                               "tolerationSeconds",
                                                               "defaultMode",
                                                               "mode",
                                                               "revisionHistoryLimit",
                                                               "value",
                                                               "minReadySeconds",
                                                               "progressDeadlineSeconds",
                                                               "leaseTransitions"};

struct WireField {
  int number = 0;
  uint64_t value = 0;      // of a whole number
  std::string_view bytes;  // of everything else
  bool is_bytes = false;
};

class Wire {
 public:
  explicit Wire(std::string_view bytes) : bytes_(bytes) {}

  Result<std::optional<WireField>> Next() {
    if (bytes_.empty()) return std::nullopt;
    TRY_ASSIGN(const uint64_t tag, Varint());
    if (tag > UINT32_MAX) return Fail(Code::kInvalidArgument, "a protobuf field has no number");
    WireField field;
    field.number = static_cast<int>(tag >> 3U);
    switch (tag & 7U) {
      case 0: {
        TRY_ASSIGN(field.value, Varint());
        return field;
      }
      case 2: {
        TRY_ASSIGN(const uint64_t size, Varint());
        if (size > bytes_.size()) return Truncated();
        field.bytes = bytes_.substr(0, size);
        field.is_bytes = true;
        bytes_.remove_prefix(size);
        return field;
      }
      default:
        return Fail(Code::kInvalidArgument, "a protobuf field has a type that no object has");
    }
  }

 private:
  static tl::unexpected<base::Error> Truncated() {
    return Fail(Code::kInvalidArgument, "the protobuf message is cut short");
  }
  Result<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return Truncated();
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return Fail(Code::kInvalidArgument, "a number in the protobuf message is too long");
  }

  std::string_view bytes_;
};

Result<text::Json> ReadMessage(const api::ObjectType& type, std::string_view bytes, int depth);

Result<text::Json> ReadString(std::string_view bytes) {
  if (base::IsUtf8(bytes)) return text::Json(bytes);
  return Fail(Code::kInvalidArgument, "a string in the protobuf message is not UTF-8");
}

bool IsDeeper(const text::Json& value, int levels) {
  const auto is_deeper = [levels](const text::Json& below) { return IsDeeper(below, levels - 1); };
  if (const text::Array* const array = value.if_array()) {
    return levels == 0 || std::any_of(array->begin(), array->end(), is_deeper);
  }
  if (const text::Object* const object = value.if_object()) {
    return levels == 0 || std::any_of(object->begin(), object->end(), [&](const auto& member) {
             return is_deeper(member.value());
           });
  }
  return false;
}

// {1: seconds, 2: nanoseconds}; null when not set.
Result<text::Json> ReadTime(std::string_view bytes, bool is_micro) {
  Wire wire(bytes);
  std::optional<int64_t> seconds;
  int64_t nanos = 0;
  while (true) {
    TRY_ASSIGN(const auto field, wire.Next());
    if (!field) break;
    if (field->number == 1) seconds = static_cast<int64_t>(field->value);
    if (field->number == 2) nanos = static_cast<int64_t>(field->value);
  }
  // Go's zero time is the first second of the year 1.
  if (!seconds || *seconds < 0) return nullptr;
  if (*seconds > kLastSecond || nanos < 0 || nanos >= kNanosInSecond) {
    return Fail(Code::kInvalidArgument, "a time in the protobuf message is out of range");
  }
  std::string text = base::FormatRfc3339(base::Time(std::chrono::seconds(*seconds)));
  if (is_micro) text.insert(text.size() - 1, fmt::format(".{:06}", nanos / 1000));
  return text::Json(text);
}

// {1: the string}
Result<text::Json> ReadWrapped(std::string_view bytes) {
  Wire wire(bytes);
  std::string_view value;
  while (true) {
    TRY_ASSIGN(const auto field, wire.Next());
    if (!field) return ReadString(value);
    if (field->number == 1 && field->is_bytes) value = field->bytes;
  }
}

// {1: a JSON text}
Result<text::Json> ReadJson(std::string_view bytes) {
  TRY_ASSIGN(const text::Json raw, ReadWrapped(bytes));
  TRY_ASSIGN(text::Json value, text::ParseJson(raw.get_string()));
  if (!IsDeeper(value, kMaxRawDepth)) return value;
  return Fail(Code::kInvalidArgument, "managedFields are nested too deeply");
}

// {1: 0 for the number, 1 for the string; 2: number; 3: string}
Result<text::Json> ReadIntOrString(std::string_view bytes) {
  Wire wire(bytes);
  bool is_string = false;
  int64_t number = 0;
  std::string_view string;
  while (true) {
    TRY_ASSIGN(const auto field, wire.Next());
    if (!field) break;
    if (field->number == 1) is_string = field->value == 1;
    if (field->number == 2) number = static_cast<int32_t>(field->value);
    if (field->number == 3) string = field->bytes;
  }
  return is_string ? ReadString(string) : text::Json(number);
}

Result<text::Json> ReadScalar(char scalar, const WireField& field) {
  switch (scalar) {
    case 's':
      return ReadString(field.bytes);
    case 'y':
      return text::Json(base::Base64Encode(field.bytes));
    case 'b':
      return text::Json(field.value != 0);
    case 'i':
      return text::Json(static_cast<int64_t>(static_cast<int32_t>(field.value)));
    case 'l':
      return text::Json(static_cast<int64_t>(field.value));
    case 'q':
      return ReadWrapped(field.bytes);
    case 't':
      return ReadTime(field.bytes, false);
    case 'm':
      return ReadTime(field.bytes, true);
    case 'x':
      return ReadIntOrString(field.bytes);
    case 'F':
      return ReadJson(field.bytes);
    default:
      return Fail(Code::kInternal, "a field has no type");
  }
}

Result<text::Json> ReadElement(const api::Shape& shape, const WireField& field, int depth) {
  if (shape.scalar != 0) return ReadScalar(shape.scalar, field);
  return ReadMessage(*shape.type, field.bytes, depth + 1);
}

// {1: key, 2: value}
base::Status ReadEntry(const api::Shape& shape, std::string_view bytes, int depth,
                       text::Object& map) {
  Wire wire(bytes);
  std::string_view key;
  text::Json value = shape.scalar == 's' || shape.scalar == 'y' ? text::Json("") : text::Json();
  while (true) {
    TRY_ASSIGN(const auto field, wire.Next());
    if (!field) break;
    if (field->number == 1) key = field->bytes;
    if (field->number == 2) {
      TRY_ASSIGN(value, ReadElement(shape, *field, depth));
    }
  }
  TRY(ReadString(key));
  map[key] = std::move(value);
  return {};
}

// What Go sends of fields that are not set, and JSON leaves out.
bool IsUnset(const api::TypeField& field, const text::Json& value) {
  if (value.is_null()) return true;
  if (value.is_string()) return value.get_string().empty();
  if (value.is_bool()) return !value.get_bool();
  if (!value.is_int64() || value.get_int64() != 0) return false;
  return std::find(kMeaningfulZeros.begin(), kMeaningfulZeros.end(), field.name) ==
         kMeaningfulZeros.end();
}

base::Status ReadField(const api::ObjectType& type, const WireField& wire, int depth,
                       text::Object& object) {
  const auto found = std::find_if(type.fields.begin(), type.fields.end(),
                                  [&](const auto& field) { return field.number == wire.number; });
  const auto refuse = [&](std::string_view name) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}.{} cannot be read from protobuf: send JSON", type.name, name));
  };
  if (found == type.fields.end()) return refuse(fmt::format("(field {})", wire.number));
  const api::Shape& shape = found->shape;
  if (shape.scalar == 0 && shape.type == nullptr) {
    if (wire.bytes.empty()) return {};
    return refuse(found->name);
  }
  if (found->name == "~") {
    TRY_ASSIGN(const text::Json inlined, ReadMessage(*shape.type, wire.bytes, depth + 1));
    for (const auto& [key, value] : inlined.get_object()) object[key] = value;
    return {};
  }
  if (shape.kind == api::Shape::Kind::kMap) {
    text::Json& map = object[found->name];
    if (!map.is_object()) map = text::Object{};
    return ReadEntry(shape, wire.bytes, depth, map.get_object());
  }
  TRY_ASSIGN(text::Json value, ReadElement(shape, wire, depth));
  if (shape.kind == api::Shape::Kind::kList) {
    text::Json& list = object[found->name];
    if (!list.is_array()) list = text::Array{};
    list.get_array().push_back(std::move(value));
  } else if (!IsUnset(*found, value)) {
    object[found->name] = std::move(value);
  }
  return {};
}

Result<text::Json> ReadMessage(const api::ObjectType& type, std::string_view bytes, int depth) {
  if (depth > kMaxDepth) return Fail(Code::kInvalidArgument, "the object is nested too deeply");
  text::Object object;
  Wire wire(bytes);
  while (true) {
    TRY_ASSIGN(const auto field, wire.Next());
    if (!field) return text::Json(std::move(object));
    TRY(ReadField(type, *field, depth, object));
  }
}

}  // namespace

Result<text::Json> DecodeProtobuf(std::string_view body) {
  if (!body.starts_with(kMagic)) {
    return Fail(Code::kInvalidArgument,
                "the body does not begin with the prefix of Kubernetes' protobuf");
  }
  // {1: {1: apiVersion, 2: kind}, 2: the object}
  Wire envelope(body.substr(kMagic.size()));
  std::string_view type_meta;
  std::string_view raw;
  while (true) {
    TRY_ASSIGN(const auto field, envelope.Next());
    if (!field) break;
    if (field->number == 1) type_meta = field->bytes;
    if (field->number == 2) raw = field->bytes;
  }
  std::string_view api_version;
  std::string_view kind;
  Wire names(type_meta);
  while (true) {
    TRY_ASSIGN(const auto field, names.Next());
    if (!field) break;
    if (field->number == 1) api_version = field->bytes;
    if (field->number == 2) kind = field->bytes;
  }
  const api::ObjectType* type = api::FindType(kind);
  if (type == nullptr || type->fields.empty() || type->fields.front().number == 0) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("objects of kind \"{}\" cannot be read from protobuf: send JSON", kind));
  }
  TRY(ReadString(api_version));
  TRY_ASSIGN(text::Json fields, ReadMessage(*type, raw, 0));
  text::Object object{{"apiVersion", api_version}, {"kind", kind}};
  for (auto& [key, value] : fields.get_object()) object[key] = std::move(value);
  return text::Json(std::move(object));
}

}  // namespace local::server
