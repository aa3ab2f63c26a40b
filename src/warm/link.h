// The agent's end of the connection to its keeper (warm_keeper.h): has ranks forked and learns how
// they end.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "process/event_loop.h"
#include "process/spawn.h"
#include "warm/message.h"

namespace warm {

// Used in the loop's thread only. Callbacks come from the loop, never from within Start.
class Link {
 public:
  struct Events {
    std::function<void(pid_t pid, int exit_code)> on_end;  // negative: minus the signal
    std::function<void()> on_reaped;                       // a descendant of a rank has ended
    std::function<void()> on_lost;                         // called once; its ranks are gone or
                                                           // dying
  };

  Link(process::EventLoop& loop, base::Fd connection, pid_t keeper, Events events);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  base::Status Watch();

  // Forks a rank that is like an exec with these options: the interpreter with -u and its
  // arguments, environment, descriptors 0 to 2, and a session of its own, which ends with the
  // keeper. Blocks for the milliseconds that it takes. On an error the rank has to be executed
  // instead. `ignored_signals`: signals that the program ignores from its start; all others have
  // their defaults.
  base::Result<pid_t> Start(const process::SpawnOptions& options,
                            const std::vector<int>& ignored_signals = {});

  bool is_alive() const { return static_cast<bool>(connection_); }
  pid_t keeper() const { return keeper_; }

 private:
  // "started" or "refused".
  base::Result<pid_t> AwaitAnswer();
  void OnReadable();
  void DispatchLater(Message message);
  void Dispatch();
  void Lose();

  process::EventLoop& loop_;
  base::Fd connection_;
  pid_t keeper_;
  Events events_;
  MessageReader reader_;
  std::vector<Message> waiting_;  // arrived while an answer was awaited
};

}  // namespace warm
