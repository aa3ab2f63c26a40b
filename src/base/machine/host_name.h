// The name of this machine.
#pragma once

#include <string>

namespace base {

// As the kernel has it in this namespace; "localhost" if it has none.
std::string HostName();

}  // namespace base
