// OciServices: the interface to Oracle's cloud for the rest of the room. Implemented in ads/oci/.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ads/config/opctl_config.h"
#include "ads/storage/object_storage.h"
#include "base/result.h"

namespace ads {

// Whether a URI is one of object storage: oci://bucket@namespace/prefix.
inline bool IsOciUri(std::string_view uri) { return uri.starts_with("oci://"); }

// Reads nothing and contacts nobody before a method is called. Blocking; one thread at a time.
class OciServices {
 public:
  virtual ~OciServices() = default;

  // `uri` is oci://bucket@namespace/prefix.
  virtual base::Result<std::unique_ptr<ObjectStorage>> OpenStorage(const std::string& uri) = 0;
  // The cidrBlock of the subnet of a job's runs; "" when the job has none.
  virtual base::Result<std::string> SubnetCidr(const std::string& job_ocid) = 0;
  // A vault secret's content, decoded.
  virtual base::Result<std::string> Secret(const std::string& secret_ocid) = 0;
};

}  // namespace ads
