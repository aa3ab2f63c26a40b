// YAML as sigs.k8s.io/yaml reads and writes it, to and from JSON values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace text {

inline constexpr size_t kMaxYamlDepth = 200;
// The most values to which aliases may expand in one document, against YAML bombs.
inline constexpr size_t kMaxYamlNodes = 1'000'000;

// One document (an empty text is null). Anchors, aliases and merge keys are resolved, scalars are
// typed by YAML 1.1 (yes/no/on/off, 0755 octal) as sigs.k8s.io/yaml does, a duplicate key is an
// error. kInvalidArgument, `line L column C: why`.
base::Result<Json> ParseYaml(std::string_view text);
// Every document of a stream separated by `---`, without empty documents.
base::Result<std::vector<Json>> ParseYamlDocuments(std::string_view text);

// The same with each document's position: the line on which its value begins, and its number in the
// stream, counting empty documents; both from 1.
struct YamlDocument {
  Json value;
  size_t line = 1;
  size_t number = 1;
};
base::Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text);

// kubectl's style: block style with sorted keys, lists not indented, strings quoted when they would
// be read as something else, `|` blocks for several lines. Ends with a newline.
std::string ToYaml(const Json& value);

}  // namespace text
