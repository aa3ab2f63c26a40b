// Values as Python has them: what PyYAML makes of a document, how str() and repr() print it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ads {

// A value with its place in the file. Maps keep the order of the file; of a key that stands twice
// the last value counts, at the first one's place.
struct PyValue {
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kTimestamp, kList, kMap };
  struct Member;

  Kind kind = Kind::kNone;
  // kString: itself; kBool, kInt, kFloat, kTimestamp: what str() prints.
  std::string text;
  std::vector<PyValue> items;   // kList
  std::vector<Member> members;  // kMap
  size_t line = 0;              // from 1; 0 when it is from no file
  // Which object of Python's it is: the same number in two places is one object, which YAML shows
  // as an anchor and an alias. 0: one of its own.
  size_t identity = 0;

  static PyValue String(std::string text);
  static PyValue Int(int64_t value);

  bool is_none() const { return kind == Kind::kNone; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }
  // What Python's `if` makes of it.
  bool is_truthy() const;

  // The value of a key; nullptr when this is not a map or has none of that name.
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
  std::size_t first_line = 0;  // where the same key stood before; 0: it stands once

  bool is_text() const { return key_kind == Kind::kString; }
};

// str(value).
std::string PyStr(const PyValue& value);
// repr(value).
std::string PyRepr(const PyValue& value);
// Its beginning, where it is long: for messages.
std::string ShortRepr(const PyValue& value);
// repr() of a float.
std::string PyFloatText(double value);

}  // namespace ads
