// Which keys a train.yaml may have, and where (compat/opctl.md 3.1). Pure.
#pragma once

#include <string>
#include <vector>

#include "ads/yaml/value.h"
#include "base/result.h"

namespace ads {

// kInvalidArgument on the first key that no part of a distributed YAML reads, or that stands
// twice: its name, its line, and the nearest right one; and on the first value that is a map, a
// list or neither where another is wanted.
base::Status CheckKeys(const PyValue& document, const std::string& path);

}  // namespace ads
