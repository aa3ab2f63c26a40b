// CRC-32C (Castagnoli), using the processor's instruction if available.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/file_uploader.h"

namespace ads::oci {

// Continues the checksum `crc` of earlier bytes with these; begin with 0.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

// The base64 of its four bytes, the format of opc-content-crc32c. kConflict when the file ends
// within the range; `path` is for messages.
base::Result<std::string> Crc32cOfFile(const net::FileRange& range, const std::string& path);

}  // namespace ads::oci
