#include "runs/progress/tfrecord.h"

#include <array>

namespace runs {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, reflected
constexpr size_t kHead = 12;
constexpr size_t kTail = 4;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

uint64_t LittleEndian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view data) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : data) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

bool RecordReader::Feed(std::string_view bytes,
                        const std::function<void(std::string_view record)>& visit) {
  if (is_damaged_) return false;
  rest_ += bytes;
  const std::string_view all = rest_;
  size_t at = 0;
  while (all.size() - at >= kHead) {
    const uint64_t length = LittleEndian(all, at, 8);
    if (length > kMaxRecord || MaskedCrc32c(all.substr(at, 8)) != LittleEndian(all, at + 8, 4)) {
      is_damaged_ = true;
      break;
    }
    if (all.size() - at < kHead + length + kTail) break;
    const std::string_view record = all.substr(at + kHead, length);
    if (MaskedCrc32c(record) != LittleEndian(all, at + kHead + length, 4)) {
      is_damaged_ = true;
      break;
    }
    visit(record);
    at += kHead + length + kTail;
  }
  rest_.erase(0, is_damaged_ ? rest_.size() : at);
  return !is_damaged_;
}

}  // namespace runs
