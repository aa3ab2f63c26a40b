// deploy/crd.yaml, as it was when this program was built: the single definition of the fields of a
// PyTorchJob. `muster install` applies it, and the embedded cluster serves it, checks jobs against
// it, and derives from it which fields there are. It is parsed at first use.
#pragma once

#include <string_view>

#include "text/json.h"

namespace api {

struct ObjectType;

extern const std::string_view kPyTorchJobDefinition;

// The CustomResourceDefinition, and the openAPIV3Schema of its only version.
const text::Json& PyTorchJobDefinition();
const text::Json& PyTorchJobSchema();

// The type of a PyTorchJob, and through its fields those of all that it contains. They are named
// by the path from the job: "PyTorchJob.Spec.RunPolicy".
const ObjectType& PyTorchJobType();

}  // namespace api
