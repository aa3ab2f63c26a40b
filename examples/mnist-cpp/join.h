// How the processes find each other: by the environment that torchrun, muster launch and
// PyTorchJobs set, with c10d's store and gloo, as torch.distributed does for Python.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

struct Place {
  int rank = 0;
  int world_size = 1;
};

// Of RANK and WORLD_SIZE; alone where there is neither. std::runtime_error names the variable that
// is wrong.
Place PlaceFromEnvironment();

// Returns when all ranks are there, at MASTER_ADDR and MASTER_PORT. Errors as c10d's.
c10::intrusive_ptr<c10d::ProcessGroupGloo> Join(const Place& place);
