#include "check.h"
#include "net/http/types.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto target = net::ParseTarget(input);
  if (!target) return 0;
  std::string built;
  for (const std::string& segment : target->segments) built += "/" + net::PercentEncode(segment);
  built += '/';  // one at the end counts for nothing
  char separator = '?';
  for (const auto& [name, value] : target->query) {
    built += separator + net::PercentEncode(name) + "=" + net::PercentEncode(value);
    separator = '&';
  }
  const auto again = net::ParseTarget(built);
  fuzz::Hold("what is built parses", again.has_value());
  if (again->segments != target->segments) fuzz::Same("segments", input, built);
  if (again->query != target->query) fuzz::Same("query", input, built);
  return 0;
}
