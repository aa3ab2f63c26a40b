// The scalars that a trial has logged for TensorBoard.
#pragma once

#include <map>
#include <string>

namespace arena {

// The last value of each scalar in the event files below `folder`; of several files that have it,
// the newest counts. Skips what cannot be read. Blocks.
std::map<std::string, double> LoggedScalars(const std::string& folder);

}  // namespace arena
