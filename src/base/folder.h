// The contents of a directory.
#pragma once

#include <string>
#include <vector>

namespace base {

// The names in no particular order; empty when the directory cannot be read.
std::vector<std::string> EntriesOf(const std::string& directory);

}  // namespace base
