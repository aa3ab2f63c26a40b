// Kubernetes' rules for names, labels and annotations, in its words (k8s.io/apimachinery,
// util/validation). Pure.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace local::server {

// The rule for the names of a kind.
enum class NameRule { kSubdomain, kLabel, kDns1035Label };
// The errors of `metadata.name`; empty when it is valid.
std::vector<std::string> NameCauses(NameRule rule, std::string_view name);
// Checks that the value of `field` is a label by RFC 1123.
void CheckLabel(std::string_view field, std::string_view name, std::vector<std::string>& causes);
// Checks metadata.labels (or annotations, whose values are not restricted).
enum class StringMap { kLabels, kAnnotations };
void CheckStrings(const text::Json& object, StringMap map, std::vector<std::string>& causes);

// Checks the keys of a ConfigMap or Secret, in the member `map`.
void CheckDataKeys(const text::Json& object, std::string_view map,
                   std::vector<std::string>& causes);
// Removes the line breaks from the base64 in the member `map` of a ConfigMap or Secret.
void JoinBase64Lines(text::Json& object, std::string_view map);
// Checks that none of the fields changes once `immutable` is set.
void CheckStaysImmutable(const text::Json& old, const text::Json& object,
                         std::initializer_list<std::string_view> fields,
                         std::vector<std::string>& causes);

// `FIELD: Invalid value: "VALUE": WHY`.
std::string InvalidValue(std::string_view field, std::string_view value, std::string_view why);
// `FIELD: Unsupported value: "VALUE": supported values: "A", "B"`.
std::string UnsupportedValue(std::string_view field, std::string_view value,
                             std::initializer_list<std::string_view> supported);

}  // namespace local::server
