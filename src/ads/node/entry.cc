#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

#include "ads/config/entry_settings.h"
#include "ads/config/opctl_config.h"
#include "ads/config/training_code.h"
#include "ads/node/address.h"
#include "ads/node/artifact_sync.h"
#include "ads/node/local_nodes.h"
#include "ads/node/meeting.h"
#include "ads/node/processes.h"
#include "ads/verbs.h"
#include "api/job/failure_cause.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/uid.h"
#include "cli/click.h"
#include "process/pidfd.h"
#include "process/signals.h"
#include "process/spawn.h"

namespace ads {
namespace {

// How long the others wait for the end of a failed node, which may still copy its artifacts.
constexpr std::chrono::seconds kFailedNodeEnds{30};
// And how long until the cluster, on a busy machine, has been told of it.
constexpr std::chrono::milliseconds kUntilSeen{200};

// One node of a job, from its environment to the end of its processes (compat/opctl.md 3.4). The
// lines on stdout are the original's.
class Entry {
 public:
  Entry(Context& context, EntrySettings settings, cli::Output& out, cli::Output& err)
      : context_(context), settings_(std::move(settings)), out_(out), err_(err) {}

  base::Result<int> Run();

 private:
  template <typename... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    (void)out_.Write(fmt::format(format, std::forward<Args>(args)...) + "\n");
  }
  base::Status Prepare();
  base::Result<std::string> OwnAddress();
  base::Result<std::string> AddressInSubnet();
  base::Status Meet();
  base::Status StartSync();
  base::Result<NodeOutcome> Train();
  std::vector<NodeProcess> Processes(int64_t gpus) const;
  std::string PathList() const { return environment_.GetOr("PATH", "/usr/bin:/bin"); }
  int Finish(const base::Result<NodeOutcome>& outcome);
  void SayWhyLast(const base::Result<NodeOutcome>& outcome);
  void ReportFailure(int exit_code);
  base::Result<int> EndTogether(int exit_code);
  std::optional<int64_t> FailedPeer(const base::Result<NodeOutcome>& outcome);
  void LetEndFirst(int64_t rank);

  Context& context_;
  const EntrySettings settings_;
  cli::Output& out_;
  cli::Output& err_;
  std::unique_ptr<OciServices> services_;
  std::unique_ptr<ObjectStorage> storage_;
  std::unique_ptr<LocalNodes> nodes_;  // of a job on this machine
  std::unique_ptr<Meeting> meeting_;
  std::unique_ptr<ArtifactSync> sync_;
  base::Environment environment_;            // of the processes
  std::optional<Meeting::Failure> failure_;  // of another node
};

base::Result<std::string> Entry::AddressInSubnet() {
  if (services_ == nullptr) {
    return base::Fail(base::Code::kUnavailable,
                      "RuntimeError: the job's subnet is out of reach; set OCI__NODE_IP");
  }
  TRY_ASSIGN(const std::string cidr, services_->SubnetCidr(settings_.job_ocid));
  if (cidr.empty()) return AddressOfHostname();
  TRY_ASSIGN(const auto addresses, ListAddresses());
  const auto found = FindInCidr(addresses, cidr);
  if (!found) {
    Say("IP ADDRESS NOT FOUND!!");
    std::string all;
    for (const InterfaceAddress& one : addresses) {
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", one.interface, one.address);
    }
    return base::Fail(
        base::Code::kNotFound,
        fmt::format("RuntimeError: no address of this node is in the subnet {}: {}", cidr, all));
  }
  Say("IP address: {}", found->address);
  for (const char* name : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
    if (!environment_.Get(name)) environment_.Set(name, found->interface);
  }
  return found->address;
}

base::Result<std::string> Entry::OwnAddress() {
  if (!settings_.node_ip.empty()) {
    Say("local setup ip {}", settings_.node_ip);
    return settings_.node_ip;
  }
  if (settings_.IsOnService()) return AddressInSubnet();
  TRY_ASSIGN(std::string address, AddressOfHostname());
  Say("local setup ip {}", address);
  return address;
}

base::Status Entry::Prepare() {
  environment_ = context_.environment;
  const std::string type = base::ToUpper(environment_.GetOr("OCI__CLUSTER_TYPE", "PYTORCH"));
  if (type != "PYTORCH") {
    TRY(
        err_.Write(fmt::format("WARNING: OCI__CLUSTER_TYPE={}: this entry point starts the script "
                               "with PyTorch's variables only\n",
                               type)));
  }
  if (context_.oci) services_ = context_.oci({});
  if (settings_.is_environment) return FetchCode(settings_, context_, services_.get(), out_);
  if (!settings_.local_folder.empty()) {
    TRY_ASSIGN(nodes_, LocalNodes::Open(settings_.local_folder, settings_.rank));
  }
  TRY_ASSIGN(storage_, OpenStorage(settings_.MeetingUri(), services_.get()));
  meeting_ = std::make_unique<Meeting>(settings_, *storage_, context_.clock, nodes_.get());
  TRY_ASSIGN(const std::string address, OwnAddress());
  TRY(FetchCode(settings_, context_, services_.get(), out_));
  TRY_ASSIGN(const Meeting::Written written, meeting_->Announce(address));
  Say("Writing configuration: {} to file: {}", written.shown, written.uri);
  return {};
}

base::Status Entry::StartSync() {
  Say("sync_artifacts - {}", settings_.is_synced ? 1 : 0);
  // Programs write there whether or not it is copied; the images have it.
  base::Status made;
  if (!settings_.sync_dir.empty()) made = base::MakeDirs(settings_.sync_dir, 0755);
  if (!settings_.is_synced) return {};
  const std::optional<std::string> uri = SyncUri(settings_);
  if (!uri || settings_.sync_dir.empty()) {
    Say("WARNING: Sync 'WORKSPACE', 'WORKSPACE_PREFIX' or 'work_dir' not configured. Skipping "
        "Sync");
    return {};
  }
  TRY_ASSIGN(auto storage, OpenStorage(*uri, services_.get()));
  TRY(std::move(made));
  Say("syncing {} to {}", settings_.sync_dir, *uri);
  sync_ = std::make_unique<ArtifactSync>(settings_.sync_dir, std::move(storage),
                                         SyncRhythm{settings_.sync_interval}, context_.clock, err_);
  return sync_->Start();
}

base::Status Entry::Meet() {
  if (!settings_.sync_dir.empty()) environment_.Set("OCI__SYNC_DIR", settings_.sync_dir);
  if (settings_.is_environment) {
    Say("MASTER_ADDR: {}\nMASTER_PORT: {}", settings_.master_addr, settings_.master_port);
    return {};
  }
  Say("Cluster built: rank {} of {}", settings_.rank, settings_.worker_count + 1);
  TRY_ASSIGN(const auto config, meeting_->AwaitMain());
  Say("{}. Config File: ['{}']", settings_.IsMain() ? "MAIN" : "WORKER", meeting_->MainUri());
  std::string shown;
  for (const auto& [name, value] : config) {
    environment_.Set(name, value);
    shown += fmt::format("{}'{}': '{}'", shown.empty() ? "" : ", ", name, value);
  }
  Say("Loading config: {{{}}}\nMASTER_ADDR: {}\nMASTER_PORT: {}", shown, config.at("MASTER_ADDR"),
      settings_.master_port);
  return {};
}

// NCCL's switch has had a second name since torch 2.2; setting one means both.
void NameBoth(base::Environment& environment) {
  constexpr const char* kOld = "NCCL_ASYNC_ERROR_HANDLING";
  constexpr const char* kNew = "TORCH_NCCL_ASYNC_ERROR_HANDLING";
  const auto old_value = environment.Get(kOld);
  const auto new_value = environment.Get(kNew);
  if (old_value && !new_value) environment.Set(kNew, *old_value);
  if (new_value && !old_value) environment.Set(kOld, *new_value);
}

std::string PythonPath(const EntrySettings& settings, const base::Environment& environment) {
  std::vector<std::string> parts = {settings.code_dir};
  for (const std::string& part : base::Split(settings.python_path, ':')) {
    if (part.empty()) continue;
    const std::string path = ExpandHome(part, environment);
    parts.push_back(path.starts_with('/') ? path : settings.code_dir + "/" + path);
  }
  if (const auto before = environment.Get("PYTHONPATH")) parts.push_back(*before);
  return base::Join(parts, ":");
}

// Some machines have Python under its second name only. A profiler looks for it by itself.
std::string PythonName(const std::string& path_list) {
  const bool has_other =
      !process::FindProgram("python", path_list) && process::FindProgram("python3", path_list);
  return has_other ? "python3" : "python";
}

std::vector<NodeProcess> Entry::Processes(int64_t gpus) const {
  const int64_t per_node = std::max<int64_t>(gpus, 1);
  const std::string python = PythonName(PathList());
  std::vector<NodeProcess> processes;
  for (int64_t local = 0; local < per_node; ++local) {
    base::Environment environment = environment_;
    NameBoth(environment);
    environment.Set("MASTER_PORT", settings_.master_port);
    environment.Set("WORLD_SIZE", std::to_string((settings_.worker_count + 1) * per_node));
    environment.Set("LOCAL_WORLD_SIZE", std::to_string(per_node));
    environment.Set("RANK", std::to_string(settings_.rank * per_node + local));
    environment.Set("LOCAL_RANK", std::to_string(local));
    if (per_node > 1) environment.Set("NODE_RANK", std::to_string(settings_.rank));
    environment.Set("PYTHONPATH", PythonPath(settings_, environment_));
    NodeProcess process;
    // Its quotes have been checked before.
    process.argv = *TrainingCommand(settings_, environment, python);
    for (const auto& [name, value] : environment.values())
      process.env.push_back(name + "=" + value);
    processes.push_back(std::move(process));
  }
  return processes;
}

base::Result<NodeOutcome> Entry::Train() {
  const int64_t gpus = CountGpus(environment_);
  Say("GPU COUNT: {}", gpus);
  if (!settings_.profile_command.empty()) Say("Profiler ON");
  TRY_ASSIGN(const auto command, TrainingCommand(settings_, environment_));
  Say("Running:  {}", base::Join(command, " "));
  const std::vector<NodeProcess> processes = Processes(gpus);
  Say("WORLD_SIZE: {}", (settings_.worker_count + 1) * static_cast<int64_t>(processes.size()));
  if (processes.size() == 1) Say("{}{}", api::kProgramStarted, settings_.rank);
  StopWatch watch;
  if (meeting_) {
    watch.changes_fd = meeting_->ChangesFd();
    watch.must_stop = [this] {
      meeting_->DrainChanges();
      const auto failure = meeting_->FindFailure();
      if (failure && *failure) failure_ = **failure;
      return failure && failure->has_value();
    };
  }
  const auto begin = context_.clock.Steady();
  const std::string directory =
      ::access(settings_.code_dir.c_str(), X_OK) == 0 ? settings_.code_dir : std::string();
  TRY_ASSIGN(
      const NodeOutcome outcome,
      RunNodeProcesses(processes, PathList(), directory, watch, context_.clock,
                       [&](int pid, size_t index) {
                         if (processes.size() == 1) return;
                         const auto rank = settings_.rank * static_cast<int64_t>(processes.size()) +
                                           static_cast<int64_t>(index);
                         Say("PID: {0}, RANK: {1}\nPID: {0}, LOCAL_RANK: {2}", pid, rank, index);
                       }));
  const std::chrono::duration<double> seconds = context_.clock.Steady() - begin;
  if (outcome.exit_code == 0 && !outcome.was_stopped && !outcome.signal) {
    Say("Training Time:  {} seconds", seconds.count());
  }
  return outcome;
}

void Entry::ReportFailure(int exit_code) {
  if (!meeting_) return;
  if (base::Status status = meeting_->ReportFailure(exit_code); !status) {
    (void)err_.Write(
        fmt::format("the other nodes could not be told: {}\n", status.error().message));
  }
}

// The rank of the node whose failure has ended this one.
std::optional<int64_t> Entry::FailedPeer(const base::Result<NodeOutcome>& outcome) {
  const bool is_ended_by_it =
      outcome ? outcome->was_stopped : outcome.error().code == base::Code::kCancelled;
  if (!is_ended_by_it || !meeting_) return std::nullopt;
  const auto failure = meeting_->FindFailure();
  return failure && *failure ? base::ParseInt((*failure)->rank) : std::nullopt;
}

// The log of a failed node says why the job failed, so the cluster should see its end first.
void Entry::LetEndFirst(int64_t rank) {
  const auto signals = process::OpenSignalFd({SIGTERM, SIGINT});
  if (!signals) return;
  const auto deadline = context_.clock.Steady() + kFailedNodeEnds;
  while (true) {
    if (meeting_) meeting_->DrainChanges();
    const auto nodes = nodes_->Look();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - context_.clock.Steady());
    if (!nodes || left.count() <= 0) return;
    if (!nodes->living.contains(rank)) {
      (void)process::WaitReadable(signals->get(), kUntilSeen);
      return;
    }
    pollfd waited[] = {{nodes_->fd(), POLLIN, 0}, {signals->get(), POLLIN, 0}};
    if (::poll(waited, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
  }
}

// For a job on this machine: the main node ends last, so that the job succeeds only when all nodes
// have, and no node's last lines are lost. Returns the main node's exit code.
base::Result<int> Entry::EndTogether(int exit_code) {
  TRY(nodes_->ReportExit(exit_code));
  if (!settings_.IsMain() || exit_code != 0) return exit_code;
  TRY_ASSIGN(const base::Fd signals, process::OpenSignalFd({SIGTERM, SIGINT}));
  // For nodes that have not started; the others are known to be alive.
  const auto deadline = context_.clock.Steady() + settings_.timeout;
  while (true) {
    if (meeting_) meeting_->DrainChanges();
    TRY_ASSIGN(const LocalNodes::State nodes, nodes_->Look());
    for (const auto& [rank, code] : nodes.ended) {
      if (code == 0) continue;
      Say("The node of rank {} failed with exit code {}", rank, code);
      LetEndFirst(rank);
      return cli::kExitFailure;
    }
    if (!nodes.lost.empty()) {
      Say("The node of rank {} was killed", *nodes.lost.begin());
      return cli::kExitFailure;
    }
    const auto ended = static_cast<int64_t>(nodes.ended.size());
    if (ended > settings_.worker_count) return exit_code;
    int wait = -1;
    std::set<int64_t> begun = nodes.living;
    for (const auto& [rank, code] : nodes.ended) begun.insert(rank);
    if (static_cast<int64_t>(begun.size()) <= settings_.worker_count) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - context_.clock.Steady());
      if (left.count() <= 0) return exit_code;
      wait = static_cast<int>(std::min<int64_t>(left.count(), INT_MAX));
    }
    pollfd waited[] = {{nodes_->fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
    if (::poll(waited, 2, wait) < 0 && errno != EINTR) {
      return base::Fail(base::Errno(errno, "poll"));
    }
    if (waited[1].revents != 0) return exit_code;
  }
}

// A cluster shows the last line of a failed node.
void Entry::SayWhyLast(const base::Result<NodeOutcome>& outcome) {
  if (!outcome) {
    (void)err_.Write(cli::ClickFailure(outcome.error()));
  } else if (outcome->was_stopped && nodes_) {
    Say("Stopped because {}", failure_->Describe());
  }
}

// Notifies the other nodes; returns this node's exit code.
int Entry::Finish(const base::Result<NodeOutcome>& outcome) {
  int code = cli::kExitFailure;
  if (!outcome) {
    if (outcome.error().code != base::Code::kCancelled) ReportFailure(code);
  } else if (outcome->was_stopped) {
    Say("Stopping the process. Reason: {}", failure_->Describe());
  } else if (outcome->signal) {
    code = 128 + *outcome->signal;
    ReportFailure(code);
  } else {
    code = outcome->exit_code;
    if (code != 0) {
      Say("{}{}\nStopping the process. Reason: Code Execution Failure", api::kProgramFailed, code);
      ReportFailure(code);
    }
  }
  if (meeting_ && outcome) {
    const auto stopped = meeting_->Stop();
    if (stopped && *stopped && code == 0) Say("Stopping the process. Reason: Stop file found");
    Say("Signalling Stop!!!");
    if (stopped && !*stopped) Say("Stop file not found. Writing stop file....");
    if (!stopped) (void)err_.Write(fmt::format("stop: {}\n", stopped.error().message));
  }
  Say("Exiting with exit code: {}", code);
  if (sync_) {
    Say("sync_artifacts - 1");
    if (base::Status status = sync_->Finish(); !status) {
      (void)err_.Write(fmt::format("sync: {}\n", status.error().message));
      if (code == 0) code = cli::kExitFailure;
    }
  }
  if (const auto failed = FailedPeer(outcome); failed && nodes_) LetEndFirst(*failed);
  if (nodes_) {
    const auto last = EndTogether(code);
    if (!last) (void)err_.Write(fmt::format("end: {}\n", last.error().message));
    if (last) code = *last;
  }
  SayWhyLast(outcome);
  if (settings_.post_wait && settings_.post_wait->count() > 0) {
    Say("post processing wait..{} seconds\n..", settings_.post_wait->count());
    // Without a descriptor, this only waits for the time.
    (void)process::WaitReadable(-1, *settings_.post_wait);
  }
  return code;
}

base::Result<int> Entry::Run() {
  const auto train = [this]() -> base::Result<NodeOutcome> {
    TRY(Prepare());
    TRY(StartSync());
    TRY(Meet());
    return Train();
  };
  return Finish(train());
}

}  // namespace

void AddEntry(cli::Command& parent, Context& context) {
  cli::Command& verb = parent.Add("entry", "Run one node of a job: the image's entry point.");
  verb.Help("ads/node/entry", context.program);
  verb.Run([&context](cli::Invocation& call) -> base::Result<int> {
    TRY_ASSIGN(EntrySettings settings, ReadEntrySettings(context.environment, base::NewUid()));
    return Entry(context, std::move(settings), call.out, call.err).Run();
  });
}

}  // namespace ads
