// Man pages, from the same declarations as help.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace cli {

// Writes <folder>/muster.1 and a page for each command below `root` that help shows
// (muster-submit-pytorchjob.1). `folder` must exist.
base::Status WriteManual(Command& root, const std::string& folder);

// The reference in Markdown: <folder>/README.md lists the commands that help shows, and each has a
// page (submit.md) with the help of all commands below it. `folder` must exist.
base::Status WriteReference(Command& root, const std::string& folder);

}  // namespace cli
