// The principal of a compute instance of Oracle's cloud, which needs no configuration.
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
// region and, whenever a token is needed, for its certificate, for which the region's
// authentication service issues a token. Blocks; kUnavailable outside of such an instance.
base::Result<std::unique_ptr<Principal>> OpenInstancePrincipal(
    const ConnectFunction& connect, std::function<void(base::Duration)> pause,
    const base::Environment& environment, base::Clock& clock);

}  // namespace ads::oci
