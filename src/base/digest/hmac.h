// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) from the parts of OpenSSL that need no initialisation,
// because the launcher's static program links them too.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

using Digest = std::array<uint8_t, 32>;

Digest Sha256(std::string_view bytes);
Digest HmacSha256(std::string_view key, std::string_view bytes);
// Takes the same time wherever they differ.
bool SameDigest(std::string_view a, std::string_view b);
std::string Hex(const Digest& digest);
inline std::string_view ViewOf(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace base
