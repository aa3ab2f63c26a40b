// The principal that a compute instance of Oracle's cloud is itself: nothing is configured on it.
#pragma once

#include <functional>
#include <memory>

#include "ads/oci/connection.h"
#include "ads/oci/principal.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"

namespace ads::oci {

// Asks the instance's metadata service (169.254.169.254/opc/v2, or OCI_METADATA_BASE_URL) for its
// region, and, whenever a token is needed, for its certificate, with which the region's
// authentication service gives one. Blocks; kUnavailable away from such an instance.
base::Result<std::unique_ptr<Principal>> OpenInstancePrincipal(
    const ConnectFunction& connect, std::function<void(base::Duration)> pause,
    const base::Environment& environment, base::Clock& clock);

}  // namespace ads::oci
