// Asks the processes below a subreaper to end, each once. Who gave a process a session of its own
// (torchrun its ranks) passes the signal on to it: from the subreaper it would get a second one,
// which to many means "at once". When that one has ended, the process is the subreaper's child, and
// nobody else asks it.
#pragma once

#include <sys/types.h>

#include <set>

namespace process {

// The sessions of its descendants, without its own.
std::set<pid_t> SessionsBelow(pid_t root);

// Sends `signal` to all processes in those of `sessions` that a child of `root` is in, and takes
// these sessions out.
void SignalChildSessions(pid_t root, int signal, std::set<pid_t>& sessions);

}  // namespace process
