#include "runs/progress/event.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace runs {
namespace {

constexpr size_t kMaxTag = 256;
constexpr uint64_t kFloat = 1;   // DataType.DT_FLOAT
constexpr uint64_t kDouble = 2;  // DataType.DT_DOUBLE

// The fields of a protobuf message, one after another; not `is_good` from the first bad byte on.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  // False at the end.
  bool Next() {
    if (rest_.empty() || !is_good_) return false;
    const uint64_t key = TakeVarint();
    number_ = key >> 3;
    wire_ = key & 7;
    switch (wire_) {
      case 0:
        value_ = TakeVarint();
        break;
      case 1:
        TakeFixed(8);
        break;
      case 2: {
        const uint64_t size = TakeVarint();
        bytes_ = Take(size);
        break;
      }
      case 5:
        TakeFixed(4);
        break;
      default:
        is_good_ = false;
    }
    return is_good_;
  }

  bool Is(uint64_t number, uint64_t wire) const { return number_ == number && wire_ == wire; }
  uint64_t value() const { return value_; }
  std::string_view bytes() const { return bytes_; }
  double AsDouble() const { return std::bit_cast<double>(value_); }
  float AsFloat() const { return std::bit_cast<float>(static_cast<uint32_t>(value_)); }
  bool is_good() const { return is_good_; }

 private:
  uint64_t TakeVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    is_good_ = false;
    return 0;
  }

  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      is_good_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  void TakeFixed(size_t size) {
    const std::string_view bytes = Take(size);
    value_ = 0;
    for (size_t i = bytes.size(); i-- > 0;) {
      value_ = value_ << 8 | static_cast<unsigned char>(bytes[i]);
    }
  }

  std::string_view rest_, bytes_;
  uint64_t number_ = 0, wire_ = 0, value_ = 0;
  bool is_good_ = true;
};

template <typename T>
std::optional<double> First(std::string_view bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return static_cast<double>(value);
}

// TensorProto: dtype 1, tensor_content 4, float_val 5, double_val 6. A scalar has one value.
std::optional<double> OfTensor(std::string_view message) {
  Fields fields(message);
  uint64_t type = 0;
  std::string_view content;
  std::optional<double> value;
  while (fields.Next()) {
    if (fields.Is(1, 0)) type = fields.value();
    if (fields.Is(4, 2)) content = fields.bytes();
    if (fields.Is(5, 5)) value = fields.AsFloat();
    if (fields.Is(5, 2)) value = First<float>(fields.bytes());
    if (fields.Is(6, 1)) value = fields.AsDouble();
    if (fields.Is(6, 2)) value = First<double>(fields.bytes());
  }
  if (!fields.is_good()) return std::nullopt;
  if (value) return value;
  if (type == kFloat && content.size() == sizeof(float)) return First<float>(content);
  if (type == kDouble && content.size() == sizeof(double)) return First<double>(content);
  return std::nullopt;
}

// Summary.Value: tag 1, simple_value 2, tensor 8.
std::optional<std::pair<std::string, double>> OfValue(std::string_view message) {
  Fields fields(message);
  std::string tag;
  std::optional<double> value;
  while (fields.Next()) {
    if (fields.Is(1, 2)) tag = fields.bytes().substr(0, kMaxTag);
    if (fields.Is(2, 5)) value = fields.AsFloat();
    if (fields.Is(8, 2)) value = OfTensor(fields.bytes());
  }
  if (!fields.is_good() || tag.empty() || !value) return std::nullopt;
  return std::pair(std::move(tag), *value);
}

Millis WallTime(double seconds) {
  constexpr double kFarthest = 1e11;  // seconds: the year 5138
  if (!(seconds > 0) || seconds > kFarthest) return 0;
  return std::llround(seconds * 1000);
}

}  // namespace

std::optional<ScalarEvent> ReadEvent(std::string_view record) {
  // Event: wall_time 1, step 2, summary 5.
  Fields fields(record);
  ScalarEvent event;
  while (fields.Next()) {
    if (fields.Is(1, 1)) event.at = WallTime(fields.AsDouble());
    if (fields.Is(2, 0)) event.step = static_cast<int64_t>(fields.value());
    if (!fields.Is(5, 2)) continue;
    Fields summary(fields.bytes());
    while (summary.Next()) {
      if (!summary.Is(1, 2) || event.scalars.size() >= kMostScalarsOfAnEvent) continue;
      if (auto scalar = OfValue(summary.bytes())) event.scalars.push_back(std::move(*scalar));
    }
    if (!summary.is_good()) return std::nullopt;
  }
  const bool has_sense = event.step >= 0 && event.step < kMostSteps;
  if (!fields.is_good() || event.scalars.empty() || !has_sense) return std::nullopt;
  return event;
}

}  // namespace runs
