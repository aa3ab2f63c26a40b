// The `Warning` response header (RFC 7234 section 5.5). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cluster {

// The texts of the warnings with code 299 in one header's value; what is malformed ends the list.
std::vector<std::string> ParseWarningHeader(std::string_view value);

}  // namespace cluster
