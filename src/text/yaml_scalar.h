// The meaning of YAML scalars: the rules of go-yaml v2, which sigs.k8s.io/yaml and therefore
// kubectl use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/json.h"

namespace text {

enum class ScalarType { kString, kNull, kBool, kInt, kFloat, kTimestamp };

struct Scalar {
  ScalarType type = ScalarType::kString;
  Json value;  // infinities and NaN are doubles here; a timestamp is a string
};

// Resolves a scalar without quotes and tag: YAML 1.1 words, including y and n; 0755 and 0o755,
// 0x1F, 0b11, 1_000; base 60 is a string.
Scalar ResolvePlain(std::string_view text);

// Whether `text`, written without quotes, is read as that string; also false for text that other
// YAML readers would read as a number (12:30).
bool ReadsAsString(std::string_view text);

// Whether the text contains NEL, LS, PS or BOM, which YAML treats as line ends or drops.
bool HasUnicodeBreak(std::string_view text);

// The object key for a scalar; nullopt for null. Floats are printed as go-yaml prints a float32.
std::optional<std::string> KeyText(const Scalar& scalar);

// A number as kubectl -o yaml prints it: an integer in digits, others by Go's %g.
std::string NumberText(const Json& number);

}  // namespace text
