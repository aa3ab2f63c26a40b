// Kubernetes' rules for names, labels and annotations, in its words (k8s.io/apimachinery,
// util/validation). Pure.
#pragma once

#include <initializer_list>
#include <set>
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
// The same, and that it is not one of `names`, which it then joins.
void CheckUniqueLabel(const std::string& field, std::string_view name,
                      std::set<std::string_view>& names, std::vector<std::string>& causes);
// Checks metadata.labels (or annotations, whose values are not restricted).
enum class StringMap { kLabels, kAnnotations };
void CheckStrings(const text::Json& object, StringMap map, std::vector<std::string>& causes);

// `FIELD: Invalid value: "VALUE": WHY`.
std::string InvalidValue(std::string_view field, std::string_view value, std::string_view why);
// Unless the value is one of those: `FIELD: Unsupported value: "VALUE": supported values: "A",
// "B"`.
void CheckChoice(std::string_view field, std::string_view value,
                 std::initializer_list<std::string_view> supported,
                 std::vector<std::string>& causes);

}  // namespace local::server
