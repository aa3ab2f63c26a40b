// Gets a launcher its keeper: a fork of a resident interpreter that has this launcher's ranks as
// its children.
//
//   resident (one for each key, this user's) ── keeper (one for each launcher) ── ranks
//
// The launcher gone, its keeper ends everything below it; a keeper killed, the resident does. In a
// pod the resident is outside of it, and the keeper enters the pod's namespaces.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/environment.h"
#include "base/fd.h"
#include "base/result.h"
#include "launch/flags/options.h"
#include "warm/residents.h"

namespace launch {

struct Keeper {
  base::Fd connection;
  pid_t pid = 0;
};

// Variable of pods: the socket of who starts interpreters outside of them (warm/broker.h).
inline constexpr const char* kBrokerVariable = "MUSTER_WARM_BROKER";

// Blocks until the interpreter has imported, at most two minutes. To be called while this process
// is not a subreaper yet: the interpreter is to outlive it. With `broker`, a path, the interpreter
// is one outside of this pod. The error's message says why ranks have to be executed instead.
base::Result<Keeper> ConnectKeeper(const warm::Wish& wish, const std::string& broker);

// The same for the job that the options describe. In a pod whose broker cannot serve it, the
// interpreter is the pod's own.
base::Result<Keeper> KeeperFor(const Options& options, const base::Environment& environment,
                               const std::string& executable);

}  // namespace launch
