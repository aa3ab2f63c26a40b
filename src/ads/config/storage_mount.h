// Converts spec.infrastructure.spec.storageMount to the service's form. Pure.
#pragma once

#include "ads/yaml/value.h"
#include "base/result.h"
#include "text/json.h"

namespace ads {

// The body's jobStorageMountConfigurationDetailsList for a list of `src` and `dest`: Object Storage
// (oci://bucket@namespace/prefix) or File Storage (mount target's OCID:export's OCID).
// kInvalidArgument names the entry's line and what to write.
base::Result<text::Json> StorageMountsBody(const PyValue& mounts);

}  // namespace ads
