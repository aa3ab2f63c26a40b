#include "check.h"
#include "text/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto documents = text::ParseYamlDocuments(input);
  if (!documents) {
    fuzz::Hold("an error names its place", documents.error().message.starts_with("line "));
    return 0;
  }
  for (const text::Json& document : *documents) {
    const std::string json = text::ToJson(fuzz::Sorted(document));
    if (json.size() > (1 << 18)) continue;  // what aliases expand to is slow to print
    const std::string yaml = text::ToYaml(document);
    const auto again = text::ParseYaml(yaml);
    if (!again) fuzz::Same(again.error().message, json, yaml);
    fuzz::Same(yaml, json, text::ToJson(fuzz::Sorted(*again)));
    fuzz::Same("YAML", yaml, text::ToYaml(*again));
  }
  return 0;
}
