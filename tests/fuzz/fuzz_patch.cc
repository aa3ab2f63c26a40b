// The input is a document, a NUL byte and a patch.
#include "check.h"
#include "text/patch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\0');
  if (end == std::string_view::npos) return 0;
  const auto document = text::ParseJson(input.substr(0, end));
  const auto patch = text::ParseJson(input.substr(end + 1));
  if (!document || !patch) return 0;

  text::Json merged = *document;
  text::MergePatch(merged, *patch);
  text::Json twice = merged;
  text::MergePatch(twice, *patch);
  fuzz::Same("a merge patch is idempotent", text::ToJson(merged), text::ToJson(twice));

  text::Json patched = *document;
  if (!text::JsonPatch(patched, *patch)) {
    fuzz::Same("a failed patch changes nothing", text::ToJson(*document), text::ToJson(patched));
  } else {
    fuzz::Hold("the result is not too deep", text::ParseJson(text::ToJson(patched)).has_value());
  }
  return 0;
}
