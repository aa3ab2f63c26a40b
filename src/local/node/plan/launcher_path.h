// How muster-launch comes into pods: as `torchrun` on PATH, and for python -m torch.distributed.run
// through a start-up hook on PYTHONPATH.
#pragma once

#include <string>

#include "base/result.h"

namespace local::node {

struct LauncherPath {
  std::string programs;  // to be put first on PATH; "" when there is no launcher
  std::string modules;   // to be put first on PYTHONPATH; "" when it is not wanted
  // Ranks, and programs that are no more than `python script.py`, are forked from an interpreter
  // that has imported torch: what stands in for such a program; "" when nothing is to be warm.
  std::string warm_python;
  std::string
      broker;  // the socket of who starts interpreters outside of pods (programs/warm_broker.h)
};

// Has `launcher` (muster-launch, beside muster) make its folder under `state`. Without that program
// everything is PyTorch's own, and the result empty; `submit` says so (AdmissionDefaults). Blocks
// for milliseconds.
base::Result<LauncherPath> MakeLauncherPath(const std::string& launcher, const std::string& state,
                                            bool redirects_modules, bool is_warm);

}  // namespace local::node
