// OpenSSL's functions from before its providers, because loading providers costs each start a
// millisecond, and a static program 3 MB.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/digest/hmac.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace base {

Digest Sha256(std::string_view bytes) {
  SHA256_CTX context;
  ::SHA256_Init(&context);
  ::SHA256_Update(&context, bytes.data(), bytes.size());
  Digest digest;
  ::SHA256_Final(digest.data(), &context);
  return digest;
}

Sha256Sum::Sha256Sum() : state_(std::make_unique<SHA256_CTX>()) { ::SHA256_Init(state_.get()); }
Sha256Sum::~Sha256Sum() = default;

void Sha256Sum::Add(std::string_view bytes) {
  ::SHA256_Update(state_.get(), bytes.data(), bytes.size());
}

Digest Sha256Sum::Finish() {
  Digest digest;
  ::SHA256_Final(digest.data(), state_.get());
  return digest;
}

Digest HmacSha256(std::string_view key, std::string_view bytes) {
  const Digest short_key = Sha256(key);
  if (key.size() > SHA256_CBLOCK) key = ViewOf(short_key);
  std::string inner(SHA256_CBLOCK, '\x36');
  std::string outer(SHA256_CBLOCK, '\x5c');
  for (size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  const Digest inside = Sha256(inner.append(bytes));
  return Sha256(outer.append(ViewOf(inside)));
}

std::string Hex(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

bool SameDigest(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace base
