#include "answers/log/exports/fluent_bit.h"

#include <algorithm>

#include "base/strings.h"

namespace answers {
namespace {

using text::Json;

constexpr int kDeepest = 4;
constexpr std::string_view kIs = "\"=>";

// Whether another field, or the end of the record, stands behind a value.
bool IsBehindValue(std::string_view rest) {
  for (int i = 0; i < kDeepest && rest.starts_with('}'); ++i) {
    rest.remove_prefix(1);
    if (rest == "]") return true;
  }
  if (!rest.starts_with(", \"")) return false;
  const size_t end = rest.find('"', 3);
  return end != rest.npos && rest.substr(end).starts_with(kIs);
}

// Takes the fields of a map up to its brace.
std::optional<text::Object> TakeMap(std::string_view& rest, int depth) {
  text::Object fields;
  if (rest.starts_with('}')) {
    rest.remove_prefix(1);
    return fields;
  }
  while (depth < kDeepest && rest.starts_with('"')) {
    const size_t sign = rest.find(kIs);
    if (sign == rest.npos) return std::nullopt;
    Json& value = fields[rest.substr(1, sign - 1)];
    rest.remove_prefix(sign + kIs.size());
    if (rest.starts_with('{')) {
      rest.remove_prefix(1);
      auto inner = TakeMap(rest, depth + 1);
      if (!inner) return std::nullopt;
      value = std::move(*inner);
    } else {
      const bool is_text = rest.starts_with('"');
      size_t end = is_text ? 1 : 0;
      while (end < rest.size() && !((!is_text || rest[end] == '"') &&
                                    IsBehindValue(rest.substr(end + (is_text ? 1 : 0))))) {
        ++end;
      }
      if (end == rest.size()) return std::nullopt;
      value = is_text ? rest.substr(1, end - 1) : rest.substr(0, end);
      rest.remove_prefix(end + (is_text ? 1 : 0));
    }
    if (rest.starts_with('}')) {
      rest.remove_prefix(1);
      return fields;
    }
    if (!rest.starts_with(", ")) return std::nullopt;
    rest.remove_prefix(2);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Json> ReadFluentBit(std::string_view line) {
  constexpr std::string_view kBehindTag = ": [";
  const size_t tag = line.find(kBehindTag);
  if (!line.starts_with('[') || tag == line.npos || !line.ends_with("}]")) return std::nullopt;
  const bool is_new = line.substr(tag + kBehindTag.size()).starts_with('[');
  const size_t time = tag + kBehindTag.size() + (is_new ? 1 : 0);
  const auto seconds = base::ParseInt(line.substr(time, line.find('.', time) - time));
  const std::string_view mark = is_new ? "], {" : ", {";
  const size_t begin = line.find(mark, time);
  if (!seconds || begin == line.npos) return std::nullopt;
  std::string_view rest = line.substr(begin + mark.size());
  auto fields = TakeMap(rest, 0);
  if (!fields || rest != "]") return std::nullopt;
  if (!fields->contains("date")) (*fields)["date"] = *seconds;
  const size_t name = line.find("] ") + 2;
  if (name < tag && !fields->contains("tag")) (*fields)["tag"] = line.substr(name, tag - name);
  return Json(std::move(*fields));
}

}  // namespace answers
