// `kind: job`, a job of the service with one run or a runtime of its own: what to write instead.
#pragma once

#include <string>

#include "ads/yaml/value.h"

namespace ads {

// Why `opctl run` does not run it and how the same training is run: one line that names the file,
// the line and the runtime's type, with the file's own values in it.
std::string PlainJobAdvice(const PyValue& document, const std::string& path);

}  // namespace ads
