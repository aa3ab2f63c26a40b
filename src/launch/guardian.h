// Two processes, so that whichever of them is killed, nothing of the job is left: the one that the
// user started waits, passes signals on and has the exit code; its child, the agent, does the work.
//
//   guardian (the user's process, subreaper) ── agent (own session, subreaper) ── workers
//
// The agent killed: the guardian inherits the workers and kills them. The guardian killed: the
// agent sees it at once (pidfd) and does the same.
#pragma once

#include <functional>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace launch {

// What the agent's process gets.
struct AgentSide {
  base::Fd guardian;  // pidfd: readable when it has ended
  base::Fd signals;   // non-blocking signalfd of `signals` and SIGCHLD
};

// Forks; must be called while there is one thread. `signals` reach the agent; those that are
// ignored from the start (nohup) stay so. Returns the agent's exit code in the user's process; the
// agent never returns. 128 + signal when the agent was killed. `only_agents` is closed in the
// user's process.
base::Result<int> RunGuarded(std::vector<int> signals, const std::function<int(AgentSide)>& agent,
                             base::Fd* only_agents = nullptr);

}  // namespace launch
