// Records as fluent-bit's output "stdout" prints them.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "text/json.h"

namespace answers {

// Reads `[0] TAG: [[1746439841.000000000, {}], {"log"=>"text", "kubernetes"=>{"pod_name"=>"a"}}]`,
// or the same of older versions, without the inner brackets, and returns the fields, the time as
// "date", and where the tag ends. Quotes within a text stand there as they are. Nullopt for another
// line. Pure.
std::optional<std::pair<text::Json, size_t>> ReadFluentBit(std::string_view line);

}  // namespace answers
