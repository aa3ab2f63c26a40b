// OpenSSL's functions from before its providers, because loading providers costs each start a
// millisecond, and a static program 3 MB.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fmt/format.h>
#include <openssl/md5.h>

#include <array>

#include "base/strings.h"

namespace base {

std::string Md5Hex(std::string_view text) {
  MD5_CTX context;
  ::MD5_Init(&context);
  ::MD5_Update(&context, text.data(), text.size());
  std::array<unsigned char, MD5_DIGEST_LENGTH> digest;
  ::MD5_Final(digest.data(), &context);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace base
