#include "text/tensorboard_events.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

namespace text {
namespace {

// Around each record: its length with a checksum, and the record's own checksum.
constexpr size_t kHead = 12;
constexpr size_t kTail = 4;
// tensorflow/core/util/event.proto and framework/{summary,tensor}.proto
constexpr uint64_t kEventSummary = 5;
constexpr uint64_t kSummaryValue = 1;
constexpr uint64_t kValueTag = 1;
constexpr uint64_t kValueSimple = 2;
constexpr uint64_t kValueTensor = 8;
constexpr uint64_t kTensorType = 1;
constexpr uint64_t kTensorContent = 4;
constexpr uint64_t kTensorFloats = 5;
constexpr uint64_t kTensorDoubles = 6;
constexpr uint64_t kDouble = 2;  // DataType

static_assert(std::endian::native == std::endian::little, "event files are little-endian");

template <typename T>
std::optional<T> Fixed(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

// One field of a protobuf message after another.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  // False at the end, and where the bytes are not a message.
  bool Next() {
    const auto key = Varint();
    if (!key) return false;
    number_ = *key >> 3;
    switch (*key & 7) {
      case 0: {
        const auto value = Varint();
        varint_ = value.value_or(0);
        return value.has_value();
      }
      case 1:
        return Take(sizeof(uint64_t));
      case 2: {
        const auto length = Varint();
        return length && Take(*length);
      }
      case 5:
        return Take(sizeof(uint32_t));
      default:
        return false;
    }
  }
  uint64_t number() const { return number_; }
  uint64_t varint() const { return varint_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }
  bool Take(uint64_t length) {
    if (length > rest_.size()) return false;
    bytes_ = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

  std::string_view rest_;
  uint64_t number_ = 0;
  uint64_t varint_ = 0;
  std::string_view bytes_;
};

std::optional<double> FloatIn(std::string_view bytes) {
  const auto value = Fixed<float>(bytes);
  return value ? std::optional<double>(*value) : std::nullopt;
}

std::optional<double> ReadTensor(std::string_view message) {
  std::optional<double> value;
  std::string_view content;
  bool is_double = false;
  for (Fields fields(message); fields.Next();) {
    if (fields.number() == kTensorType) is_double = fields.varint() == kDouble;
    if (fields.number() == kTensorContent) content = fields.bytes();
    if (fields.number() == kTensorFloats) value = FloatIn(fields.bytes());
    if (fields.number() == kTensorDoubles) value = Fixed<double>(fields.bytes());
  }
  if (value || content.empty()) return value;
  // Of a histogram or a text there are more bytes than one number has.
  if (content.size() != (is_double ? sizeof(double) : sizeof(float))) return std::nullopt;
  return is_double ? Fixed<double>(content) : FloatIn(content);
}

void ReadValue(std::string_view message, std::map<std::string, double>& scalars) {
  std::string tag;
  std::optional<double> value;
  for (Fields fields(message); fields.Next();) {
    if (fields.number() == kValueTag) tag = std::string(fields.bytes());
    if (fields.number() == kValueSimple) value = FloatIn(fields.bytes());
    if (fields.number() == kValueTensor) value = ReadTensor(fields.bytes());
  }
  if (!tag.empty() && value) scalars[tag] = *value;
}

}  // namespace

std::map<std::string, double> LastScalars(std::string_view file) {
  std::map<std::string, double> scalars;
  while (const auto length = Fixed<uint64_t>(file)) {
    if (file.size() < kHead + kTail || *length > file.size() - kHead - kTail) break;
    for (Fields event(file.substr(kHead, *length)); event.Next();) {
      if (event.number() != kEventSummary) continue;
      for (Fields summary(event.bytes()); summary.Next();) {
        if (summary.number() == kSummaryValue) ReadValue(summary.bytes(), scalars);
      }
    }
    file.remove_prefix(kHead + *length + kTail);
  }
  return scalars;
}

}  // namespace text
