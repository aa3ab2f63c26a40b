// Connects a launcher to its keeper: a fork of a resident interpreter whose children are this
// launcher's ranks.
//
//   resident (one for each key, this user's) ── keeper (one for each launcher) ── ranks
//
// When the launcher ends, its keeper ends everything below it; when a keeper is killed, the
// resident does. In a pod, the resident is outside of it, and the keeper enters the pod's
// namespaces.
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

// A variable of pods: the socket of the broker that starts interpreters outside of them
// (warm/broker.h).
inline constexpr const char* kBrokerVariable = "MUSTER_WARM_BROKER";

// Blocks until the interpreter has imported, at most two minutes. Call it before this process
// becomes a subreaper, because the interpreter has to outlive it. With `broker`, a path, the
// interpreter is outside of this pod. On an error, whose message says why, ranks have to be
// executed.
base::Result<Keeper> ConnectKeeper(const warm::Wish& wish, const std::string& broker);

// The same for the job of the options. In a pod whose broker cannot serve it, the interpreter is
// the pod's own.
base::Result<Keeper> KeeperFor(const Options& options, const base::Environment& environment,
                               const std::string& executable);

}  // namespace launch
