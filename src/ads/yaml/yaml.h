// YAML as PyYAML's SafeLoader reads and its Dumper writes it: YAML 1.1 scalars
// (compat/opctl.md 3.1).
#pragma once

#include <string>
#include <string_view>

#include "ads/yaml/value.h"
#include "base/result.h"

namespace ads {

// One document; an empty text is None. Anchors, aliases and merge keys are resolved.
// kInvalidArgument: `line L column C: why`.
base::Result<PyValue> ReadPyYaml(std::string_view text);

// A scalar without quotes and tag.
PyValue ResolvePyScalar(std::string_view text);

// yaml.dump(value, default_flow_style=False): block style, keys sorted, lists not indented, long
// scalars folded at the first space after column 80. Ends with a newline.
std::string DumpPyYaml(const PyValue& value);

}  // namespace ads
