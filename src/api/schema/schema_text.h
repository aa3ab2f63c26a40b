// The text that schema.cc reads its types from.
#pragma once

namespace api {

extern const char* const kKubernetesTypes;
extern const char* const kJobTypes;

}  // namespace api
