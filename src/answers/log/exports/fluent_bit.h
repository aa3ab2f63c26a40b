// Records as fluent-bit's output "stdout" prints them.
#pragma once

#include <optional>
#include <string_view>

#include "text/json.h"

namespace answers {

// Reads `[0] TAG: [[1746439841.000000000, {}], {"log"=>"text", "kubernetes"=>{"pod_name"=>"a"}}]`,
// or the same of older versions, without the inner brackets: its "log" or
// "message" as "log", with the time as "date", the "tag" and the "pod_name". Nullopt for another
// line. Pure.
std::optional<text::Json> ReadFluentBit(std::string_view line);

}  // namespace answers
