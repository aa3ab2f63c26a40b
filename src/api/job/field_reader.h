// Typed reading of JSON objects: keeps the first type error together with the path of its field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "text/json.h"

namespace api {

// A view of one object and its path from the root. Absent and null fields read as nullopt, because
// the API server prunes nulls. Borrows the value and the error, which all readers of one parse
// share; after the first error, further ones are dropped.
class FieldReader {
 public:
  // `value` may be nullptr or null: every field is then absent. Any other value than an object is
  // an error.
  FieldReader(const text::Json* value, std::string path, std::string* error);

  explicit operator bool() const { return object_ != nullptr; }
  const std::string& path() const { return path_; }
  const text::Object* object() const { return object_; }

  const text::Json* Find(std::string_view name) const;
  std::optional<std::string> String(std::string_view name) const;
  std::string StringOr(std::string_view name, std::string_view otherwise) const;
  std::optional<int32_t> Int32(std::string_view name) const;
  std::optional<int64_t> Int64(std::string_view name) const;
  std::optional<bool> Bool(std::string_view name) const;
  std::optional<base::Time> Time(std::string_view name) const;
  const text::Array* Array(std::string_view name) const;
  FieldReader Object(std::string_view name) const;
  // The reader of one entry of the array or map `name`.
  FieldReader Entry(const text::Json& value, std::string_view name, std::string_view key) const;

  void Fail(std::string_view name, std::string_view why) const;

 private:
  std::string PathOf(std::string_view name) const;

  const text::Object* object_ = nullptr;
  std::string path_;
  std::string* error_;
};

}  // namespace api
