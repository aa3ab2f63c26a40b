// The two ends of a command's standard streams.
#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace process {

struct StreamEnds {
  base::Fd ours;  // does not block
  base::Fd theirs;
};

// `is_input`: the command reads from its end, otherwise it writes to it.
base::Result<StreamEnds> OpenPipe(bool is_input);

// A pseudo-terminal that is not a controlling terminal yet.
base::Result<StreamEnds> OpenTerminal();

}  // namespace process
