// What the standard streams of a command are made of.
#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace local::node {

struct StreamEnds {
  base::Fd ours;  // does not block
  base::Fd theirs;
};

// `is_input`: the command reads from its end, else it writes to it.
base::Result<StreamEnds> OpenPipe(bool is_input);

// A pseudo-terminal; nobody's controlling one yet.
base::Result<StreamEnds> OpenTerminal();

}  // namespace local::node
