// For flags that take a file's name or its URL, as -f does.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace cli {

// The answer of a fetch for -f; its refusal (kPermissionDenied) says what to do instead.
inline base::Result<std::string> WithPipeAdvice(base::Result<std::string> fetched) {
  if (!fetched && fetched.error().code == base::Code::kPermissionDenied) {
    fetched.error().message += ": fetch it with another program and pipe it to -f -";
  }
  return fetched;
}

}  // namespace cli
