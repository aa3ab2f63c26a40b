// For tests: records of TensorBoard event files.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "runs/progress/event.h"
#include "runs/progress/tfrecord.h"

namespace local::daemon {

inline constexpr runs::Millis kRunStart = 1'764'000'000'000;

template <typename T>
std::string BytesOf(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// An event of that step with a loss, so many seconds after the start.
inline std::string EventRecord(char step, float loss, double seconds = 1.5) {
  const std::string value = std::string("\x0a\x04loss\x15") + BytesOf(loss);
  const std::string summary = "\x0a" + std::string(1, static_cast<char>(value.size())) + value;
  const std::string data = "\x09" + BytesOf(kRunStart / 1000.0 + seconds) + "\x10" + step + "\x2a" +
                           std::string(1, static_cast<char>(summary.size())) + summary;
  const std::string length = BytesOf<uint64_t>(data.size());
  return length + BytesOf(runs::MaskedCrc32c(length)) + data + BytesOf(runs::MaskedCrc32c(data));
}

}  // namespace local::daemon
