// `muster operator`: the controller as a service of a Kubernetes cluster.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "cli/command.h"

namespace controller {

// Flags of the whole program that the operator uses.
struct ProgramFlags {
  std::string kubeconfig;  // "": not given
  std::string context;
  std::string namespace_name;
  bool is_local = false;
};

// All borrowed; they outlive the command tree.
struct OperatorContext {
  const base::Environment& environment;
  base::Clock& clock;
  std::function<ProgramFlags()> flags;        // as parsed; called when the command runs
  std::function<void(base::Duration)> pause;  // blocks; used between attempts of a request
};

// Its flags have the names of Kubeflow's operator (compat/pytorchjob.md 3.1) where they mean the
// same here.
void AddOperatorCommand(cli::Command& root, const OperatorContext& context);

}  // namespace controller
