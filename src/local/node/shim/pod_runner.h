// Runs one pod to its end, in the shim's only thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "local/node/exec/server.h"
#include "local/node/pod/pod_spec.h"
#include "local/node/pod/report_file.h"
#include "local/node/shim/container_run.h"
#include "process/event_loop.h"

namespace local::node {

// Runs the init containers one after another, then all containers at once. Each is restarted in
// place as the restart policy says, and commands that the daemon requests run beside them. Its
// process must be a subreaper. Stops the loop when the pod has ended, none of its processes is left
// and the report says so. If the pod's folder was removed, its programs run on, but none is
// restarted, and nothing is reported any more.
class PodRunner {
 public:
  PodRunner(process::EventLoop& loop, base::Clock& clock, const PodSpec& spec);
  ~PodRunner();

  void Start();
  // The pod cannot run: reports it as failed.
  void Reject(const std::string& reason, const std::string& message);
  // SIGTERM to every process group in the sessions of the containers, and once to those in sessions
  // whose parents end before them; SIGKILL to all processes after `grace`. When repeated, the
  // earlier deadline applies.
  void Terminate(std::chrono::seconds grace);
  // Adds kLogNoteFile, if there is one, to the log of the training container, and removes it.
  void TakeLogNote();
  // Call it after SIGCHLD.
  void Reap();

 private:
  struct Slot {
    Slot(const ContainerSpec& container, base::Duration first_backoff)
        : spec(container), backoff(first_backoff, std::chrono::minutes(5)) {}

    const ContainerSpec& spec;
    ContainerReport report;
    std::optional<ContainerState> end_before;  // the last but one
    base::Backoff backoff;
    bool is_calm = true;  // it has not ended since its back-off began anew
    std::unique_ptr<ContainerRun> run;
    bool is_running = false;  // its process has not been reaped yet
    bool is_active = false;   // started, and its end not reported yet
    bool is_done = false;
    process::EventLoop::TimerId restart_timer = 0;
    process::EventLoop::TimerId memory_timer = 0;  // runs only while a limited program runs
  };

  void RunNext();
  void StartSlot(Slot& slot);
  void OnSlotEnd(Slot& slot);
  bool ShouldRestart(const Slot& slot) const;
  void ScheduleRestart(Slot& slot);
  void OnGraceEnd();
  void WatchMemory(Slot& slot);
  std::vector<pid_t> ProcessesOf(pid_t container) const;
  void KillLeftovers(pid_t ended);
  void Finish();
  void FinishWhenAlone();
  void WriteFinalReport();
  void UpdateReport(bool is_synced);
  PodReport MakeReport() const;
  Slot* FindRunning(pid_t pid);
  const ContainerSpec* FindRunningContainer(std::string_view name) const;
  size_t Count(bool Slot::* flag) const;

  process::EventLoop& loop_;
  base::Clock& clock_;
  const PodSpec& spec_;
  ReportFile report_file_;
  ExecServer execs_;
  std::vector<std::unique_ptr<Slot>> init_slots_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::set<pid_t> unasked_;  // sessions whose parents were to ask them to end
  size_t next_init_ = 0;
  bool are_containers_started_ = false;
  bool is_terminating_ = false;
  bool is_killing_ = false;    // the grace period is over: remaining processes are killed
  bool is_finishing_ = false;  // only stray processes are left
  bool is_report_final_ = false;
  process::EventLoop::TimePoint kill_deadline_{};
  process::EventLoop::TimerId kill_timer_ = 0;
  process::EventLoop::TimerId finish_timer_ = 0;
  process::EventLoop::TimerId report_timer_ = 0;
  base::Backoff report_backoff_{std::chrono::milliseconds(500), std::chrono::seconds(30)};
  std::string reason_;
  std::string message_;
};

}  // namespace local::node
