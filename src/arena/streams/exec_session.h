// A command in a container on this process's own terminal, or pipes.
#pragma once

#include "base/result.h"
#include "cli/terminal.h"
#include "cluster/exec/exec.h"

namespace arena {

struct LocalStreams {
  int input = 0;  // the descriptor of standard input
  cli::Output& out;
  cli::Output& err;
  // `input` is a terminal, and the command has one: it is in raw mode until the end, its size is
  // followed, and its signals are taken.
  bool is_terminal = false;
};

// Carries bytes both ways until the command ends. Returns its exit code; 128 + n when signal n
// ended this process's part (the server hangs the command up then). A terminal is as it was before,
// whatever happens. Blocks.
base::Result<int> CarrySession(cluster::ExecStream& stream, const LocalStreams& streams);

}  // namespace arena
