// The pages of the manual, from the same declarations as help.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace cli {

// Writes <folder>/muster.1 and a page for each command below `root` that help shows
// (muster-submit-pytorchjob.1). `folder` is there.
base::Status WriteManual(const Command& root, const std::string& folder);

}  // namespace cli
