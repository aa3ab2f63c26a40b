// One run of one container: its process, its output, how it ended.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "answers/loss_watch.h"
#include "base/clock.h"
#include "base/fd.h"
#include "local/node/logs/writer.h"
#include "local/node/pod/oom_watch.h"
#include "local/node/pod/pod_spec.h"
#include "local/node/shim/witnesses.h"
#include "process/event_loop.h"

namespace local::node {

// Output without a newline is shown after this time, so that progress bars move.
inline constexpr std::chrono::milliseconds kPartialLineWait{20};
// A process that survives the container, for example of another user, may keep its pipes open.
inline constexpr std::chrono::milliseconds kDrainWait{1000};

// Driven by the pod runner in the loop's thread. Borrows the loop, the specification and the
// clock; must not be destroyed from within its own callbacks.
class ContainerRun {
 public:
  struct Callbacks {
    std::function<void()> on_end;   // it has ended, and all its output is in the log
    std::function<void()> on_loss;  // the log lost output for the first time
    // It has printed a loss that is NaN or infinite, and is to be killed for it (--stop-on-nan).
    std::function<void()> on_lost_loss;
  };

  ContainerRun(process::EventLoop& loop, base::Clock& clock, const PodSpec& pod,
               const ContainerSpec& spec, int restart, Callbacks callbacks);
  ~ContainerRun();

  // Starts the process in a session of its own. The error of a failed start is a message for the
  // user.
  base::Status Start();

  pid_t pid() const { return pid_; }
  // The process has been reaped, with this status of waitpid. `is_killed_by_us` rules out an
  // out-of-memory kill.
  void OnExit(int wait_status, bool is_killed_by_us);
  // It is about to be killed because it uses that many bytes of memory, more than its limit.
  void ExceedsMemory(int64_t used);
  // From now on, processes that still hold the output open get only kDrainWait.
  void LimitDrain();

  // Adds whole lines to the log, as if they were on stderr.
  void AddToLog(std::string_view lines);

  // After on_end: Terminated, with reason and message.
  const ContainerState& state() const { return state_; }
  bool HasLostLoss() const { return has_lost_loss_; }
  // LogWriter's.
  std::string UnreportedLoss() const { return log_.UnreportedLoss(); }

 private:
  struct Output {
    base::Fd fd;
    answers::LossWatch loss{};
    process::EventLoop::TimerId partial_timer = 0;
  };

  base::Status StartProgram(int out, int err, int in);
  base::Status StartBuiltIn(int out, int err, int in);
  void OnReadable(LogStream stream);
  void Close(LogStream stream);
  void EndIfDrained();
  void AddImageHint(bool is_not_found);
  void AddKillNote();
  void LookForLostLoss(Output& output, std::string_view text);
  void AddWitnesses();
  Output& OutputOf(LogStream stream) { return outputs_[static_cast<size_t>(stream)]; }

  process::EventLoop& loop_;
  base::Clock& clock_;
  const PodSpec& pod_;
  const ContainerSpec& spec_;
  Callbacks callbacks_;
  LogWriter log_;
  OutputTail tail_;
  OomWatch oom_watch_;
  Witnesses witnesses_;
  const uint64_t oom_kills_before_;  // of its own cgroup
  std::string kill_note_;  // why it was killed: it took too much memory, lost its loss, or held
                           // up other ranks
  bool stops_on_nan_ = false;
  bool has_lost_loss_ = false;
  std::array<Output, 2> outputs_;
  pid_t pid_ = -1;
  uint64_t reported_loss_ = 0;
  bool is_stood_in_for_ = false;  // the program is not a child of the shim
  bool is_killed_by_us_ = false;
  bool has_exited_ = false;
  bool has_ended_ = false;
  process::EventLoop::TimerId drain_timer_ = 0;
  ContainerState state_;
};

}  // namespace local::node
