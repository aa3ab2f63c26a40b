#include <cstdint>

#include "text/metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto metrics = text::MetricsOf(line);
  if (metrics.size() > size) __builtin_trap();
  for (const auto& [name, value] : metrics) {
    if (name.empty() || name.size() > 64 || line.find(name) == std::string_view::npos) {
      if (line.find('\\') == std::string_view::npos) __builtin_trap();  // JSON's escapes
    }
  }
  return 0;
}
