// Makes up names for runs.
#pragma once

#include <string>
#include <string_view>

namespace arena {

// "train-otter" for "train": a valid job name with a random word.
std::string RandomName(std::string_view stem);

}  // namespace arena
