// Writes the files that opctl's users name: ./config.ini, --job-info, --output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ads {

// Follows links, writes into devices and pipes, and replaces a file in one step, keeping its mode.
// A new file gets the mode 0644. Errors name the path.
base::Status WriteUserFile(const std::string& path, std::string_view content);

// Whether WriteUserFile would replace the content of a file there.
bool IsUserFile(const std::string& path);

}  // namespace ads
