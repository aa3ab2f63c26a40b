// The text from which schema.cc reads its types.
#pragma once

namespace api {

extern const char* const kKubernetesTypes;

}  // namespace api
