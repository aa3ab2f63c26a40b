#include "local/server/kinds/data_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "local/server/kinds/name_rules.h"

namespace local::server {

void CheckDataKeys(const text::Json& object, std::string_view map, Causes& causes) {
  for (const auto& [key, value] : text::Members(object, {map})) {
    const std::string_view name = key;
    const auto is_fine = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_' || c == '.';
    };
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_fine)) continue;
    causes.push_back(InvalidValue(
        fmt::format("{}[{}]", map, name), name,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')"));
  }
}

void JoinBase64Lines(text::Json& object, std::string_view map) {
  text::Json* const values = text::Find(object, {map});
  if (values == nullptr || !values->is_object()) return;
  for (auto& member : values->get_object()) {
    std::string joined(text::GetString(member.value(), {}));
    const size_t breaks = std::erase_if(joined, [](char c) { return c == '\n' || c == '\r'; });
    if (breaks > 0) member.value() = text::Json(joined);
  }
}

void CheckStaysImmutable(const text::Json& old, const text::Json& object,
                         std::initializer_list<std::string_view> fields, Causes& causes) {
  if (!text::GetBool(old, {"immutable"}).value_or(false)) return;
  for (const std::string_view field : fields) {
    const text::Json* const before = text::Find(old, {field});
    const text::Json* const after = text::Find(object, {field});
    const bool is_same =
        before == nullptr || after == nullptr ? before == after : *before == *after;
    if (is_same) continue;
    causes.push_back(
        fmt::format("{}: Forbidden: field is immutable when `immutable` is set", field));
  }
}

}  // namespace local::server
