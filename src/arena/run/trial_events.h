// What a trial has logged for TensorBoard.
#pragma once

#include <map>
#include <string>

namespace arena {

// The last value of each scalar in the event files below `folder`, the newest file's where several
// have it. What cannot be read is left out. Blocks.
std::map<std::string, double> LoggedScalars(const std::string& folder);

}  // namespace arena
