// Which of a pod's init containers brings the job's code. Pure.
#pragma once

#include <string>

#include "local/node/plan/pod_spec.h"
#include "text/json.h"

namespace local::node {

// Which init container brings the code, and into which volume.
struct CodeSync {
  std::string container;  // "" when there is none
  std::string volume;
  ContainerSpec::Kind kind = ContainerSpec::Kind::kProgram;
};

CodeSync FindCodeSync(const text::Json& pod);

}  // namespace local::node
