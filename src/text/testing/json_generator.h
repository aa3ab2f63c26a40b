// For property tests: arbitrary JSON values, and equality as far as text can express it. Include
// <gtest/gtest.h> and <rapidcheck/gtest.h> first.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "text/json.h"

namespace text {

// Numbers compare by value whatever their kind: the text of 1.0 is "1".
inline bool SameJson(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (!a.is_double() && !b.is_double()) return a == b;
    return a.to_number<double>() == b.to_number<double>();
  }
  if (a.kind() != b.kind()) return false;
  if (const Array* const array = a.if_array()) {
    const Array& other = b.get_array();
    if (array->size() != other.size()) return false;
    for (size_t i = 0; i < array->size(); ++i) {
      if (!SameJson((*array)[i], other[i])) return false;
    }
    return true;
  }
  if (const Object* const object = a.if_object()) {
    const Object& other = b.get_object();
    if (object->size() != other.size()) return false;
    for (const auto& [key, item] : *object) {
      const Json* const found = other.if_contains(key);
      if (found == nullptr || !SameJson(item, *found)) return false;
    }
    return true;
  }
  return a == b;
}

// Valid UTF-8 with many characters that confuse printers: control characters, YAML's indicators and
// words, line ends.
inline rc::Gen<std::string> GenerateText() {
  static const std::vector<std::string> kPieces = {"a",
                                                   "B",
                                                   "0",
                                                   "7",
                                                   "1e3",
                                                   "_",
                                                   "-",
                                                   ".",
                                                   "+",
                                                   "e",
                                                   " ",
                                                   "  ",
                                                   "\n",
                                                   "\n\n",
                                                   "\t",
                                                   "\r",
                                                   "\r\n",
                                                   ":",
                                                   ": ",
                                                   "#",
                                                   " #",
                                                   "'",
                                                   "\"",
                                                   "\\",
                                                   "|",
                                                   ">",
                                                   "%",
                                                   "@",
                                                   "`",
                                                   "!",
                                                   "&",
                                                   "*",
                                                   "?",
                                                   "? ",
                                                   "- ",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   ",",
                                                   "=",
                                                   "<<",
                                                   "~",
                                                   "null",
                                                   "true",
                                                   "yes",
                                                   "no",
                                                   "on",
                                                   "off",
                                                   "y",
                                                   "n",
                                                   ".inf",
                                                   ".nan",
                                                   "0x1f",
                                                   "0o7",
                                                   "0b1",
                                                   "0755",
                                                   "1_000",
                                                   "12:30:45",
                                                   "2001-01-01",
                                                   "---",
                                                   "...",
                                                   "\x01",
                                                   "\x7f",
                                                   "\x1b",
                                                   "\xC2\x85",
                                                   "\xC3\xA9",
                                                   "\xE2\x80\xA8",
                                                   "\xEF\xBB\xBF",
                                                   "\xF0\x9F\x98\x80",
                                                   "\xEF\xBF\xBE",
                                                   "\xC2\xA0"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kPieces)),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& piece : pieces) text += piece;
                        return text;
                      });
}

inline rc::Gen<Json> GenerateScalar() {
  return rc::gen::oneOf(
      rc::gen::just(Json(nullptr)),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return Json(value); }),
      rc::gen::map(rc::gen::arbitrary<int64_t>(), [](int64_t value) { return Json(value); }),
      rc::gen::map(rc::gen::arbitrary<uint64_t>(), [](uint64_t value) { return Json(value); }),
      rc::gen::map(rc::gen::arbitrary<uint64_t>(),
                   [](uint64_t bits) {
                     double value = 0;
                     static_assert(sizeof value == sizeof bits);
                     std::memcpy(&value, &bits, sizeof value);
                     return Json(std::isfinite(value) ? value : 0.5);
                   }),
      rc::gen::map(rc::gen::arbitrary<double>(), [](double value) { return Json(value); }),
      rc::gen::map(GenerateText(), [](const std::string& value) { return Json(value); }));
}

inline rc::Gen<Json> GenerateJson(int depth = 4) {
  if (depth == 0) return GenerateScalar();
  const auto inner = rc::gen::lazy([depth] { return GenerateJson(depth - 1); });
  return rc::gen::oneOf(
      GenerateScalar(),
      rc::gen::map(
          rc::gen::resize(4, rc::gen::container<std::vector<Json>>(inner)),
          [](const std::vector<Json>& items) { return Json(Array(items.begin(), items.end())); }),
      rc::gen::map(rc::gen::resize(4, rc::gen::container<std::vector<std::pair<std::string, Json>>>(
                                          rc::gen::pair(GenerateText(), inner))),
                   [](const std::vector<std::pair<std::string, Json>>& members) {
                     Object object;
                     for (const auto& [key, item] : members) object[key] = item;
                     return Json(std::move(object));
                   }));
}

}  // namespace text
