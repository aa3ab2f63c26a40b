// Finds the init container of a pod that fetches the job's code. Pure.
#pragma once

#include <string>

#include "local/node/pod/pod_spec.h"
#include "text/json.h"

namespace local::node {

// The init container that fetches the code, and the volume that it fills.
struct CodeSync {
  std::string container;  // "": there is none
  std::string volume;
  ContainerSpec::Kind kind = ContainerSpec::Kind::kProgram;
};

CodeSync FindCodeSync(const text::Json& pod);

}  // namespace local::node
