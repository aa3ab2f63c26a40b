#include "text/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "base/utf8.h"
#include "text/json_builder.h"
#include "text/number.h"

namespace text {
namespace {

namespace bj = boost::json;

// Whether eight bytes of text need no escape: none is below 0x20, above 0x7f, a quote or a
// backslash.
bool IsPlain8(const char* at) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x80 * kOnes;
  uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const uint64_t quote = bytes ^ (kOnes * '"');
  const uint64_t backslash = bytes ^ (kOnes * '\\');
  // A byte below the subtrahend borrows from the high bit; the first byte that does is exact.
  const uint64_t found = (bytes - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes) | bytes;
  return (found & kHighs) == 0;
}

// The same for a whole text. The last eight bytes overlap bytes that were checked already.
bool IsPlain(std::string_view text) {
  if (text.size() < 8) {
    return std::all_of(text.begin(), text.end(), [](char byte) {
      return byte >= 0x20 && static_cast<unsigned char>(byte) < 0x80 && byte != '"' && byte != '\\';
    });
  }
  const char* const last = text.data() + text.size() - 8;
  for (const char* at = text.data(); at < last; at += 8) {
    if (!IsPlain8(at)) return false;
  }
  return IsPlain8(last);
}

// Prints as Go's encoding/json does without HTML escaping: U+2028, U+2029 and bytes that are not
// UTF-8 are escaped too.
void AppendString(std::string& out, std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  if (IsPlain(value)) {
    out.append(value);
    out += '"';
    return;
  }
  size_t plain = 0;  // start of the run not yet copied
  size_t i = 0;
  const auto replace = [&](std::string_view with, size_t count) {
    out.append(value.substr(plain, i - plain));
    out.append(with);
    i += count;
    plain = i;
  };
  while (i < value.size()) {
    if (value.size() - i >= 8 && IsPlain8(value.data() + i)) {
      i += 8;
      continue;
    }
    const auto c = static_cast<unsigned char>(value[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
    } else if (c >= 0x80) {
      const size_t length = base::Utf8Length(value.substr(i));
      if (length == 0) {
        replace("\\ufffd", 1);
      } else if (length == 3 && value.substr(i, 3) == "\xE2\x80\xA8") {
        replace("\\u2028", 3);
      } else if (length == 3 && value.substr(i, 3) == "\xE2\x80\xA9") {
        replace("\\u2029", 3);
      } else {
        i += length;
      }
    } else {
      switch (c) {
        case '"':
          replace("\\\"", 1);
          break;
        case '\\':
          replace("\\\\", 1);
          break;
        case '\n':
          replace("\\n", 1);
          break;
        case '\r':
          replace("\\r", 1);
          break;
        case '\t':
          replace("\\t", 1);
          break;
        case '\b':
          replace("\\b", 1);
          break;
        case '\f':
          replace("\\f", 1);
          break;
        default: {
          const char escaped[] = {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]};
          replace(std::string_view(escaped, sizeof escaped), 1);
        }
      }
    }
  }
  out.append(value.substr(plain));
  out += '"';
}

template <typename Int>
void AppendInt(std::string& out, Int value) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

bool AppendScalar(std::string& out, const Json& value) {
  switch (value.kind()) {
    case bj::kind::null:
      out += "null";
      return true;
    case bj::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return true;
    case bj::kind::int64:
      AppendInt(out, value.get_int64());
      return true;
    case bj::kind::uint64:
      AppendInt(out, value.get_uint64());
      return true;
    case bj::kind::double_:
      if (std::isfinite(value.get_double())) {
        AppendJsonDouble(out, value.get_double());
      } else {
        out += "null";  // JSON has no infinities and no NaN
      }
      return true;
    case bj::kind::string:
      AppendString(out, value.get_string());
      return true;
    case bj::kind::array:
    case bj::kind::object:
      return false;
  }
  return false;
}

void AppendCompact(std::string& out, const Json& value) {
  if (AppendScalar(out, value)) return;
  char separator = 0;
  if (const Array* const array = value.if_array()) {
    out += '[';
    for (const Json& item : *array) {
      if (separator != 0) out += separator;
      separator = ',';
      AppendCompact(out, item);
    }
    out += ']';
    return;
  }
  out += '{';
  for (const auto& [key, item] : value.get_object()) {
    if (separator != 0) out += separator;
    separator = ',';
    AppendString(out, key);
    out += ':';
    AppendCompact(out, item);
  }
  out += '}';
}

void AppendPretty(std::string& out, const Json& value, size_t indent, size_t column) {
  if (AppendScalar(out, value)) return;
  const Array* const array = value.if_array();
  const Object* const object = value.if_object();
  if (array != nullptr ? array->empty() : object->empty()) {
    out += array != nullptr ? "[]" : "{}";
    return;
  }
  const size_t inner = column + indent;
  bool first = true;
  const auto next_line = [&] {
    out += first ? "\n" : ",\n";
    out.append(inner, ' ');
    first = false;
  };
  out += array != nullptr ? '[' : '{';
  if (array != nullptr) {
    for (const Json& item : *array) {
      next_line();
      AppendPretty(out, item, indent, inner);
    }
  } else {
    for (const auto& [key, item] : *object) {
      next_line();
      AppendString(out, key);
      out += ": ";
      AppendPretty(out, item, indent, inner);
    }
  }
  out += '\n';
  out.append(column, ' ');
  out += array != nullptr ? ']' : '}';
}

template <typename Value>
Value* FindIn(Value& value, Path path) {
  Value* at = &value;
  for (const std::string_view step : path) {
    auto* const object = at->if_object();
    if (object == nullptr) return nullptr;
    at = object->if_contains(step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

}  // namespace

std::string DescribeAt(std::string_view text, size_t offset, std::string_view why) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("JSON {}:{}: {}", line, offset - line_start + 1, why);
}

base::Result<Json> ParseJson(std::string_view text) { return ParseWith<ValueBuilder>(text); }

JsonExtent MeasureJson(const Json& value) {
  constexpr size_t kNumberBytes = 4;  // "null", "true"; a number, roughly
  constexpr size_t kQuoteBytes = 2;
  constexpr size_t kSeparatorBytes = 1;
  JsonExtent extent;
  const auto add = [&extent](const Json& item) {
    const JsonExtent inner = MeasureJson(item);
    extent.bytes += inner.bytes + kSeparatorBytes;
    extent.height = std::max(extent.height, inner.height);
  };
  if (const Array* const array = value.if_array()) {
    extent.bytes = kQuoteBytes;
    for (const Json& item : *array) add(item);
    ++extent.height;
  } else if (const Object* const object = value.if_object()) {
    extent.bytes = kQuoteBytes;
    for (const auto& member : *object) {
      extent.bytes += member.key().size() + kQuoteBytes + kSeparatorBytes;
      add(member.value());
    }
    ++extent.height;
  } else {
    extent.bytes = value.is_string() ? value.get_string().size() + kQuoteBytes : kNumberBytes;
  }
  return extent;
}

std::string ToJson(const Json& value) {
  std::string out;
  out.reserve(512);
  AppendCompact(out, value);
  return out;
}

std::string QuoteJson(std::string_view text) {
  std::string out;
  AppendString(out, text);
  return out;
}

std::string ToText(const Json& value) {
  return value.is_string() ? std::string(value.get_string()) : ToJson(value);
}

std::string ToPrettyJson(const Json& value, int indent) {
  std::string out;
  AppendPretty(out, value, indent > 0 ? static_cast<size_t>(indent) : 0, 0);
  return out;
}

const Json* Find(const Json& value, Path path) { return FindIn(value, path); }
Json* Find(Json& value, Path path) { return FindIn(value, path); }

const Array* FindArray(const Json& value, Path path) {
  const Json* const found = FindIn(value, path);
  return found != nullptr ? found->if_array() : nullptr;
}

const Object* FindObject(const Json& value, Path path) {
  const Json* const found = FindIn(value, path);
  return found != nullptr ? found->if_object() : nullptr;
}

const Array& Items(const Json& value, Path path) {
  static const Array none;
  const Array* const found = FindArray(value, path);
  return found != nullptr ? *found : none;
}

const Object& Members(const Json& value, Path path) {
  static const Object none;
  const Object* const found = FindObject(value, path);
  return found != nullptr ? *found : none;
}

const Json* ItemNamed(const Json& value, Path path, std::string_view name, std::string_view key) {
  for (const Json& item : Items(value, path)) {
    if (GetString(item, {key}) == name) return &item;
  }
  return nullptr;
}

std::string_view TypeName(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "integer";
    case boost::json::kind::double_:
      return "number";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::array:
      return "array";
    case boost::json::kind::object:
      return "object";
  }
  return "";
}

std::string_view GetString(const Json& value, Path path) {
  const Json* const found = FindIn(value, path);
  if (found == nullptr || !found->is_string()) return {};
  const bj::string& string = found->get_string();
  return {string.data(), string.size()};
}

std::optional<int64_t> GetInt(const Json& value, Path path) {
  const Json* const found = FindIn(value, path);
  if (found == nullptr) return std::nullopt;
  if (const int64_t* const number = found->if_int64()) return *number;
  if (const uint64_t* const number = found->if_uint64()) {
    if (*number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(*number);
  }
  if (const double* const number = found->if_double()) {
    if (std::trunc(*number) == *number && *number >= -0x1p63 && *number < 0x1p63) {
      return static_cast<int64_t>(*number);
    }
  }
  return std::nullopt;
}

std::optional<bool> GetBool(const Json& value, Path path) {
  const Json* const found = FindIn(value, path);
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

Json& Ensure(Json& value, Path path) {
  Json* at = &value;
  for (const std::string_view step : path) {
    if (!at->is_object()) at->emplace_object();
    at = &at->get_object()[step];
  }
  return *at;
}

void Set(Json& value, Path path, Json to) { Ensure(value, path) = std::move(to); }
void SetDefault(Json& value, Path path, Json to) {
  if (Find(value, path) == nullptr) Set(value, path, std::move(to));
}

void Erase(Json& value, Path path) {
  if (path.size() == 0) return;
  Json* at = &value;
  const std::string_view* const last = path.end() - 1;
  for (const std::string_view* step = path.begin(); step != last; ++step) {
    Object* const object = at->if_object();
    at = object != nullptr ? object->if_contains(*step) : nullptr;
    if (at == nullptr) return;
  }
  Object* const object = at->if_object();
  if (object == nullptr) return;
  const auto found = object->find(*last);
  if (found != object->end()) object->stable_erase(found);
}

void EraseKeys(Object& object, const std::vector<std::string>& keys) {
  if (keys.empty()) return;
  if (keys.size() == 1) {
    if (auto* const found = object.find(keys.front()); found != object.end()) {
      object.stable_erase(found);
    }
    return;
  }
  const std::unordered_set<std::string_view> gone(keys.begin(), keys.end());
  Object left(object.storage());
  for (auto& [key, value] : object) {
    if (!gone.contains(std::string_view(key))) left.emplace(key, std::move(value));
  }
  object = std::move(left);
}

}  // namespace text
