// Names for runs that were given none.
#pragma once

#include <string>
#include <string_view>

namespace arena {

// "train-otter" of train: a name that a job may have, with a word by chance.
std::string RandomName(std::string_view stem);

}  // namespace arena
