#include "check.h"
#include "text/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto value = text::ParseJson(input);
  if (!value) {
    fuzz::Hold("an error names its place", value.error().message.starts_with("JSON "));
    return 0;
  }
  const std::string printed = text::ToJson(*value);
  const auto again = text::ParseJson(printed);
  fuzz::Hold("what is printed parses", again.has_value());
  fuzz::Same("compact", printed, text::ToJson(*again));
  const auto pretty = text::ParseJson(text::ToPrettyJson(*value));
  fuzz::Hold("what is printed prettily parses", pretty.has_value());
  fuzz::Same("pretty", printed, text::ToJson(*pretty));
  return 0;
}
