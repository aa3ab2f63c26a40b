// muster-launch as a program.
#pragma once

#include <string>
#include <vector>

namespace launch {

// The program's main function. `argv0` is the name by which it was called, which selects what it
// does: under PyTorch's names, torchrun and torch.distributed.launch, it acts as they do. Returns
// the exit code.
int LaunchMain(const std::string& argv0, const std::vector<std::string>& args);

}  // namespace launch
