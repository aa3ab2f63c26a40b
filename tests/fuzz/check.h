// For fuzz targets: what has to hold, and JSON text to compare by.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace fuzz {

// Ends the run, with both texts, unless they are the same.
inline void Same(std::string_view what, std::string_view a, std::string_view b) {
  if (a == b) return;
  std::fprintf(stderr, "%.*s:\n<<<\n%.*s\n===\n%.*s\n>>>\n", static_cast<int>(what.size()),
               what.data(), static_cast<int>(a.size()), a.data(), static_cast<int>(b.size()),
               b.data());
  std::abort();
}

inline void Hold(std::string_view what, bool holds) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// The value with the members of each object in the order of their keys.
inline text::Json Sorted(const text::Json& value) {
  if (const text::Array* const array = value.if_array()) {
    text::Array sorted;
    for (const text::Json& item : *array) sorted.push_back(Sorted(item));
    return text::Json(std::move(sorted));
  }
  const text::Object* const object = value.if_object();
  if (object == nullptr) return value;
  std::vector<std::string_view> keys;
  for (const auto& member : *object) keys.push_back(member.key());
  std::sort(keys.begin(), keys.end());
  text::Object sorted;
  for (const std::string_view key : keys) sorted[key] = Sorted(object->at(key));
  return text::Json(std::move(sorted));
}

}  // namespace fuzz
