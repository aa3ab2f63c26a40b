#include "ads/oci/private_key.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/strings.h"

namespace ads::oci {
namespace {

using base::Code;
using base::Fail;

struct PassPhrase {
  const std::string& text;
  bool was_asked = false;
};

int GivePassPhrase(char* buffer, int size, int, void* user) {
  auto* const pass = static_cast<PassPhrase*>(user);
  pass->was_asked = true;
  const size_t count = std::min(pass->text.size(), static_cast<size_t>(size));
  std::memcpy(buffer, pass->text.data(), count);
  return count == 0 ? -1 : static_cast<int>(count);
}

std::string_view View(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

base::Result<std::shared_ptr<const PrivateKey>> PrivateKey::Read(const Secret& pem,
                                                                 const Secret& pass_phrase,
                                                                 std::string_view what) {
  ForbidDumps();
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(
      ::BIO_new_mem_buf(pem.text().data(), static_cast<int>(pem.text().size())), ::BIO_free);
  PassPhrase pass{pass_phrase.text()};
  EVP_PKEY* const key = ::PEM_read_bio_PrivateKey(memory.get(), nullptr, &GivePassPhrase, &pass);
  ::ERR_clear_error();
  if (key == nullptr) {
    const char* const why = !pass.was_asked       ? "it holds no private key (PEM)"
                            : pass_phrase.empty() ? "it is encrypted: set pass_phrase"
                                                  : "pass_phrase does not open it";
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", what, why));
  }
  std::shared_ptr<const PrivateKey> read(new PrivateKey(key));
  if (::EVP_PKEY_base_id(key) != EVP_PKEY_RSA) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: it is not an RSA key; the service takes RSA keys only", what));
  }
  return read;
}

base::Result<std::shared_ptr<const PrivateKey>> PrivateKey::Generate() {
  ForbidDumps();
  constexpr size_t kBits = 2048;
  EVP_PKEY* const key = ::EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", kBits);
  ::ERR_clear_error();
  if (key == nullptr) return Fail(Code::kInternal, "no session key can be made");
  return std::shared_ptr<const PrivateKey>(new PrivateKey(key));
}

PrivateKey::~PrivateKey() { ::EVP_PKEY_free(key_); }

base::Result<std::string> PrivateKey::Sign(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(::EVP_MD_CTX_new(),
                                                                   ::EVP_MD_CTX_free);
  const auto* const data = reinterpret_cast<const unsigned char*>(text.data());
  std::vector<unsigned char> signature(static_cast<size_t>(::EVP_PKEY_size(key_)));
  size_t size = signature.size();
  const bool is_signed =
      context && ::EVP_DigestSignInit(context.get(), nullptr, ::EVP_sha256(), nullptr, key_) == 1 &&
      ::EVP_DigestSign(context.get(), signature.data(), &size, data, text.size()) == 1;
  ::ERR_clear_error();
  if (!is_signed) return Fail(Code::kInternal, "the private key signs nothing");
  signature.resize(size);
  return base::Base64Encode(View(signature));
}

std::string PrivateKey::PublicKeyDer() const {
  unsigned char* der = nullptr;
  const int size = ::i2d_PUBKEY(key_, &der);
  if (size <= 0) return "";
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<size_t>(size));
  ::OPENSSL_free(der);
  return bytes;
}

std::string PrivateKey::PublicKeyBase64() const { return base::Base64Encode(PublicKeyDer()); }

std::string PrivateKey::Fingerprint() const {
  const std::string hex = base::Md5Hex(PublicKeyDer());
  std::string pairs;
  for (size_t i = 0; i < hex.size(); i += 2) pairs += (i > 0 ? ":" : "") + hex.substr(i, 2);
  return pairs;
}

std::string Sha256Base64(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return base::Base64Encode({reinterpret_cast<const char*>(digest), sizeof digest});
}

std::string Md5Base64(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  // "" when MD5 is not permitted: the header is then omitted.
  if (::EVP_Digest(bytes.data(), bytes.size(), digest, &size, ::EVP_md5(), nullptr) != 1) {
    ::ERR_clear_error();
    return "";
  }
  return base::Base64Encode({reinterpret_cast<const char*>(digest), size});
}

}  // namespace ads::oci
