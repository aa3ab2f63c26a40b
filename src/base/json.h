// JSON, as much as programs need that link no JSON library: all of it, read into a tree.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace base {

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string text;  // of a string its value; of a number or boolean as it was written
  std::vector<JsonValue> items;
  std::vector<std::pair<std::string, JsonValue>> members;  // in order

  // Defined where the pairs are complete, which clang asks for.
  JsonValue();
  ~JsonValue();
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;

  // nullptr when there is none, or this is not an object.
  const JsonValue* Find(std::string_view name) const;
  JsonValue* Find(std::string_view name);

  static JsonValue String(std::string_view text);
  static JsonValue Number(int64_t number);
};

// One value and nothing after it. Not deeper than 64. kInvalidArgument otherwise.
Result<JsonValue> ParseJson(std::string_view text);

std::string WriteJson(const JsonValue& value);

// With its quotes. What is not UTF-8 becomes U+FFFD.
std::string JsonQuote(std::string_view text);

}  // namespace base
