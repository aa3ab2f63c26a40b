#include "base/uid.h"

#include <sys/random.h>

#include <string_view>

namespace base {
namespace {
void FillRandom(unsigned char* bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t got = getrandom(bytes + done, count - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
  }
}
}  // namespace

std::string NewUid() {
  unsigned char bytes[16];
  FillRandom(bytes, sizeof bytes);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  constexpr char kHex[] = "0123456789abcdef";
  std::string uid;
  for (size_t i = 0; i < sizeof bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uid += '-';
    uid += kHex[bytes[i] >> 4];
    uid += kHex[bytes[i] & 15];
  }
  return uid;
}

std::string RandomName(size_t count) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string name;
  while (name.size() < count) {
    unsigned char bytes[16];
    FillRandom(bytes, sizeof bytes);
    for (const unsigned char byte : bytes) {
      if (byte >= 243 || name.size() == count) continue;  // 9 * 27: no bias
      name += kAlphabet[byte % kAlphabet.size()];
    }
  }
  return name;
}

}  // namespace base
