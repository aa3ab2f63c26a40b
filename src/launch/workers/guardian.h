// Two processes, so that whichever of them is killed, nothing of the job is left: the one that the
// user started waits, passes signals on and has the exit code; its child, the agent, does the work.
//
//   guardian (the user's process, subreaper) ── agent (own session, subreaper) ── workers
//
// The agent killed: the guardian inherits the workers and kills them. The guardian killed: the
// agent sees it at once (pidfd) and does the same. The agent stopped (SIGSTOP, a debugger): where
// other nodes go on without it after a while, the guardian ends its workers before that.
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

// How long the workers may run without a word of their agent: memory that it shares with the
// guardian. Any thread of either.
class Lease {
 public:
  // Null where the kernel has no memory left.
  static std::shared_ptr<Lease> Make();

  // Nothing: for ever. The agent's.
  void Set(std::optional<base::Duration> left, base::Clock& clock);
  // The guardian's; kNone: there is none.
  static constexpr int64_t kNone = 0;
  int64_t until() const { return until_.load(); }
  static base::Duration Left(int64_t until, base::Clock& clock);

 private:
  std::atomic<int64_t> until_ = kNone;  // in ns of the steady clock
};

// What the agent's process gets.
struct AgentSide {
  base::Fd guardian;  // pidfd: readable when it has ended
  base::Fd signals;   // non-blocking signalfd of `signals` and SIGCHLD
  std::shared_ptr<Lease> lease;
};

// Forks; must be called while there is one thread. `signals` reach the agent; the ones that are
// ignored from the start (nohup) stay so. Returns the agent's exit code in the user's process; the
// agent never returns. 128 + signal when the agent was killed. `only_agents` is closed in the
// user's process. `keeper`: the process that warm workers hang below; 0: none do.
base::Result<int> RunGuarded(std::vector<int> signals, const std::function<int(AgentSide)>& agent,
                             base::Fd* only_agents = nullptr, pid_t keeper = 0);

}  // namespace launch
