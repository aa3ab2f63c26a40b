// The user's input.
#pragma once

#include <optional>
#include <string>

namespace ads {

// The next line of stdin without its end; nullopt at the end of the input.
std::optional<std::string> ReadLine();

}  // namespace ads
