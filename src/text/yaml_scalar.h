// What a YAML scalar means: the rules of go-yaml v2, on which sigs.k8s.io/yaml and so kubectl
// stand.
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

// A scalar without quotes and tag. YAML 1.1 words, y and n among them; 0755 and 0o755, 0x1F, 0b11,
// 1_000; base 60 is a string.
Scalar ResolvePlain(std::string_view text);

// Whether `text`, written without quotes, reads back as the string that it is; also false for
// what other YAML readers would take for a number (12:30).
bool ReadsAsString(std::string_view text);

// The key of an object that a scalar becomes; nullopt for null. Floats as go-yaml prints a float32.
std::optional<std::string> KeyText(const Scalar& scalar);

// As kubectl -o yaml prints numbers: whole ones in digits, others as Go's %g.
std::string NumberText(const Json& number);

}  // namespace text
