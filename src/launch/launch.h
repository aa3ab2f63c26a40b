// muster-launch as a program.
#pragma once

#include <string>
#include <vector>

namespace launch {

// What main does. `argv0` as the program was called: the names torchrun and
// torch.distributed.launch have habits of their own. Returns the exit code.
int LaunchMain(const std::string& argv0, const std::vector<std::string>& args);

}  // namespace launch
