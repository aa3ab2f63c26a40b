#include "arena/objects/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// `line 3 column 7: why` -> `job.yaml:3:7: why`.
base::Error AtLineOf(const std::string& source, const base::Error& error) {
  size_t line = 0;
  size_t column = 0;
  int length = 0;
  const char* const text = error.message.c_str();
  if (std::sscanf(text, "line %zu column %zu: %n", &line, &column, &length) == 2 && length > 0) {
    return {error.code, fmt::format("{}:{}:{}: {}", source, line, column, text + length), 0};
  }
  return error.Wrap(source);
}

// The end of the JSON object that begins at `begin`; nullopt when it is incomplete.
std::optional<size_t> EndOfObject(std::string_view text, size_t begin) {
  size_t depth = 0;
  bool is_in_string = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        is_in_string = false;
      }
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::nullopt;
}

// JSON objects one after another, as `kubectl get -o json` in a loop writes them, which is not
// YAML. Nullopt for any other text.
std::optional<std::vector<text::YamlDocument>> ReadJsonStream(std::string_view text) {
  std::vector<text::YamlDocument> documents;
  size_t line = 1;
  size_t at = 0;
  while (true) {
    const size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string_view::npos) break;
    if (text[begin] != '{') return std::nullopt;
    line += static_cast<size_t>(std::count(text.begin() + static_cast<ptrdiff_t>(at),
                                           text.begin() + static_cast<ptrdiff_t>(begin), '\n'));
    const auto end = EndOfObject(text, begin);
    if (!end) return std::nullopt;
    const std::string_view one = text.substr(begin, *end - begin);
    auto value = text::ParseJson(one);
    if (!value) return std::nullopt;
    documents.push_back({std::move(*value), line, documents.size() + 1});
    line += static_cast<size_t>(std::count(one.begin(), one.end(), '\n'));
    at = *end;
  }
  return documents;
}

base::Status Append(text::Json object, const std::string& place, std::vector<Manifest>& to) {
  if (!object.is_object()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: a {} where an object with apiVersion and kind is expected", place,
                            object.is_array() ? "list" : "single value"));
  }
  text::Json* const items = text::Find(object, {"items"});
  const bool is_list = text::GetString(object, {"kind"}).ends_with("List") && items != nullptr &&
                       (items->is_array() || items->is_null());
  if (!is_list) {
    to.push_back({std::move(object), place});
    return {};
  }
  if (items->is_null()) return {};
  text::Array& array = items->get_array();
  for (size_t i = 0; i < array.size(); ++i) {
    TRY(Append(std::move(array[i]), fmt::format("{} items[{}]", place, i), to));
  }
  return {};
}

}  // namespace

base::Result<std::vector<Manifest>> ParseManifests(std::string_view text,
                                                   const std::string& source) {
  auto documents = text::ParseYamlStream(text);
  if (!documents) {
    auto stream = ReadJsonStream(text);
    if (!stream) return Fail(AtLineOf(source, documents.error()));
    documents = std::move(*stream);
  }
  std::vector<Manifest> manifests;
  for (text::YamlDocument& document : *documents) {
    const std::string place =
        fmt::format("{}: document {} (line {})", source, document.number, document.line);
    TRY(Append(std::move(document.value), place, manifests));
  }
  return manifests;
}

}  // namespace arena
