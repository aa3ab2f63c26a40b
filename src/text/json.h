// JSON values: Boost.JSON wrapped in Results, with printers and accessors that it lacks.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace text {

using Json = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

// Keys from the root, objects only: {"metadata", "labels"}.
using Path = std::initializer_list<std::string_view>;

inline constexpr size_t kMaxJsonDepth = 200;

// Parses the whole text as one JSON value, at most kMaxJsonDepth deep; the last of duplicate keys
// wins. lenient_json.h reads what Python writes.
base::Result<Json> ParseJson(std::string_view text);

// Compact, with keys in insertion order; integral doubles are printed without an exponent.
std::string ToJson(const Json& value);
// A string with its quotes.
std::string QuoteJson(std::string_view text);
// A string without quotes, any other value as ToJson prints it.
std::string ToText(const Json& value);
struct JsonExtent {
  size_t bytes = 0;   // approximately the size of ToJson's output: numbers and escapes are
                      // estimated
  size_t height = 0;  // levels of containers
};
JsonExtent MeasureJson(const Json& value);
// Indented by `indent` spaces, `"key": value`, empty containers as {} and [], no final newline.
std::string ToPrettyJson(const Json& value, int indent = 4);

// The value at `path`, or nullptr when any step is absent or not an object.
const Json* Find(const Json& value, Path path);
Json* Find(Json& value, Path path);
const Array* FindArray(const Json& value, Path path);
const Object* FindObject(const Json& value, Path path);
// The items of the array, or the members of the object, at `path`; empty when it is absent or of
// another kind.
const Array& Items(const Json& value, Path path);
const Object& Members(const Json& value, Path path);
// The first of those items whose `key` is `name`; nullptr when there is none.
const Json* ItemNamed(const Json& value, Path path, std::string_view name,
                      std::string_view key = "name");
// "" when absent or not a string. The view lives as long as `value`.
std::string_view GetString(const Json& value, Path path);
// As OpenAPI names it: "string", "integer", "number", "boolean", "array", "object" or "null".
std::string_view TypeName(const Json& value);
// Nullopt when absent or not an integer.
std::optional<int64_t> GetInt(const Json& value, Path path);
std::optional<bool> GetBool(const Json& value, Path path);

// The value at `path`; creates it, and every object on the way, when absent, and replaces values on
// the way that are not objects.
Json& Ensure(Json& value, Path path);
// Ensure(value, path) = to.
void Set(Json& value, Path path, Json to);
// The same, unless `path` has a value already.
void SetDefault(Json& value, Path path, Json to);
// Removes the last key of `path`, keeping the order of the others. No effect when absent.
void Erase(Json& value, Path path);
// Removes all of `keys` that exist in one pass, keeping the order of the others.
void EraseKeys(Object& object, const std::vector<std::string>& keys);

}  // namespace text
