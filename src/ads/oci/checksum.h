// The checksum of what goes to Object Storage.
#pragma once

#include <string>

#include "base/result.h"
#include "net/http/file_uploader.h"

namespace ads::oci {

// The base64 of its four bytes, the format of opc-content-crc32c. kConflict when the file ends
// within the range; `path` is for messages.
base::Result<std::string> Crc32cOfFile(const net::FileRange& range, const std::string& path);

}  // namespace ads::oci
