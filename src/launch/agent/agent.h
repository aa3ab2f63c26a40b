// Agent: starts the workers of this node, watches, restarts and ends them, and reports.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stall/stall.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "launch/agent/node_news.h"
#include "launch/agent/rank_snapshots.h"
#include "launch/failure/failure.h"
#include "launch/failure/failure_report.h"
#include "launch/flags/options.h"
#include "launch/machine/kernel_sleep.h"
#include "launch/machine/private_folder.h"
#include "launch/output/log_folder.h"
#include "launch/output/output.h"
#include "launch/progress/post_server.h"
#include "launch/shim/warm_keeper.h"
#include "launch/workers/file_timer.h"
#include "launch/workers/guardian.h"
#include "launch/workers/worker_command.h"
#include "launch/workers/worker_group.h"
#include "process/event_loop.h"
#include "rendezvous/nodes/rendezvous.h"
#include "rendezvous/store/server.h"
#include "rendezvous/store/wait_explainer.h"
#include "runs/progress/progress_text.h"
#include "warm/link.h"
#include "witness/stacks.h"
#include "witness/stall_word.h"

namespace launch {

// One thread, the loop's; the output has another. Driven by Run.
class Agent : private rendezvous::RendezvousEvents {
 public:
  // `executable`: the interpreter or the program (FindProgramOf). `keeper`: what forks the workers;
  // without a connection they are executed.
  Agent(Options options, base::Environment environment, std::string executable, AgentSide side,
        Keeper keeper, base::Clock& clock);
  ~Agent() override;

  // Runs until the job on this node has ended. Returns the launcher's exit code; all messages have
  // been printed by then, unless nobody reads the console and the user has asked for the end.
  int Run();

 private:
  // Runs once the group is gone and its output is written.
  enum class Ending { kSuccess, kFailure, kSignal, kCannotStart };

  int RunJob();
  base::Status Prepare();
  base::Status WatchSides();
  base::Status WatchKeeper();
  base::Status OpenStore();
  base::Status StartAttempt();
  base::Status StartWorker(int local_rank, const Group& group);
  base::Result<base::Fd> PlanStream(int local_rank, int fd, const WorkerFiles& files,
                                    std::optional<uint64_t>& tail);
  bool IsJoint(int local_rank) const;
  Group MakeGroup() const;

  // For a job on several nodes: agent/nodes.cc.
  base::Status JoinNodes();
  void AwaitOthers();
  void NoteMeeting();
  void OnStart(const rendezvous::Assignment& assignment) override;
  void OnStop(uint64_t generation, rendezvous::StopReason reason,
              const std::optional<rendezvous::Failure>& failure, base::Duration within) override;
  void OnEnd(const rendezvous::End& end) override;
  void OnLease(std::optional<base::Duration> left) override;
  void OnProgress(const std::string& line) override;
  void OnTold(int node_rank, const std::string& text) override;
  void SendFailureLater(const WorkerEnd& end);
  void SendFailure(const WorkerEnd& end, uint64_t generation);
  void OnNodeIdle();
  void FinishWithOthers();
  int ReportOthersFailure(const rendezvous::Failure& failure);

  void Begin();
  void OnSignal(int signal);
  bool EndsLauncher(int signal) const;
  void OnGuardianGone();
  void OnWorkerEnd(const WorkerEnd& end);
  void StopGroup(Ending ending, int signal, base::Duration grace);
  void OfferToHurry();
  void OnGroupGone();
  void OnDrained();

  // For waits in the store that do not end: agent/waits.cc.
  void LookForWaitsLater();
  void LookForWaits();
  using Places = std::map<pid_t, std::string>;
  std::vector<rendezvous::StuckWait> StuckWaits(const Places& places) const;
  std::vector<pid_t> MissingHere(const std::vector<rendezvous::StuckWait>& waits) const;
  void SayWaits(const std::vector<rendezvous::StuckWait>& waits);
  std::vector<rendezvous::RankInfo> DescribeRanks(const Places& places) const;

  // For workers that are stuck: agent/watchdogs.cc.
  base::Status OpenFileTimer();
  void OnLate(pid_t pid, const std::string& scope, int signal);
  void WatchKernelSleep();
  void LookForKernelSleepLater();
  void GiveUpOn(const KernelSleepWatch::Stuck& stuck);
  void AddStuckWorker();
  void OnGroupGivenUp();
  void SayWhoSleeps();

  // The folder of the launcher's own files; created at the first call.
  base::Result<std::string> OwnFolder();

  // For the progress that ranks post: agent/posts.cc.
  void OfferPosts();
  base::Status OpenPosts();
  void OnPost(const runs::StatusPost& post);
  std::string PostedText() const;
  void SayPosted(const Failure& root);

  // For ranks that hold the others up: agent/stalls.cc.
  void PrepareStacks();
  base::Status WriteHook();
  void WatchStalls();
  void LookForStallsLater(base::Duration pause);
  void LookForStalls();
  // Asks the ranks' processes for their stacks. Once they have answered, or have had nearly a
  // second for it, `then` is called from the loop, with the answers by pid; by then the group may
  // be another one, or about to stop. `timer`: a member that is not 0 meanwhile.
  using Dumps = std::map<pid_t, std::string>;
  void AskStacks(const std::vector<pid_t>& pids, process::EventLoop::TimerId& timer,
                 std::function<void(Dumps)> then);
  void AwaitStacks(std::shared_ptr<witness::Question> question, base::Duration waited,
                   process::EventLoop::TimerId& timer, std::function<void(Dumps)> then);
  std::vector<answers::RankLook> OwnLooks() const;
  void Testify(const std::vector<answers::RankLook>& looks,
               std::function<void(answers::StallWatch::Testimony)> then);
  void SayStall(const std::map<int, std::string>& dumps = {});
  void TellStall();
  // The present stall, or one that has just ended; "" for none.
  std::string StallNow() const;
  void SayStraggler();
  void LookWhere(int rank);
  void EndStalled(const answers::Stall& stall, const std::string& said);
  void OnLostLoss(int local_rank, const std::string& line);

  // For ranks of other nodes that do: agent/node_stalls.cc.
  bool SharesStalls() const;
  bool IsJudge() const;
  // Whether ranks run for which stalls are to be looked for here.
  bool LooksForStalls() const;
  void TellOwnEnd();
  void TellNodes(const NodeNews& news);
  // False unless all other nodes have told what their ranks do since it was last true.
  bool AddOthersLooks(std::vector<answers::RankLook>& looks);
  void AskOthers();
  void JudgeWithOthers(answers::StallWatch::Testimony testimony, int turn);
  void SayToAll(const std::string& text, bool is_over = false);
  std::string SayWithNodes(const answers::Stall& stall) const;
  void EndStalledOfNodes(const std::vector<answers::RankLook>& looks);
  // False if the rank does not run here.
  bool KillStalled(int rank, const std::string& said, bool is_final);

  base::Duration GraceAfterFailure() const;
  Failure FailureOf(const WorkerEnd& end) const;
  // What the daemon says about the rank that it has killed for a stall; "" if it has not.
  std::string StallKillOf(const WorkerEnd& end) const;
  void CollectFailure(const WorkerEnd& end);
  struct WorkerRecord;
  std::string TailOf(const WorkerRecord& record);
  void CompleteFailures();
  bool TryRestart();
  void ReportFailure();
  void WriteAgentErrorFile(const Failure& root);
  std::string ReportedHost() const;
  // Only with --event-log-handler=console: agent/events.cc. Of a worker, or else of this agent.
  void PrintEvent(std::string_view state, std::optional<int> local_rank, const Failure* failure);
  void PrintLastEvents(bool has_succeeded);
  void Finish(int exit_code);
  // agent/console.cc. Both put the program's name before the text. Say waits a while until it is
  // written, so that it stands before what workers that start next write themselves; SayLater does
  // not.
  void Say(const std::string& text);
  void SayLater(const std::string& text);
  void AwaitConsole();
  void SayError(const std::string& message);
  void SayEndedBySignal();
  // With LOGLEVEL=INFO only: agent/details.cc.
  void SayDetail(const std::string& text);
  void SaySettings();
  void SayGroup(const Group& group);
  void ShowStatus(const std::string& state);
  void DrawStatus();

  Options options_;
  base::Environment environment_;
  std::string executable_;
  std::string host_;
  AgentSide side_;
  Keeper keeper_;
  base::Clock& clock_;
  std::chrono::steady_clock::time_point began_ = clock_.Steady();
  bool has_dashed_local_rank_ = true;

  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<rendezvous::StoreServer> store_;  // for a job on this node alone
  std::unique_ptr<rendezvous::Rendezvous> rendezvous_;
  std::optional<rendezvous::Assignment> assignment_;
  // With several nodes: since when this node has been waiting for the others.
  std::pair<base::Time, std::chrono::steady_clock::time_point> awaits_since_;
  std::optional<rendezvous::End> end_;
  bool says_details_ = false;
  bool is_idle_ = true;  // with several nodes: no worker runs here
  bool has_to_say_stopped_ = false;
  bool is_draining_ = false;  // the group is gone, its output is still being written
  std::optional<LogFolder> folder_;
  std::unique_ptr<FileTimer> file_timer_;  // of the current attempt
  std::unique_ptr<warm::Link> warm_;
  std::string said_refusal_;
  std::unique_ptr<WorkerGroup> group_;

  struct WorkerRecord {
    pid_t pid = 0;
    WorkerFiles files;
    std::optional<uint64_t> stdout_stream, stderr_stream;
  };
  std::vector<WorkerRecord> workers_;
  std::vector<Failure> failures_;
  std::vector<int> ended_early_;  // ranks that had ended while others had not, maybe on other nodes
  process::EventLoop::TimerId failure_timer_ = 0;
  process::EventLoop::TimerId stop_timer_ = 0;
  uint64_t kills_before_ = 0;
  process::EventLoop::TimerId wait_timer_ = 0;
  size_t wait_looks_ = 0;
  std::optional<KernelSleepWatch> sleep_watch_;
  process::EventLoop::TimerId sleep_timer_ = 0;
  std::unique_ptr<PrivateFolder> own_folder_;
  std::string stacks_folder_;  // "" when ranks cannot be asked
  bool watches_stalls_ = false;
  bool is_in_pod_ = false;  // of the embedded cluster, whose daemon hears of stalls
  std::optional<witness::StallTeller> stall_teller_;  // of the current attempt, once it runs
  std::optional<answers::StallWatch> stall_watch_;
  std::optional<answers::Stall> said_stall_;
  std::chrono::steady_clock::time_point asked_at_;     // the last look
  std::vector<pid_t> asked_pids_;                      // of the ranks here, at the last question
  std::vector<answers::RankLook> looks_since_judged_;  // the last of them, at the host of several
  // At the host of several nodes, by node rank; of the current attempt.
  struct Told {
    bool is_new = false;  // the looks have not been seen yet
    std::vector<answers::RankLook> looks;
    std::optional<answers::StallWatch::Testimony> testimony;  // since it was last asked
    bool HasEnded() const;
  };
  std::map<int, Told> told_;
  uint64_t question_ = 0;    // how often the other nodes have been asked
  std::string ended_stall_;  // the last one that was said to be over, and when it was
  std::chrono::steady_clock::time_point stall_ended_;
  std::string stall_at_failure_;
  process::EventLoop::TimerId stall_timer_ = 0;
  process::EventLoop::TimerId place_timer_ = 0;
  process::EventLoop::TimerId missing_stacks_timer_ = 0;
  // The rank that was killed for a stall; of the current attempt.
  struct Stalled {
    pid_t pid = 0;
    std::string said;
    bool is_final = false;  // the job shall end
  };
  std::optional<Stalled> stalled_;
  // The rank that was ended because its loss is NaN or infinite, and the line.
  std::optional<std::pair<pid_t, std::string>> lost_loss_;
  bool has_said_lost_loss_ = false;
  std::optional<RankSnapshots> snapshots_;
  int straggler_looks_ = 0;  // since there has been a straggler
  bool has_said_straggler_ = false;
  std::optional<Failure> stuck_;
  std::unique_ptr<PostServer> posts_;
  // The last progress that a rank of this attempt has posted.
  struct Posted {
    base::Time at;
    std::chrono::steady_clock::time_point steady;
    runs::SourceProgress progress;
  };
  std::optional<Posted> posted_;
  int restarts_ = 0;
  // names the folder; with several nodes a change of membership counts as a start, too
  int attempt_ = 0;
  Ending ending_ = Ending::kSuccess;
  int end_signal_ = 0;
  // When end_signal_ came.
  std::chrono::steady_clock::time_point end_signalled_;
  bool has_status_ = false;       // the status line has a terminal
  std::string state_;             // of the ranks, in the status line
  bool is_hurried_ = false;       // the user has asked a second time
  bool is_console_slow_ = false;  // Say has waited in vain
  std::string start_error_;
  int exit_code_ = 0;
};

// The host name by which the workers of a job on one machine find its store.
std::string LoopbackName();

// "in futex_wait_queue" if the kernel reports it, otherwise "".
std::string WaitChannel(pid_t pid);

// Between two looks for stalls.
constexpr base::Duration kLook = std::chrono::seconds(1);
// Longer than Python takes to write the stacks of some hundred threads.
constexpr base::Duration kAnswer = std::chrono::milliseconds(150);

// How long the end waits for output that another process keeps open.
constexpr base::Duration kLongestHurriedDrain = std::chrono::seconds(1);

}  // namespace launch
