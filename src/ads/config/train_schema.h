// The permitted keys of a train.yaml (compat/opctl.md 3.1). Pure.
#pragma once

#include <string>
#include <vector>

#include "ads/yaml/value.h"
#include "base/result.h"

namespace ads {

// kInvalidArgument for the first key that is unknown in a distributed YAML or occurs twice, with
// its name, its line and the most similar valid key; and for the first value of the wrong form
// (map, list or scalar). spec.infrastructure.spec may have keys that resemble no valid one:
// `warnings` names them.
base::Status CheckKeys(const PyValue& document, const std::string& path,
                       std::vector<std::string>& warnings);

}  // namespace ads
