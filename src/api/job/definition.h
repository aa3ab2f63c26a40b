// deploy/crd.yaml as it was when the program was built: the one place that says which fields a
// PyTorchJob has. `muster install` applies it, and the embedded cluster checks jobs by it.
#pragma once

#include <string_view>

namespace api {

extern const std::string_view kPyTorchJobDefinition;

}  // namespace api
