// The text from which schema.cc reads its types.
#pragma once

namespace api {

extern const char* const kKubernetesTypes;
extern const char* const kJobTypes;

}  // namespace api
