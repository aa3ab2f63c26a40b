// What the rules of ConfigMaps and Secrets share. Pure.
#pragma once

#include <initializer_list>
#include <string_view>

#include "local/server/kinds/kind_rules.h"
#include "text/json.h"

namespace local::server {

// Checks the keys of a ConfigMap or Secret, in the member `map`.
void CheckDataKeys(const text::Json& object, std::string_view map, Causes& causes);
// Removes the line breaks from the base64 in the member `map` of a ConfigMap or Secret.
void JoinBase64Lines(text::Json& object, std::string_view map);
// Checks that none of the fields changes once `immutable` is set.
void CheckStaysImmutable(const text::Json& old, const text::Json& object,
                         std::initializer_list<std::string_view> fields, Causes& causes);

}  // namespace local::server
