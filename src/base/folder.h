// What is in a directory.
#pragma once

#include <string>
#include <vector>

namespace base {

// The names, in no order; none where it cannot be read.
std::vector<std::string> EntriesOf(const std::string& directory);

}  // namespace base
