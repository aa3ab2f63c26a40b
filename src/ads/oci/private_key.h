// PrivateKey: the RSA key that signs requests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ads/oci/secret.h"
#include "base/result.h"

struct evp_pkey_st;

namespace ads::oci {

// Immutable; thread safe. While one exists, the process writes no core dump.
class PrivateKey {
 public:
  // PEM, possibly encrypted. `what` names it in messages ("key_file /x"). kInvalidArgument: not a
  // key, not an RSA key, or encrypted with no or another pass phrase.
  static base::Result<std::shared_ptr<const PrivateKey>> Read(const Secret& pem,
                                                              const Secret& pass_phrase,
                                                              std::string_view what);
  // Generates a key of 2048 bits.
  static base::Result<std::shared_ptr<const PrivateKey>> Generate();
  ~PrivateKey();
  PrivateKey(const PrivateKey&) = delete;
  PrivateKey& operator=(const PrivateKey&) = delete;

  // RSASSA-PKCS1-v1_5 over SHA-256, in base64.
  base::Result<std::string> Sign(std::string_view text) const;
  // The public key's fingerprint: 16 pairs of lower-case hex digits separated by colons (MD5 of its
  // DER).
  std::string Fingerprint() const;
  // SubjectPublicKeyInfo's DER, in base64.
  std::string PublicKeyBase64() const;

 private:
  explicit PrivateKey(evp_pkey_st* key) : key_(key) {}
  std::string PublicKeyDer() const;

  evp_pkey_st* const key_;
};

// SHA-256 of the bytes, in base64.
std::string Sha256Base64(std::string_view bytes);
// MD5 of the bytes, in base64: Content-MD5. "" when OpenSSL does not provide it (FIPS).
std::string Md5Base64(std::string_view bytes);

}  // namespace ads::oci
