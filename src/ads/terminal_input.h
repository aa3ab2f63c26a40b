// What the user types.
#pragma once

#include <optional>
#include <string>

namespace ads {

// The next line of stdin without its end; nothing at the end of the input.
std::optional<std::string> ReadLine();

}  // namespace ads
