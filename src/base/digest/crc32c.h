// CRC-32C (Castagnoli), using the processor's instruction if available.
#pragma once

#include <cstdint>
#include <string_view>

namespace base {

// Continues the checksum `crc` of earlier bytes with these; begin with 0.
uint32_t Crc32c(uint32_t crc, std::string_view bytes);

}  // namespace base
