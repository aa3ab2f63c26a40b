// Two processes, so that nothing of the job is left whichever of them is killed. The process that
// the user started (the guardian) waits, passes signals on and returns the exit code; its child
// (the agent) does the work.
//
//   guardian (the user's process, subreaper) ── agent (own session, subreaper) ── workers
//
// If the agent is killed, the guardian inherits the workers and kills them. If the guardian is
// killed, the agent notices at once (pidfd) and does the same. If the agent is stopped (SIGSTOP, a
// debugger) and other nodes will go on without it, the guardian ends its workers before that.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace launch {

// How long the workers may run without contact to their agent, in memory shared with the guardian.
// Usable from any thread of either process.
class Lease {
 public:
  // Null when the kernel has no memory left.
  static std::shared_ptr<Lease> Make();

  // Nullopt: without limit. Called by the agent.
  void Set(std::optional<base::Duration> left, base::Clock& clock);
  // Read by the guardian; kNone: there is no limit.
  static constexpr int64_t kNone = 0;
  int64_t until() const { return until_.load(); }
  static base::Duration Left(int64_t until, base::Clock& clock);

 private:
  std::atomic<int64_t> until_ = kNone;  // in ns of the steady clock
};

// What the agent's process receives.
struct AgentSide {
  base::Fd guardian;  // pidfd: readable when the guardian has ended
  base::Fd signals;   // non-blocking signalfd of `signals` and SIGCHLD
  std::shared_ptr<Lease> lease;
};

// Forks; must be called while there is one thread. `signals` reach the agent; signals that were
// ignored at the start (nohup) stay ignored. Returns the agent's exit code in the user's process;
// the agent never returns. 128 + signal when the agent was killed. Processes that the user's
// process had started before are left alone. `only_agents` is closed in the user's process.
// `keeper`: the process whose descendants warm workers are; 0: none.
base::Result<int> RunGuarded(std::vector<int> signals, const std::function<int(AgentSide)>& agent,
                             base::Fd* only_agents = nullptr, pid_t keeper = 0);

}  // namespace launch
