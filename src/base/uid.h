// Random identifiers from the kernel.
#pragma once

#include <string>

namespace base {

// A random UUID (version 4), the format of metadata.uid.
std::string NewUid();
// `count` characters that read well in names: bcdfghjklmnpqrstvwxz2456789 (as Kubernetes uses).
std::string RandomName(size_t count);

}  // namespace base
