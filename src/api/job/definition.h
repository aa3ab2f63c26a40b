// deploy/crd.yaml as of the build: the single definition of the fields of a PyTorchJob. `muster
// install` applies it, and the embedded cluster checks jobs against it.
#pragma once

#include <string_view>

namespace api {

extern const std::string_view kPyTorchJobDefinition;

}  // namespace api
