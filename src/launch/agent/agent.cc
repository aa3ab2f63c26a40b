#include "launch/agent/agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/machine/host_name.h"
#include "base/machine/signal_name.h"
#include "base/strings.h"
#include "launch/machine/machine.h"
#include "launch/machine/process_tree.h"
#include "process/signals.h"
#include "rendezvous/sockets/listener.h"

namespace launch {
namespace {

constexpr base::Duration kGraceAfterFailure = std::chrono::seconds(5);
constexpr base::Duration kPromptEnd = std::chrono::milliseconds(500);
// systemd and Slurm signal each process of a job, timeout(1) signals twice: it is one request.
constexpr base::Duration kOneRequest = std::chrono::milliseconds(200);
constexpr base::Duration kLookForSleepers = std::chrono::seconds(3);

// Whether stdout and stderr are one file, pipe or terminal, as after `>log 2>&1`.
bool HasOneConsole() {
  struct stat out{};
  struct stat err{};
  return ::fstat(1, &out) == 0 && ::fstat(2, &err) == 0 && out.st_dev == err.st_dev &&
         out.st_ino == err.st_ino && (!S_ISCHR(out.st_mode) || ::isatty(1) == 1);
}

}  // namespace

std::string LoopbackName() {
  const auto hosts = base::ReadFile("/etc/hosts", 1 << 20);
  for (std::string line : base::Split(hosts ? *hosts : std::string(), '\n')) {
    line = line.substr(0, line.find('#'));
    std::replace(line.begin(), line.end(), '\t', ' ');
    const auto words = base::Split(line, ' ');
    if (std::find(words.begin() + 1, words.end(), "localhost") != words.end()) return "localhost";
  }
  return "127.0.0.1";
}

Agent::Agent(Options options, base::Environment environment, std::string executable, AgentSide side,
             Keeper keeper, base::Clock& clock)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      executable_(std::move(executable)),
      host_(base::HostName()),
      side_(std::move(side)),
      keeper_(std::move(keeper)),
      clock_(clock) {}

Agent::~Agent() = default;

int Agent::Run() {
  const int exit_code = RunJob();
  // The other nodes hear how it ended.
  rendezvous_.reset();
  AwaitConsole();
  return exit_code;
}

int Agent::RunJob() {
  if (auto ready = Prepare(); !ready) {
    SayError(ready.error().message);
    if (folder_) folder_->Finish(false);
    return 1;
  }
  // With several nodes it begins once they have agreed.
  if (!rendezvous_) loop_->Post([this] { Begin(); });
  if (auto ran = loop_->Run(); !ran) {
    SayError(ran.error().message);
    return 1;
  }
  return exit_code_;
}

base::Status Agent::Prepare() {
  TRY_ASSIGN(loop_, process::EventLoop::Create(clock_));
  TRY_ASSIGN(output_, Output::Start(clock_));
  // A single worker has the terminal to itself.
  has_status_ = options_.shows_status && options_.nproc_per_node > 1 && CanShowStatus(environment_);
  TRY_ASSIGN(folder_, LogFolder::Create(options_, environment_));
  TRY(WatchSides());
  if (keeper_.connection) TRY(WatchKeeper());
  if (options_.is_single_node) TRY(OpenStore());
  if (options_.passes_local_rank) has_dashed_local_rank_ = UsesDashedLocalRank(executable_);
  SaySettings();
  for (const std::string& warning : options_.warnings) Say(fmt::format("warning: {}", warning));
  PrepareStacks();
  OfferPosts();
  SetVariablesOfTorch(options_, executable_, environment_);
  const std::string said = SetSharedVariables(options_, UsableCpus(), environment_);
  if (!said.empty()) Say(said);
  return options_.is_single_node ? base::Status() : JoinNodes();
}

void Agent::Begin() {
  if (auto started = StartAttempt(); !started) {
    start_error_ = started.error().message;
    if (started.error().os_errno == EMFILE) {
      start_error_ += "; " + rendezvous::DescriptorLimitText();
    }
    StopGroup(Ending::kCannotStart, SIGKILL, {});
  }
}

base::Result<std::string> Agent::OwnFolder() {
  if (!own_folder_) {
    TRY_ASSIGN(own_folder_, PrivateFolder::Make(environment_));
  }
  return own_folder_->path();
}

base::Status Agent::WatchSides() {
  TRY(loop_->Watch(side_.guardian.get(), EPOLLIN, [this](uint32_t) { OnGuardianGone(); }));
  return loop_->Watch(side_.signals.get(), EPOLLIN, [this](uint32_t) {
    while (const auto info = process::ReadSignal(side_.signals.get())) {
      const int signal = static_cast<int>(info->ssi_signo);
      if (signal != SIGCHLD) {
        OnSignal(signal);
      } else if (group_) {
        group_->OnChildSignal();
      }
    }
  });
}

base::Status Agent::WatchKeeper() {
  warm::Link::Events events;
  events.on_end = [this](pid_t pid, int exit_code) {
    if (group_) group_->OnForkedEnd(pid, exit_code);
  };
  events.on_reaped = [this] {
    if (group_) group_->OnChildSignal();
  };
  events.on_lost = [this] {
    if (group_) group_->OnKeeperLost();
  };
  warm_ = std::make_unique<warm::Link>(*loop_, std::move(keeper_.connection), keeper_.pid,
                                       std::move(events));
  return warm_->Watch();
}

base::Status Agent::OpenStore() {
  rendezvous::StoreOptions store;
  store.port = static_cast<uint16_t>(options_.endpoint_port);
  // If the user named an address, the other nodes may be meant to reach it.
  const std::string address = MakeGroup().master_addr;
  if (address == LoopbackName() || rendezvous::Endpoint{address, 0}.IsLoopback()) {
    store.reach = rendezvous::Listener::Reach::kThisMachine;
  }
  // A job that does not use the store never wakes the launcher.
  store.on_client = [this] {
    if (wait_timer_ == 0) LookForWaitsLater();
  };
  store.on_exhausted = [this] { SayLater(rendezvous::NoDescriptorLeft()); };
  auto opened = rendezvous::StoreServer::Listen(*loop_, clock_, store);
  if (!opened) {
    return base::Fail(
        opened.error().Wrap(fmt::format("the job's store on port {} (--{})", options_.endpoint_port,
                                        options_.is_static ? "master-port" : "rdzv-endpoint")));
  }
  store_ = std::move(*opened);
  return {};
}

Group Agent::MakeGroup() const {
  Group group;
  group.restart_count = restarts_;
  if (assignment_) {
    const rendezvous::Node& self = assignment_->nodes[static_cast<size_t>(assignment_->self)];
    group.group_rank = assignment_->self;
    group.group_world_size = static_cast<int>(assignment_->nodes.size());
    group.first_rank = self.first_rank;
    group.world_size = assignment_->world_size;
    group.role_first_rank = self.first_role_rank;
    group.role_world_size = self.role_world_size;
    group.master_addr = assignment_->master_addr;
    group.master_port = assignment_->master_port;
    return group;
  }
  group.world_size = options_.nproc_per_node;
  group.role_world_size = options_.nproc_per_node;
  group.master_addr = options_.is_static            ? options_.endpoint_host
                      : options_.local_addr.empty() ? LoopbackName()
                                                    : options_.local_addr;
  if (store_) group.master_port = store_->port();
  return group;
}

base::Status Agent::StartAttempt() {
  failures_.clear();
  ended_early_.clear();
  posted_.reset();
  loop_->Cancel(std::exchange(failure_timer_, 0));
  loop_->Cancel(std::exchange(stop_timer_, 0));
  workers_.clear();
  workers_.resize(static_cast<size_t>(options_.nproc_per_node));
  kills_before_ = OutOfMemoryKills();
  group_ = std::make_unique<WorkerGroup>(*loop_, clock_, warm_.get(),
                                         [this](const WorkerEnd& end) { OnWorkerEnd(end); });
  wait_looks_ = 0;
  loop_->Cancel(std::exchange(wait_timer_, 0));
  if (rendezvous_) LookForWaitsLater();
  const Group group = MakeGroup();
  TRY(folder_->MakeAttempt(options_, attempt_));
  TRY(OpenFileTimer());
  WatchKernelSleep();
  WatchStalls();
  SayGroup(group);
  for (int local_rank = 0; local_rank < options_.nproc_per_node; ++local_rank) {
    TRY(StartWorker(local_rank, group));
  }
  if (group_->refusal() != said_refusal_) {
    said_refusal_ = group_->refusal();
    Say(fmt::format("warm start: {}; the workers are executed", said_refusal_));
  }
  ShowStatus("running");
  return {};
}

base::Status Agent::StartWorker(int local_rank, const Group& group) {
  WorkerRecord& record = workers_[static_cast<size_t>(local_rank)];
  TRY_ASSIGN(record.files, folder_->MakeWorker(options_, attempt_, local_rank));
  process::SpawnOptions spawn;
  spawn.path = executable_;
  spawn.argv = WorkerArguments(options_, executable_, local_rank, has_dashed_local_rank_);
  spawn.env = WorkerEnvironment(options_, environment_, group, local_rank, record.files.error_file);
  TRY_ASSIGN(const base::Fd err, PlanStream(local_rank, 2, record.files, record.stderr_stream));
  base::Fd out;
  const bool is_joint = err && IsJoint(local_rank);
  if (!is_joint) {
    TRY_ASSIGN(out, PlanStream(local_rank, 1, record.files, record.stdout_stream));
  }
  spawn.fds = {{0, 0}, {is_joint ? err.get() : out ? out.get() : 1, 1}, {err ? err.get() : 2, 2}};
  const CpuBinding binding(options_.numa_binding, local_rank, options_.nproc_per_node,
                           environment_);
  TRY(group_->Start(std::move(spawn)));
  record.pid = group_->Pids().back();
  PrintEvent("START", local_rank, nullptr);
  return {};
}

// One pipe keeps the order of what the worker writes to its two streams.
bool Agent::IsJoint(int local_rank) const {
  const bool is_shown = options_.shown_ranks.empty() || options_.shown_ranks.contains(local_rank);
  return is_shown && (options_.redirects.Of(local_rank) | options_.tee.Of(local_rank)).IsEmpty() &&
         HasOneConsole();
}

base::Result<base::Fd> Agent::PlanStream(int local_rank, int fd, const WorkerFiles& files,
                                         std::optional<uint64_t>& stream) {
  const bool is_teed = options_.tee.Of(local_rank).HasStream(fd);
  const std::string& file = fd == 1 ? files.stdout_file : files.stderr_file;
  const bool is_shown = options_.shown_ranks.empty() || options_.shown_ranks.contains(local_rank);
  if (!file.empty() && !is_teed) return OpenLog(file);
  // One worker's stdout goes where ours goes, as if there were no launcher, and so does its stderr
  // if that is a terminal.
  const bool is_alone =
      options_.nproc_per_node == 1 && !is_teed && is_shown && !options_.stop_on_nan;
  if (is_alone && (fd == 1 || ::isatty(fd) == 1)) return base::Fd();
  if (!is_teed && !is_shown && fd == 1 && !options_.stop_on_nan) return OpenLog("/dev/null");

  StreamPlan plan;
  plan.console_fd = is_shown ? fd : 0;
  plan.ends_with_console = options_.nproc_per_node == 1 && IsJoint(local_rank);
  plan.on_lost_loss = [this, local_rank, attempt = attempt_](const std::string& line) {
    loop_->Post([this, local_rank, attempt, line] {
      if (attempt == attempt_) OnLostLoss(local_rank, line);
    });
  };
  if (is_teed) {
    plan.file = file;
    plan.prefix = ExpandTemplate(options_.prefix_template,
                                 {{"role_name", options_.role},
                                  {"local_rank", fmt::format("{}", local_rank)},
                                  {"rank", fmt::format("{}", MakeGroup().first_rank + local_rank)},
                                  {"hostname", base::HostName()}});
    plan.reports_bars = environment_.GetOr("MUSTER_BARS", "") == "lines" && ::isatty(fd) != 1;
    plan.filters = fd == 1 ? options_.stdout_filters : options_.stderr_filters;
    plan.filter_file = folder_->FilterFile(attempt_, fd);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  base::Fd writer(ends[1]);
  TRY_ASSIGN(stream, output_->Add(base::Fd(ends[0]), std::move(plan)));
  return writer;
}

bool Agent::EndsLauncher(int signal) const {
  const auto& handled = options_.handled_signals;
  return std::find(handled.begin(), handled.end(), signal) != handled.end();
}

void Agent::OnSignal(int signal) {
  if (!EndsLauncher(signal)) {
    if (group_) group_->Signal(signal);
    return;
  }
  // A second signal shortens the wait.
  if (end_signal_ != 0) {
    if (clock_.Steady() - end_signalled_ < kOneRequest) return;
    is_hurried_ = true;
    if (group_ && group_->IsStopping()) return group_->Stop(SIGKILL, {}, nullptr);
    return Finish(128 + signal);
  }
  end_signal_ = signal;
  end_signalled_ = clock_.Steady();
  if (rendezvous_ && is_idle_) {
    rendezvous_->Leave("it got " + base::SignalName(signal));
    SayEndedBySignal();
    return Finish(128 + signal);
  }
  StopGroup(Ending::kSignal, signal,
            options_.shutdown_timeout ? *options_.shutdown_timeout : options_.grace_after_signal);
  OfferToHurry();
}

// Ranks that do not end soon may never end by themselves.
void Agent::OfferToHurry() {
  loop_->After(kPromptEnd, [this] {
    if (is_hurried_ || !group_ || !group_->IsStopping() || group_->running_count() == 0) return;
    SayLater(fmt::format(
        "{} of {} ranks are still running after {}: a second one kills them at once",
        group_->running_count(), options_.nproc_per_node, base::SignalName(end_signal_)));
  });
}

void Agent::OnGuardianGone() {
  // Whoever starts it again need not wait until the ranks are gone.
  if (store_) store_->StopListening();
  if (rendezvous_) rendezvous_->StopListening();
  KillTree();
  own_folder_.reset();
  if (folder_) folder_->Finish(folder_->KeepsOutput(options_));
  ::_exit(1);
}

base::Duration Agent::GraceAfterFailure() const {
  return options_.shutdown_timeout ? *options_.shutdown_timeout : kGraceAfterFailure;
}

void Agent::OnWorkerEnd(const WorkerEnd& end) {
  if (end.exit_code != 0 && failures_.empty()) stall_at_failure_ = StallNow();
  if (end.exit_code != 0) CollectFailure(end);
  if (group_->IsStopping() || group_->has_given_up()) return;
  ShowStatus("running");
  if (end.exit_code == 0 && (group_->running_count() > 0 || rendezvous_)) {
    ended_early_.push_back(MakeGroup().first_rank + end.local_rank);
  }
  if (end.exit_code != 0 && rendezvous_) SendFailureLater(end);
  if (end.exit_code != 0) {
    StopGroup(Ending::kFailure, SIGTERM, GraceAfterFailure());
  } else if (group_->running_count() == 0) {
    StopGroup(Ending::kSuccess, SIGTERM, GraceAfterFailure());
  }
}

void Agent::StopGroup(Ending ending, int signal, base::Duration grace) {
  // What the other nodes do because of our signal is not our end's reason.
  if (end_signal_ == 0 || ending == Ending::kSignal) ending_ = ending;
  if (is_draining_) return;
  if (!group_) return OnGroupGone();
  if (group_->IsStopping()) return;
  stall_teller_.reset();
  if (ending != Ending::kSuccess) ShowStatus("stopping");
  if (stop_timer_ == 0) stop_timer_ = loop_->After(kLookForSleepers, [this] { SayWhoSleeps(); });
  for (const pid_t pid : group_->Pids()) {
    if (pid != 0)
      SayDetail(fmt::format("Sending process {} closing signal {}", pid, base::SignalName(signal)));
  }
  if (ending == Ending::kSuccess) return group_->Finish(grace, [this] { OnGroupGone(); });
  group_->Stop(signal, grace, [this] { OnGroupGone(); });
}

void Agent::OnGroupGone() {
  is_draining_ = true;
  if (group_ && group_->has_given_up()) OnGroupGivenUp();
  // After the second request, a console that nobody reads must not delay the end.
  if (is_hurried_) loop_->After(kLongestHurriedDrain, [this] { Finish(128 + end_signal_); });
  output_->WhenDrained([this] { loop_->Post([this] { OnDrained(); }); });
}

void Agent::OnDrained() {
  if (!std::exchange(is_draining_, false)) return;
  CompleteFailures();
  if (rendezvous_) return OnNodeIdle();
  switch (ending_) {
    case Ending::kSuccess:
      if (group_->leftover_count() > 0) {
        Say(fmt::format("{} process(es) outlived the workers that started them, and were ended",
                        group_->leftover_count()));
      }
      PrintLastEvents(true);
      return Finish(0);
    case Ending::kFailure:
      if (TryRestart()) return;
      ReportFailure();
      PrintLastEvents(false);
      return Finish(ExitCodeOf(failures_[FindRootCause(failures_)]));
    case Ending::kSignal:
      SayEndedBySignal();
      PrintEvent("FAILED", std::nullopt, nullptr);
      return Finish(128 + end_signal_);
    case Ending::kCannotStart:
      SayError(start_error_);
      return Finish(1);
  }
}

bool Agent::TryRestart() {
  if (restarts_ >= options_.max_restarts || stuck_ || group_->has_given_up()) return false;
  if (stalled_ && stalled_->is_final) return false;
  if (lost_loss_) return false;  // it would lose it again
  const Failure& root = failures_[FindRootCause(failures_)];
  ++restarts_;
  Say(fmt::format("rank {} (pid {}) failed, {}: restart {} of {}", root.rank, root.pid,
                  root.IsSignal() ? base::SignalName(-root.exit_code)
                                  : fmt::format("exit code {}", root.exit_code),
                  restarts_, options_.max_restarts));
  attempt_ = restarts_;
  store_->Reset();
  Begin();
  return true;
}

void Agent::Finish(int exit_code) {
  if (has_status_) output_->SetStatus("");
  const bool has_user_logs = folder_->KeepsOutput(options_);
  file_timer_.reset();
  own_folder_.reset();
  folder_->Finish(exit_code != 0 ? !failures_.empty() || has_user_logs : has_user_logs);
  exit_code_ = exit_code;
  loop_->Stop();
}

}  // namespace launch
