// Where muster's operator is installed.
#pragma once

#include <optional>
#include <string>

#include "arena/objects/manifest_objects.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// The namespace whose operator has the cluster-wide permissions; "" if there is none. Cluster-wide
// objects have one name, so there is one at most.
base::Result<std::string> PlaceOfOperator(cluster::Client& client, KindFinder& kinds);

// The Deployment of an operator in another namespace that works on some of the same jobs as
// `deployment` would. Without permission to look, there is none.
base::Result<std::optional<text::Json>> FindRival(cluster::Client& client,
                                                  const text::Json& deployment);

// Pure part: the namespace whose jobs the operator of a Deployment runs; "" if all, nullopt if it
// does not run.
std::optional<std::string> JobsOfOperator(const text::Json& deployment);

}  // namespace arena
