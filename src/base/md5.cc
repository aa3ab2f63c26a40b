// RFC 1321. An implementation of our own, so that small static programs need no OpenSSL just for a
// name.
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/strings.h"

namespace base {
namespace {

using Md5State = std::array<uint32_t, 4>;

constexpr size_t kMd5Block = 64;
constexpr std::array<int, 16> kMd5Shifts = {7, 12, 17, 22, 5, 9,  14, 20,
                                            4, 11, 16, 23, 6, 10, 15, 21};
// floor(2^32 * |sin(i + 1)|)
constexpr std::array<uint32_t, 64> kMd5Sines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

uint32_t Mix(size_t round, uint32_t b, uint32_t c, uint32_t d) {
  switch (round) {
    case 0:
      return (b & c) | (~b & d);
    case 1:
      return (d & b) | (~d & c);
    case 2:
      return b ^ c ^ d;
    default:
      return c ^ (b | ~d);
  }
}

size_t WordOf(size_t round, size_t step) {
  constexpr std::array<size_t, 4> kFactor = {1, 5, 3, 7};
  constexpr std::array<size_t, 4> kStart = {0, 1, 5, 0};
  return (kFactor[round] * step + kStart[round]) % 16;
}

void AddBlock(Md5State& state, const char* block) {
  std::array<uint32_t, 16> words{};
  for (size_t i = 0; i < kMd5Block; ++i) {
    words[i / 4] |= static_cast<uint32_t>(static_cast<unsigned char>(block[i])) << (8 * (i % 4));
  }
  auto [a, b, c, d] = state;
  for (size_t i = 0; i < 64; ++i) {
    const size_t round = i / 16;
    const uint32_t sum = a + Mix(round, b, c, d) + kMd5Sines[i] + words[WordOf(round, i)];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kMd5Shifts[round * 4 + i % 4]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

std::string Md5Hex(std::string_view text) {
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kMd5Block != kMd5Block - sizeof(uint64_t)) padded += '\0';
  const uint64_t bits = static_cast<uint64_t>(text.size()) * 8;
  for (size_t i = 0; i < sizeof bits; ++i) padded += static_cast<char>(bits >> (8 * i) & 0xff);

  Md5State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (size_t at = 0; at < padded.size(); at += kMd5Block) AddBlock(state, padded.data() + at);

  constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  for (const uint32_t word : state) {
    for (size_t i = 0; i < sizeof word; ++i) {
      const uint32_t byte = word >> (8 * i) & 0xff;
      hex += kHex[byte >> 4];
      hex += kHex[byte & 15];
    }
  }
  return hex;
}

}  // namespace base
