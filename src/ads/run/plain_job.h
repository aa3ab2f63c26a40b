// `kind: job`, a job of the service with one run or a runtime of its own: suggests what to write
// instead.
#pragma once

#include <string>

#include "ads/yaml/value.h"

namespace ads {

// Why `opctl run` does not support it, and how to run the same training: one line with the file,
// the line and the runtime's type, and with the file's own values.
std::string PlainJobAdvice(const PyValue& document, const std::string& path);

}  // namespace ads
