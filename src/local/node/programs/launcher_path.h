// Provides muster-launch to pods: as `torchrun` on PATH, and for python -m torch.distributed.run by
// a start-up hook on PYTHONPATH.
#pragma once

#include <string>

#include "base/result.h"

namespace local::node {

struct LauncherPath {
  std::string programs;  // to be put first on PATH; "" when there is no launcher
  std::string modules;   // to be put first on PYTHONPATH; "" when that is not wanted
  // The program that replaces ranks and programs that are only `python script.py`: it forks them
  // from an interpreter that has imported torch. "" when warm starts are off.
  std::string warm_python;
  std::string broker;  // socket of the process that starts interpreters outside of pods
                       // (programs/warm_broker.h)
};

// Lets `launcher` (muster-launch, beside muster) create its folder under `state`. Without that
// program, the result is empty and pods use PyTorch's own launcher; `submit` reports it
// (AdmissionDefaults). Blocks for milliseconds.
base::Result<LauncherPath> MakeLauncherPath(const std::string& launcher, const std::string& state,
                                            bool redirects_modules, bool is_warm);

}  // namespace local::node
