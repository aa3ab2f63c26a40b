// Python's values: what PyYAML makes of a document, and how str() and repr() print it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ads {

// A value with its position in the file. Maps keep the order of the file; if a key occurs twice,
// the last value counts, at the place of the first.
struct PyValue {
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kTimestamp, kList, kMap };
  struct Member;

  Kind kind = Kind::kNone;
  // kString: itself; kBool, kInt, kFloat, kTimestamp: what str() prints.
  std::string text;
  std::vector<PyValue> items;   // kList
  std::vector<Member> members;  // kMap
  size_t line = 0;              // from 1; 0 when it does not come from a file
  // Identifies the Python object: the same number in two places is one object, which YAML shows as
  // an anchor and an alias. 0: an object of its own.
  size_t identity = 0;

  static PyValue String(std::string text);
  static PyValue Int(int64_t value);

  bool is_none() const { return kind == Kind::kNone; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  // Whether it is true for Python's `if`.
  bool is_truthy() const;

  // The value of a key; nullptr when this is not a map or does not have the key.
  const PyValue* Find(std::string_view key) const;
  // Replaces or appends.
  void Set(std::string key, PyValue value);
  void Erase(std::string_view key);
};

struct PyValue::Member {
  std::string key;  // str() of it
  PyValue value;
  size_t line = 0;  // of the key
  PyValue::Kind key_kind = Kind::kString;
  std::size_t first_line = 0;  // where the same key occurred before; 0: it is unique

  bool is_text() const { return key_kind == Kind::kString; }
};

// str(value).
std::string PyStr(const PyValue& value);
// repr(value).
std::string PyRepr(const PyValue& value);
// Shortened if it is long, for messages.
std::string ShortRepr(const PyValue& value);
// repr() of a float.
std::string PyFloatText(double value);

}  // namespace ads
