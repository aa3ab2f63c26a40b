#include "api/job/field_reader.h"

#include <fmt/format.h>

#include <limits>

namespace api {

FieldReader::FieldReader(const text::Json* value, std::string path, std::string* error)
    : path_(std::move(path)), error_(error) {
  if (value == nullptr || value->is_null()) return;
  object_ = value->if_object();
  if (object_ == nullptr && error_->empty()) {
    *error_ = fmt::format("{}: must be an object, not {}", path_, text::TypeName(*value));
  }
}

std::string FieldReader::PathOf(std::string_view name) const {
  std::string path;
  path.reserve(path_.size() + 1 + name.size());
  if (!path_.empty()) path.append(path_).append(1, '.');
  return path.append(name);
}

void FieldReader::Fail(std::string_view name, std::string_view why) const {
  if (error_->empty()) *error_ = fmt::format("{}: {}", PathOf(name), why);
}

const text::Json* FieldReader::Find(std::string_view name) const {
  if (object_ == nullptr) return nullptr;
  const text::Json* const found = object_->if_contains(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::optional<std::string> FieldReader::String(std::string_view name) const {
  const text::Json* const found = Find(name);
  if (found == nullptr) return std::nullopt;
  if (!found->is_string()) {
    Fail(name, fmt::format("must be a string, not {}", text::TypeName(*found)));
    return std::nullopt;
  }
  return std::string(text::GetString(*found, {}));
}

std::string FieldReader::StringOr(std::string_view name, std::string_view otherwise) const {
  return String(name).value_or(std::string(otherwise));
}

std::optional<int64_t> FieldReader::Int64(std::string_view name) const {
  const text::Json* const found = Find(name);
  if (found == nullptr) return std::nullopt;
  const std::optional<int64_t> value = text::GetInt(*found, {});
  if (!value) {
    const std::string_view type = text::TypeName(*found);
    Fail(name, type == "integer" ? std::string("is out of range")
                                 : fmt::format("must be an integer, not {}", type));
  }
  return value;
}

std::optional<int32_t> FieldReader::Int32(std::string_view name) const {
  const std::optional<int64_t> value = Int64(name);
  if (!value) return std::nullopt;
  if (*value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<int32_t>::max()) {
    Fail(name, fmt::format("{} is out of range for a 32-bit integer", *value));
    return std::nullopt;
  }
  return static_cast<int32_t>(*value);
}

std::optional<bool> FieldReader::Bool(std::string_view name) const {
  const text::Json* const found = Find(name);
  if (found == nullptr) return std::nullopt;
  if (!found->is_bool()) {
    Fail(name, fmt::format("must be a boolean, not {}", text::TypeName(*found)));
    return std::nullopt;
  }
  return found->get_bool();
}

std::optional<base::Time> FieldReader::Time(std::string_view name) const {
  const std::optional<std::string> written = String(name);
  if (!written) return std::nullopt;
  const auto time = base::ParseRfc3339(*written);
  if (!time) {
    Fail(name, time.error().message);
    return std::nullopt;
  }
  return *time;
}

const text::Array* FieldReader::Array(std::string_view name) const {
  const text::Json* const found = Find(name);
  if (found == nullptr) return nullptr;
  if (!found->is_array()) {
    Fail(name, fmt::format("must be an array, not {}", text::TypeName(*found)));
  }
  return found->if_array();
}

FieldReader FieldReader::Object(std::string_view name) const {
  return {Find(name), PathOf(name), error_};
}

FieldReader FieldReader::Entry(const text::Json& value, std::string_view name,
                               std::string_view key) const {
  return {&value, fmt::format("{}[{}]", PathOf(name), key), error_};
}

}  // namespace api
