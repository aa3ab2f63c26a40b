// Writes the files that opctl's users name: ./config.ini, --job-info, --output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ads {

// Where WriteUserFile writes, after all links, and how.
struct UserFile {
  std::string path;
  bool is_replaced = true;  // false: written into, as devices, pipes, and what /dev/stdout leads to
};
UserFile FindUserFile(const std::string& path);

// Replaces a file in one step, keeping its mode; a new one gets what the umask leaves of 0666.
// Appends to what is not replaced. Errors name the path.
base::Status WriteUserFile(const std::string& path, std::string_view content);

// Whether WriteUserFile would replace the content of a file there.
bool IsUserFile(const std::string& path);

}  // namespace ads
