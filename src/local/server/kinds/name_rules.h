// Names, labels and annotations as Kubernetes demands them, in its words (k8s.io/apimachinery,
// util/validation). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace local::server {

// What the name of an object of a kind has to be.
enum class NameRule { kSubdomain, kLabel, kDns1035Label };
// Texts of what is wrong with `metadata.name`; empty when it is fine.
std::vector<std::string> NameCauses(NameRule rule, std::string_view name);
// Of `field`, which has to be a label by RFC 1123.
void CheckLabel(std::string_view field, std::string_view name, std::vector<std::string>& causes);
// Of metadata.labels (or annotations, whose values may be anything).
enum class StringMap { kLabels, kAnnotations };
void CheckStrings(const text::Json& object, StringMap map, std::vector<std::string>& causes);

// `FIELD: Invalid value: "VALUE": WHY`.
std::string InvalidValue(std::string_view field, std::string_view value, std::string_view why);

}  // namespace local::server
