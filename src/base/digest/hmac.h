// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) from the parts of OpenSSL that need no initialisation,
// because the launcher's static program links them too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct SHA256state_st;

namespace base {

using Digest = std::array<uint8_t, 32>;

Digest Sha256(std::string_view bytes);

// Of bytes that come in parts.
class Sha256Sum {
 public:
  Sha256Sum();
  ~Sha256Sum();
  void Add(std::string_view bytes);
  // Once, at the end.
  Digest Finish();

 private:
  const std::unique_ptr<SHA256state_st> state_;
};

Digest HmacSha256(std::string_view key, std::string_view bytes);
// Takes the same time wherever they differ.
bool SameDigest(std::string_view a, std::string_view b);
std::string Hex(const Digest& digest);
inline std::string_view ViewOf(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace base
