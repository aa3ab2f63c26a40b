// How muster-launch comes into pods: as `torchrun` on PATH, and for python -m torch.distributed.run
// through a start-up hook on PYTHONPATH.
#pragma once

#include <string>

#include "base/result.h"

namespace local::node {

struct LauncherPath {
  std::string programs;  // to be put first on PATH; "" when there is no launcher
  std::string modules;   // to be put first on PYTHONPATH; "" when it is not wanted
  bool is_warm = false;  // its ranks are forked from an interpreter that has imported torch
};

// Has `launcher` (muster-launch, beside muster) make its folder under `state`. Without that program
// everything is PyTorch's own, and the result empty. Blocks for milliseconds.
base::Result<LauncherPath> MakeLauncherPath(const std::string& launcher, const std::string& state,
                                            bool redirects_modules, bool is_warm);

}  // namespace local::node
