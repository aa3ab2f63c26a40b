// The entry point of `muster`: dispatches by the name under which it was called, and by
// sub-command.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ads/app.h"
#include "ads/oci/breaker.h"
#include "arena/app/app.h"
#include "arena/app/interrupts.h"
#include "arena/install/build_info.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/all_logs.h"
#include "arena/objects/fetch_url.h"
#include "arena/submit/wait.h"
#include "base/clock.h"
#include "base/colour.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/machine/standard_descriptors.h"
#include "base/machine/uncaught.h"
#include "cli/click.h"
#include "cli/command.h"
#include "cli/interrupt_notice.h"
#include "controller/operator/operator_command.h"
#include "dashboard/dash.h"
#include "local/client/config.h"
#include "local/command/cluster_commands.h"
#include "local/daemon/daemon.h"
#include "local/daemon/submitter.h"
#include "local/node/shim/shim.h"
#include "watch/watch.h"

namespace {

constexpr std::string_view kArena = "arena";
constexpr std::string_view kAds = "ads";

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void Pause(base::Duration duration) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, duration, [] { return false; });
}

local::daemon::BuildId OwnBuild() {
  return {MUSTER_VERSION, arena::kBuildInfo.commit, arena::kBuildInfo.date};
}

// This program's own path.
std::string SelfPath() {
  std::array<char, 4096> self{};
  const ssize_t length = ::readlink("/proc/self/exe", self.data(), self.size() - 1);
  return {self.data(), length > 0 ? static_cast<size_t>(length) : 0};
}

// Executes the static launcher, which is beside this program and reads no configuration. Returns
// only on failure.
int BecomeLauncher(const char* name, char** args) {
  const auto config = local::daemon::LoadConfig(base::Environment::OfProcess());
  if (config && !config->takes_status_posts) ::setenv("PET_PROGRESS", "off", 0);
  std::string path = SelfPath();
  path = path.substr(0, path.rfind('/') + 1) + "muster-launch";
  std::vector<char*> argv = {const_cast<char*>(name)};
  for (; *args != nullptr; ++args) argv.push_back(*args);
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  base::LogError("start the launcher \"{}\": {}; install it beside muster", path,
                 std::strerror(errno));
  return cli::kExitFailure;
}

// For the list of commands and its completion; main executes the launcher before this command would
// run.
void AddLaunch(cli::Command& root) {
  root.Add("launch", "Start a distributed program here, as torchrun does, without a job")
      .Long("Takes torchrun's command lines unchanged: see \"muster launch --help\".")
      .RawArgs()
      .Run([](cli::Invocation&) -> base::Result<int> { return cli::kExitUsage; });
  root.Add("python-shim", "Make python -m torch.distributed.run start muster launch")
      .Long("See \"muster python-shim --help\".")
      .RawArgs()
      .Run([](cli::Invocation&) -> base::Result<int> { return cli::kExitUsage; });
}

void AddGroups(cli::Command& root) {
  root.Group("Jobs", {"run", "submit", "list", "get", "watch", "logs", "attach", "top", "what-if",
                      "dash", "suspend", "resume", "delete", "port-forward", "tensorboard",
                      "logviewer", "data", "secret"})
      .Group("Runs", {"history", "show", "report", "explain", "stacks", "compare", "rerun", "code",
                      "files", "cp", "prune"})
      .Group("Cluster", {"up", "down", "cluster", "doctor", "kubeconfig", "image", "apply", "diff",
                         "install", "uninstall", "operator", "whoami"})
      .Group("Programs", {"launch", "python-shim", "opctl"});
}

void AddColour(cli::Command& root) {
  root.persistent_flags()
      .Custom("color", "string", "colour words: auto (on a terminal), always or never",
              [](std::string_view value) -> base::Status {
                if (value == "auto" || value == "always" || value == "never") {
                  base::SetColour(value == "auto"     ? base::Colour::kAuto
                                  : value == "always" ? base::Colour::kAlways
                                                      : base::Colour::kNever);
                  return {};
                }
                return base::Fail(base::Code::kInvalidArgument, "must be auto, always or never");
              })
      .Choices({"auto", "always", "never"});
}

void ExitInterrupted(int) { ::_exit(cli::kExitInterrupted); }

// What opctl needs from rooms that it does not see: a cluster, and following a job in it.
class OpctlCluster {
 public:
  OpctlCluster(const base::Environment& environment, base::Clock& clock, const std::string& program)
      : arena_{.environment = environment,
               .clock = clock,
               .program = program == kAds ? "muster" : program,
               .flags = {},
               .connect = {},
               .cluster_is_this_machine = false,
               .cluster_namespace = "",
               .find_user_name = {},
               .pause = Pause} {}

  base::Result<ads::Cluster> Connect(const ads::Context::ClusterFlags& flags) {
    arena_.flags.local = flags.is_local;
    arena_.flags.kubeconfig = flags.kubeconfig;
    arena_.flags.context = flags.context;
    arena_.flags.namespace_name = flags.namespace_name;
    const local::command::ClusterContext context{arena_.environment, arena_.clock,
                                                 [this] {
                                                   return local::command::ClusterFlags{
                                                       arena_.flags.local, arena_.flags.kubeconfig,
                                                       arena_.flags.context};
                                                 },
                                                 Pause, OwnBuild()};
    TRY_ASSIGN(connection_, local::command::Connect(context, [](std::string_view warning) {
                 base::LogInfo("{}", warning);
               }));
    arena_.cluster_namespace = connection_.namespace_name;
    return ads::Cluster{connection_.client.get(), arena_.Namespace()};
  }

  base::Result<int> Follow(const ads::Cluster& cluster, const text::Json& job, cli::Output& out) {
    const std::string name(text::GetString(job, {"metadata", "name"}));
    const cli::InterruptNotice notice(arena::RunsOn(arena_.program, name),
                                      arena::InterruptCode(arena_.program));
    TRY_ASSIGN(const arena::TrainingJob found,
               arena::FindJob(*cluster.client, arena_, cluster.namespace_name, name));
    arena::AllLogsRequest request{found};
    request.has_colours = out.HasColour();
    TRY(arena::FollowAllLogs(*cluster.client, arena_, request, out));
    return arena::AwaitEnd(*cluster.client, arena_, job);
  }

 private:
  arena::Context arena_;
  local::command::Connection connection_;
};

ads::Context MakeOpctlContext(const std::string& program, OpctlCluster& cluster) {
  const auto breaker = std::make_shared<ads::oci::Breaker>();
  ads::Context context{.environment = base::Environment::OfProcess(),
                       .clock = base::SystemClock(),
                       .program = program,
                       .self = SelfPath(),
                       .pause = [breaker](base::Duration pause) { breaker->Pause(pause); },
                       .breaker = breaker};
  context.fetch_url = [environment = context.environment](const std::string& url, size_t max_bytes,
                                                          std::chrono::seconds timeout) {
    return arena::FetchUrl(url, environment, {max_bytes, timeout});
  };
  context.connect = [&cluster](const ads::Context::ClusterFlags& flags) {
    return cluster.Connect(flags);
  };
  context.follow = [&cluster](const ads::Cluster& of, const text::Json& job, cli::Output& out) {
    return cluster.Follow(of, job, out);
  };
  return context;
}

// An error of the root, in the words of the commands below it.
std::string AdsFailure(const cli::Command& root, const std::vector<std::string>& args,
                       const cli::Outcome& outcome) {
  if (outcome.exit_code != cli::kExitUsage) return cli::ClickFailure(*outcome.error);
  const cli::ClickText text(root);
  const bool is_command = outcome.error->message.starts_with("unknown command");
  return text.UsageFailure(is_command ? text.NoSuchCommand(args[0]) : outcome.error->message);
}

// Under the name `ads` there is only opctl.
int RunAds(const std::vector<std::string>& args) {
  base::SetLogForm(base::LogForm::kText);
  const std::string program(kAds);
  OpctlCluster cluster(base::Environment::OfProcess(), base::SystemClock(), program);
  ads::Context context = MakeOpctlContext(program, cluster);
  cli::Command root(program, "Distributed training of OCI Data Science, by muster.");
  root.Version("ads, muster v" MUSTER_VERSION);
  ads::AddOpctl(root, context);
  ads::AddJobs(root, context);
  cli::FdOutput out(STDOUT_FILENO);
  cli::FdOutput err(STDERR_FILENO);
  const cli::Outcome outcome = cli::Execute(root, args, out, err);
  if (outcome.error) (void)err.Write(AdsFailure(root, args, outcome));
  return outcome.exit_code;
}

// The flag that set the kubeconfig: --kubeconfig overrides --config.
std::string_view FlagOfKubeconfig(const arena::GlobalFlags& flags) {
  return flags.kubeconfig.empty() && !flags.config.empty() ? "--config" : "--kubeconfig";
}

int RunCommandLine(std::string program, const std::vector<std::string>& args) {
  const bool is_arena = program == kArena;
  base::SetLogForm(is_arena ? base::LogForm::kArena : base::LogForm::kText);
  arena::Context context{.environment = base::Environment::OfProcess(),
                         .clock = base::SystemClock(),
                         .program = std::move(program),
                         .flags = {},
                         .connect = {},
                         .cluster_is_this_machine = false,
                         .cluster_namespace = "",
                         .find_user_name = {},
                         .pause = Pause};
  // Never freed: the program ends with it, and its many flags take a tenth of a short command's
  // time.
  static cli::Command& root = *new cli::Command(
      context.program, "muster submits, runs and watches distributed PyTorch jobs");
  root.Version(context.program + " v" MUSTER_VERSION);
  arena::AddVerbs(root, context);

  const local::command::ClusterContext cluster_context{
      context.environment, context.clock,
      [&context] {
        return local::command::ClusterFlags{context.flags.local, context.flags.KubeconfigPath(),
                                            context.flags.context, FlagOfKubeconfig(context.flags)};
      },
      Pause, OwnBuild()};
  local::command::AddClusterCommands(root, cluster_context);
  if (!is_arena) {
    root.AddLater("watch", [&context](cli::Command& parent) {
      watch::AddWatch(parent, context, SelfPath());
    });
    root.AddLater("dash",
                  [&context](cli::Command& parent) { dashboard::AddDash(parent, context); });
    root.AddLater("", [](cli::Command& parent) {
      AddLaunch(parent);
      AddGroups(parent);
    });
    AddColour(root);
    const auto show_state = [&cluster_context](cli::Invocation& call) -> base::Result<int> {
      TRY(local::command::ShowState(cluster_context, call.out));
      return 0;
    };
    root.RunAlone(show_state);
    root.AddLater("get", [show_state](cli::Command& parent) {
      parent.FindChild("get")->CalledAlone("status", show_state);
    });
  }
  root.AddLater("operator", [&context](cli::Command& parent) {
    const auto flags = [&context] {
      return controller::ProgramFlags{context.flags.KubeconfigPath(), context.flags.context,
                                      context.flags.namespace_name, context.flags.local};
    };
    controller::AddOperatorCommand(parent, {context.environment, context.clock, flags, Pause});
  });
  local::command::Connection connection;
  context.connect = [&](arena::Context& connected) -> base::Result<cluster::Client*> {
    TRY_ASSIGN(connection, local::command::Connect(cluster_context, [](std::string_view warning) {
                 // A warning about a flag that has no effect begins with it; the others say what
                 // happens.
                 base::Log(
                     warning.starts_with("--") ? base::LogLevel::kWarn : base::LogLevel::kInfo,
                     warning);
               }));
    connected.cluster_is_this_machine = connection.choice.is_embedded;
    connected.cluster_namespace = connection.namespace_name;
    connected.cluster_server = connection.server;
    connected.find_user_name = connection.user_name;
    return connection.client.get();
  };
  context.choose = [&](arena::Context& chosen) -> base::Status {
    TRY_ASSIGN(const auto choice, local::command::FindChosenCluster(cluster_context));
    chosen.cluster_is_this_machine = choice.is_embedded;
    chosen.cluster_namespace = choice.namespace_name;
    return {};
  };

  OpctlCluster opctl_cluster(context.environment, context.clock, context.program);
  ads::Context opctl_context = MakeOpctlContext(context.program, opctl_cluster);
  if (!is_arena) {
    root.AddLater("opctl",
                  [&opctl_context](cli::Command& parent) { ads::AddOpctl(parent, opctl_context); });
  }

  context.missing_tensorboard = [&context] {
    return local::daemon::MissingTensorboard(context.environment);
  };

  cli::FdOutput out(STDOUT_FILENO);
  cli::FdOutput err(STDERR_FILENO);
  const cli::Outcome outcome = cli::Execute(root, args, out, err);
  if (outcome.error) base::LogError("{}", outcome.error->message);
  // Arena knows only 0 and 1.
  return is_arena && outcome.exit_code != 0 ? cli::kExitFailure : outcome.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  base::HoldStandardDescriptors();
  base::ReportUncaughtLimits();
  // Programs that muster starts itself: they need nothing of the command line's setup.
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "shim") return local::node::ShimMain();
  if (verb == "daemon") {
    return local::daemon::DaemonMain(base::Environment::OfProcess(), OwnBuild());
  }

  const bool is_arena = BaseName(argv[0]) == kArena;
  if (verb == "launch" && !is_arena) return BecomeLauncher("muster launch", argv + 2);
  if (verb == "python-shim" && !is_arena) return BecomeLauncher("muster python-shim", argv + 2);
  if (BaseName(argv[0]) == "torchrun") return BecomeLauncher(argv[0], argv + 1);
  if (!is_arena) ::signal(SIGINT, ExitInterrupted);
  if (BaseName(argv[0]) == kAds) return RunAds({argv + 1, argv + argc});
  return RunCommandLine(is_arena ? "arena" : "muster", {argv + 1, argv + argc});
}
