// The input is the body of a write to the embedded cluster's API server, in Kubernetes' protobuf.
#include "check.h"
#include "local/server/schema/protobuf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto object = local::server::DecodeProtobuf({reinterpret_cast<const char*>(data), size});
  if (!object) return 0;
  fuzz::Hold("it has a kind", !text::GetString(*object, {"kind"}).empty());
  const std::string stored = text::ToJson(*object);
  const auto read = text::ParseJson(stored);
  fuzz::Hold("what is stored can be read", read.has_value());
  fuzz::Same("and is what was decoded", stored, text::ToJson(*read));
  return 0;
}
