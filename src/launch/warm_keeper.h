// Finds or starts the resident interpreter of a launch, and gets a keeper from it: a fork of it
// that has this launcher's ranks as its children.
//
//   resident (one for each key, this user's) ── keeper (one for each launcher) ── ranks
//
// The resident interpreter listens on <runtime directory>/warm/<key>.socket and leaves when nobody
// has wanted anything for `idle`. The launcher gone, its keeper ends everything below it; a keeper
// killed, the resident does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/fd.h"
#include "base/result.h"
#include "launch/options.h"

namespace launch {

struct WarmWish {
  std::string python;   // what a worker would be executed with
  std::string preload;  // modules beside torch, with commas
  std::chrono::seconds idle{};
  std::vector<std::string> environment;  // of a worker, complete
  std::string runtime_dir;               // base::Environment::RuntimeDir
};

struct Keeper {
  base::Fd connection;
  pid_t pid = 0;
};

// Blocks until the interpreter has imported, at most two minutes. To be called while this process
// is no subreaper yet: the interpreter is to outlive it. The error's message says why ranks have to
// be executed instead.
base::Result<Keeper> ConnectKeeper(const WarmWish& wish);

// The same for the job that the options describe.
base::Result<Keeper> KeeperFor(const Options& options, const base::Environment& environment,
                               const std::string& executable);

}  // namespace launch
