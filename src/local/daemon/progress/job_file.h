// Files that grow, one for each job and named by its uid.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace local::daemon {

// Letters, digits and "-", 64 at most: it becomes a path.
bool IsUid(std::string_view uid);

// Creates the file, for its user alone, if it does not exist.
base::Status AppendToFile(const std::string& path, std::string_view text);

}  // namespace local::daemon
