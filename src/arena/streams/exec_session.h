// Connects a command in a container to this process's terminal or pipes.
#pragma once

#include "base/result.h"
#include "cli/terminal.h"
#include "cluster/exec/exec.h"

namespace arena {

struct LocalStreams {
  int input = 0;  // the descriptor of standard input
  cli::Output& out;
  cli::Output& err;
  // `input` is a terminal, and the command has one, too: it is in raw mode until the end, its size
  // is followed, and its signals are handled.
  bool is_terminal = false;
};

// Copies bytes in both directions until the command ends. Returns its exit code; 128 + n when
// signal n ended this process's part (the server then hangs the command up). Always restores the
// terminal. Blocks.
base::Result<int> CarrySession(cluster::ExecStream& stream, const LocalStreams& streams);

}  // namespace arena
