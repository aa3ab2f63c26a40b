#include "base/digest/crc32c.h"

#include <array>
#include <cstring>

#if defined(__aarch64__)
#include <arm_acle.h>
#endif

namespace base {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82F63B78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReversedPolynomial : 0);
    }
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeTable();

uint32_t CrcByTable(uint32_t state, std::string_view bytes) {
  for (const char byte : bytes) {
    state = (state >> 8) ^ kCrcTable[(state ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t CrcByInstruction(uint32_t state,
                                                            std::string_view bytes) {
  uint64_t wide = state;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  return CrcByTable(static_cast<uint32_t>(wide), bytes);
}
bool HasInstruction() { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
uint32_t CrcByInstruction(uint32_t state, std::string_view bytes) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    state = __crc32cd(state, word);
  }
  return CrcByTable(state, bytes);
}
bool HasInstruction() { return true; }
#else
uint32_t CrcByInstruction(uint32_t state, std::string_view bytes) {
  return CrcByTable(state, bytes);
}
bool HasInstruction() { return false; }
#endif

}  // namespace

uint32_t Crc32c(uint32_t crc, std::string_view bytes) {
  return ~(HasInstruction() ? CrcByInstruction(~crc, bytes) : CrcByTable(~crc, bytes));
}

}  // namespace base
