// Where the cluster-wide operator is installed.
#pragma once

#include <string>

#include "arena/objects/manifest_objects.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// The namespace whose operator has the cluster-wide permissions; "" if there is none. Cluster-wide
// objects have one name, so there is one at most.
base::Result<std::string> PlaceOfOperator(cluster::Client& client, KindFinder& kinds);

}  // namespace arena
