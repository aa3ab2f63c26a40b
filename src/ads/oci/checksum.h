// CRC-32C (Castagnoli), with the processor's own instruction where it has one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/file_uploader.h"

namespace ads::oci {

// Of the bytes that were `crc` so far, and these; begin with 0.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

// The base64 of its four bytes, as opc-content-crc32c has it. kConflict when the file ends before
// the piece does; `path` is for messages.
base::Result<std::string> Crc32cOfFile(const net::FileRange& range, const std::string& path);

}  // namespace ads::oci
