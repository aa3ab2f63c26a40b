#include "runs/progress/tfrecord.h"

#include "base/digest/crc32c.h"

namespace runs {
namespace {

constexpr size_t kHead = 12;
constexpr size_t kTail = 4;

uint64_t LittleEndian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

uint32_t MaskedCrc32c(std::string_view data) {
  const uint32_t crc = base::Crc32c(0, data);
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
