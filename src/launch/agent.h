// Agent: starts the workers of this node, watches, restarts and ends them, and reports.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "launch/failure.h"
#include "launch/failure_report.h"
#include "launch/guardian.h"
#include "launch/log_folder.h"
#include "launch/options.h"
#include "launch/output.h"
#include "launch/worker_command.h"
#include "launch/worker_group.h"
#include "process/event_loop.h"
#include "rendezvous/store_server.h"

namespace launch {

// One thread, the loop's; the output has another. Driven by Run.
class Agent {
 public:
  // `executable`: the interpreter or the program (FindProgramOf).
  Agent(Options options, base::Environment environment, std::string executable, AgentSide side,
        base::Clock& clock);
  ~Agent();

  // Until the job on this node has ended. Returns the launcher's exit code; everything worth saying
  // has been said.
  int Run();

 private:
  // What happens once the group is gone and its output is written.
  enum class Ending { kSuccess, kFailure, kSignal, kCannotStart };

  base::Status Prepare();
  base::Status WatchSides();
  base::Status OpenStore();
  base::Status StartAttempt();
  base::Status StartWorker(int local_rank, const Group& group);
  base::Result<base::Fd> PlanStream(int local_rank, int fd, const WorkerFiles& files,
                                    std::optional<uint64_t>& tail);
  Group MakeGroup() const;

  void OnSignal(int signal);
  void OnGuardianGone();
  void OnWorkerEnd(const WorkerEnd& end);
  void StopGroup(Ending ending, int signal, base::Duration grace);
  void OnGroupGone();
  void OnDrained();

  void CollectFailure(const WorkerEnd& end);
  void CompleteFailures();
  bool TryRestart();
  void ReportFailure();
  void WriteAgentErrorFile(const Failure& root);
  void PrintEvents(bool has_succeeded);
  void Finish(int exit_code);
  void Say(const std::string& text);

  Options options_;
  base::Environment environment_;
  std::string executable_;
  std::string host_;
  AgentSide side_;
  base::Clock& clock_;
  bool has_dashed_local_rank_ = true;

  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<rendezvous::StoreServer> store_;
  std::optional<LogFolder> folder_;
  std::unique_ptr<WorkerGroup> group_;

  struct WorkerRecord {
    WorkerFiles files;
    std::optional<uint64_t> stderr_stream;
  };
  std::vector<WorkerRecord> workers_;
  std::vector<Failure> failures_;
  uint64_t kills_before_ = 0;
  int restarts_ = 0;
  Ending ending_ = Ending::kSuccess;
  int end_signal_ = 0;
  std::string start_error_;
  int exit_code_ = 0;
};

// The host that workers of a job on one machine find its store under.
std::string LoopbackName();

}  // namespace launch
