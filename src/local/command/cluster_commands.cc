#include "local/command/cluster_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "api/resources.h"
#include "base/log.h"
#include "base/strings.h"
#include "local/client/connect.h"
#include "local/client/daemon_transport.h"
#include "local/command/doctor.h"
#include "local/command/image_commands.h"
#include "local/command/kubernetes_command.h"
#include "local/command/listen_commands.h"
#include "local/command/stop_cluster.h"
#include "local/daemon/upkeep.h"
#include "process/pidfd.h"
#include "text/json.h"

namespace local::command {
namespace {

// With --force, a daemon that does not answer `down` within this time is ended.
constexpr std::chrono::seconds kDownTimeout{20};
constexpr std::string_view kFirstJob = "muster run train.py";
constexpr std::chrono::seconds kStateTimeout{3};
// With --force, a hanging daemon is ended within ten seconds: this is its time to answer, and its
// time to end.
constexpr std::chrono::seconds kProbeTime{4};
constexpr std::chrono::seconds kHangingGrace{2};

base::Result<ClusterChoice> Choose(const ClusterContext& context, const daemon::Config& config) {
  return ChooseCluster(context.flags(), context.environment, config,
                       [](const std::string& path) { return access(path.c_str(), F_OK) == 0; });
}

base::Result<daemon::DaemonRecord> FindDaemon(
    const ClusterContext& context, bool is_again,
    daemon::ShellLimits limits = daemon::ShellLimits::kShed) {
  TRY_ASSIGN(const std::string executable, daemon::OwnExecutable());
  const daemon::Caller caller{context.environment, executable, context.build, limits};
  return is_again ? daemon::ReviveDaemon(caller) : daemon::EnsureDaemon(caller);
}

std::unique_ptr<cluster::Transport> TransportTo(const ClusterContext& context,
                                                daemon::DaemonRecord found, net::Headers headers,
                                                std::chrono::seconds timeout) {
  daemon::TransportOptions options;
  options.ensure = [context] { return FindDaemon(context, true); };
  options.warn = [](std::string_view words) { base::LogWarn("{}", words); };
  options.extra_headers = std::move(headers);
  options.timeout = timeout;
  return daemon::DaemonTransport(std::move(found), std::move(options));
}

base::Result<int> Up(const ClusterContext& context, const std::string& listen, cli::Output& out) {
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto before, daemon::RunningDaemon(paths));
  TRY_ASSIGN(const daemon::DaemonRecord found,
             FindDaemon(context, false, daemon::ShellLimits::kKept));
  const bool is_same = before && before->pid == found.pid;
  TRY(out.Write(fmt::format("The embedded cluster {} (pid {}, state in {}).\n",
                            is_same ? "is up already" : "is up", found.pid, paths.state)));
  if (!listen.empty()) {
    const auto transport = TransportTo(context, found, {}, cluster::kRequestTimeout);
    TRY(Listen(*transport, listen, out));
  }
  return 0;
}

// Whether it fails to carry out writes: a hanging daemon may still accept connections.
bool IsHanging(const daemon::DaemonRecord& found) {
  cluster::Client client(cluster::UnixTransport(found.socket, {}, kProbeTime));
  const auto probed =
      client.Create(api::kNamespaces, "",
                    text::Object{{"metadata", text::Object{{"generateName", "probe-"}}}}, true);
  return !probed && probed.error().code == base::Code::kTimeout;
}

base::Result<int> Down(const ClusterContext& context, bool force, cli::Output& out) {
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto running, daemon::RunningDaemon(paths));
  // Jobs outlive a daemon that ended otherwise than by `down`: another one has to say what runs,
  // and to end it.
  const bool may_have_left_jobs =
      ::access(paths.database.c_str(), F_OK) == 0 && ::access(paths.down.c_str(), F_OK) != 0;
  if (!running && !may_have_left_jobs) {
    TRY(out.Write("The embedded cluster is not running.\n"));
    return 0;
  }
  if (running && force && IsHanging(*running)) {
    base::LogWarn("the daemon (pid {}) does not answer: starting another one to end its jobs",
                  running->pid);
    TRY(daemon::StopDaemon(paths, kHangingGrace));
  }
  TRY_ASSIGN(const daemon::DaemonRecord found, FindDaemon(context, false));
  cluster::Client client(TransportTo(context, found, {}, kDownTimeout));
  TRY(StopCluster(client, context.clock, force, [&paths] { return daemon::StopDaemon(paths); }));
  TRY(out.Write(
      "The embedded cluster is down. Its jobs and logs are kept for the next `muster up`.\n"));
  return 0;
}

base::Result<int> ShowCluster(const ClusterContext& context, cli::Output& out) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(const ClusterChoice choice, Choose(context, config));
  if (!choice.is_embedded) return ShowKubernetes(context, choice, out);
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto running, daemon::RunningDaemon(paths));
  TRY(out.Write(fmt::format(
      "The embedded cluster of this machine\nBecause: {}\nDaemon:  {}\nState:   {}\nSocket:  {}\n"
      "Version: {}\nKeeps:   {}\n",
      choice.because,
      running ? fmt::format("running, pid {}", running->pid)
              : "not running; the first command starts it",
      paths.state, running ? running->socket : paths.socket, context.build.text(),
      daemon::DescribeKeep(config))));
  if (running) TRY(out.Write(fmt::format("Daemon's version: {}\n", running->build.text())));
  return 0;
}

// Jobs of all namespaces, counted by their status in `list`, and the newest job of each status.
struct CountedJobs {
  std::map<std::string, int> counts;
  std::map<std::string, std::string> newest;  // as flags and arguments: "-n team x"
};

base::Result<CountedJobs> CountJobs(cluster::Client& client) {
  TRY_ASSIGN(const cluster::Table table, client.GetTable(api::kPyTorchJobs, {}));
  const auto column = [&](std::string_view name) {
    size_t at = 0;
    while (at < table.columns.size() && table.columns[at].name != name) ++at;
    return at;
  };
  const size_t name = column("Name"), status = column("Status"), space = column("Namespace"),
               created = column("Created");
  CountedJobs jobs;
  std::map<std::string, std::string> times;
  for (const std::vector<text::Json>& row : table.rows) {
    const auto cell = [&row](size_t at) {
      const auto* string = at < row.size() ? row[at].if_string() : nullptr;
      return string != nullptr ? std::string(*string) : std::string();
    };
    const std::string word = cell(status);
    ++jobs.counts[word];
    // RFC 3339 in UTC sorts as text.
    if (jobs.newest.contains(word) && cell(created) <= times[word]) continue;
    times[word] = cell(created);
    const std::string in = cell(space);
    jobs.newest[word] = (in.empty() || in == "default" ? "" : "-n " + in + " ") + cell(name);
  }
  return jobs;
}

std::string NextStep(const CountedJobs& jobs) {
  const auto newest = [&](const char* status) {
    const auto found = jobs.newest.find(status);
    return found != jobs.newest.end() ? found->second : "";
  };
  if (!newest("RUNNING").empty()) return "muster logs -f " + newest("RUNNING");
  if (!newest("PENDING").empty()) return "muster get -e " + newest("PENDING");
  if (!newest("FAILED").empty()) return "muster explain " + newest("FAILED");
  if (!jobs.counts.empty()) return "muster list";
  return std::string(kFirstJob);
}

// Whether no daemon runs, or the one that does ends within a second.
bool EndsByItself(const daemon::Paths& paths) {
  const auto running = daemon::RunningDaemon(paths);
  if (!running || !*running) return running.has_value();
  const auto pidfd = process::OpenPidfd((*running)->pid);
  if (!pidfd) return pidfd.error().code == base::Code::kNotFound;
  return process::WaitForEnd(pidfd->get(), std::chrono::seconds(1)).has_value();
}

base::Result<int> Restore(const ClusterContext& context, bool force, cli::Output& out) {
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY(daemon::CheckNotInPod(context.environment));
  TRY_ASSIGN(const auto running, daemon::RunningDaemon(paths));
  // A daemon that ends makes a backup, which would replace the chosen one.
  TRY(daemon::ChooseBackup(paths));
  if (running && force) TRY(daemon::StopDaemon(paths));
  if (running && !force) {
    cluster::Client client(TransportTo(context, *running, {}, kDownTimeout));
    const base::Status stopped =
        StopCluster(client, context.clock, false, [&paths] { return daemon::StopDaemon(paths); });
    // One that has found its store damaged was about to end, and there is nothing to stop.
    const bool has_ended =
        !stopped && stopped.error().code != base::Code::kInvalidArgument && EndsByItself(paths);
    if (!stopped && !has_ended) {
      return base::Fail(
          stopped.error().Wrap("not restored (--force restores, and leaves running jobs alone)"));
    }
  }
  TRY_ASSIGN(const std::string old, daemon::RestoreStore(paths, context.clock));
  TRY(out.Write(fmt::format(
      "The last backup of the store is in its place{}.\nJobs made since it are not in it: pods of "
      "theirs that run are left alone, and `muster list` names them.\n",
      old.empty() ? "" : "; the old store is in " + old)));
  return 0;
}

// A Markdown table, which scripts/reference puts into the manual.
std::string SettingsTable() {
  std::string table = "| key | values | default | meaning |\n|---|---|---|---|\n";
  for (const daemon::Setting& setting : daemon::Settings()) {
    table += fmt::format("| `{}` | {} | {} | {} |\n", setting.key, setting.values,
                         setting.usual.empty() ? "-" : setting.usual, setting.meaning);
  }
  return table;
}

void AddUp(cli::Command& root, const ClusterContext& context) {
  cli::Command& up = root.Add("up", "Start the embedded cluster of this machine");
  auto listen = std::make_shared<std::string>();
  AddListenFlag(up.flags(), listen.get());
  up.Help("local/command/up", "muster")
      .Args(cli::NoArgs())
      .Run([context, listen](cli::Invocation& call) { return Up(context, *listen, call.out); });
}

void AddDown(cli::Command& root, const ClusterContext& context) {
  cli::Command& down = root.Add("down", "Stop the embedded cluster of this machine");
  auto force = std::make_shared<bool>(false);
  down.flags().Bool(force.get(), "force", false,
                    "end running jobs first (as FAILED, with reason ClusterStopped)");
  down.Help("local/command/down", "muster")
      .Args(cli::NoArgs())
      .Run([context, force](cli::Invocation& call) { return Down(context, *force, call.out); });
}

void AddCluster(cli::Command& root, const ClusterContext& context) {
  cli::Command& cluster = root.Add("cluster", "Show which cluster commands use, and why");
  auto restore = std::make_shared<bool>(false);
  auto restore_force = std::make_shared<bool>(false);
  cluster.flags().Bool(restore.get(), "restore", false,
                       "replace the embedded cluster's store by its last backup");
  cluster.flags().Bool(restore_force.get(), "force", false,
                       "with --restore: even while jobs run; they continue");
  cluster.Help("local/command/cluster", "muster")
      .Args(cli::NoArgs())
      .Check([restore, restore_force](cli::Invocation&) -> base::Status {
        if (*restore || !*restore_force) return {};
        return base::Fail(base::Code::kInvalidArgument, "--force is for --restore");
      })
      .Run([context, restore, restore_force](cli::Invocation& call) {
        return *restore ? Restore(context, *restore_force, call.out)
                        : ShowCluster(context, call.out);
      });
}

void AddSettings(cli::Command& root, const ClusterContext&) {
  root.Add("__settings", "")
      .Hidden()
      .Args(cli::NoArgs())
      .Run([](cli::Invocation& call) -> base::Result<int> {
        TRY(call.out.Write(SettingsTable()));
        return 0;
      });
}

}  // namespace

void AddClusterCommands(cli::Command& root, const ClusterContext& context) {
  using Add = void (*)(cli::Command&, const ClusterContext&);
  const std::pair<std::string_view, Add> commands[] = {
      {"up", AddUp},          {"kubeconfig", AddKubeconfigCommand}, {"image", AddImageCommands},
      {"doctor", AddDoctor},  {"__settings", AddSettings},          {"down", AddDown},
      {"cluster", AddCluster}};
  for (const auto& [name, add] : commands) {
    root.AddLater(name, [add = add, &context](cli::Command& parent) { add(parent, context); });
  }
}

base::Status ShowState(const ClusterContext& context, cli::Output& out) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(const ClusterChoice choice, Choose(context, config));
  const auto strong = [&out](std::string_view text) {
    return cli::Painted(out, cli::Paint::kStrong, text);
  };
  std::string said = fmt::format("{} submits, runs and watches distributed PyTorch jobs\n\n",
                                 strong("muster " + context.build.text()));
  std::string next = "muster list";
  if (!choice.is_embedded) {
    said += fmt::format("Cluster:  Kubernetes, {} ({})\n",
                        choice.context.empty() ? "the current context" : choice.context,
                        choice.because);
  } else {
    TRY_ASSIGN(const auto running, daemon::RunningDaemon(daemon::PathsOf(context.environment)));
    said += fmt::format("Cluster:  this machine ({})\nDaemon:   {}\n", choice.because,
                        running ? cli::Painted(out, cli::Paint::kGood, "running") +
                                      fmt::format(", pid {}", running->pid)
                                : "not running; the first command starts it");
    next = std::string(kFirstJob);
    if (running) {
      cluster::Client client(cluster::UnixTransport(running->socket, {}, kStateTimeout));
      if (const auto jobs = CountJobs(client)) {
        std::vector<std::string> words;
        for (const auto& [status, count] : jobs->counts) {
          words.push_back(fmt::format("{} {}", count, cli::PaintedState(out, status)));
        }
        said += fmt::format("Jobs:     {}\n", words.empty() ? "none yet" : base::Join(words, ", "));
        next = NextStep(*jobs);
      } else {
        said += fmt::format("Jobs:     not known: {}\n", jobs.error().message);
        next = "muster down --force";
      }
    }
  }
  return out.Write(fmt::format("{}\nNext:     {}\nHelp:     muster help\n", said, strong(next)));
}

base::Result<ChosenCluster> FindChosenCluster(const ClusterContext& context) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(const ClusterChoice choice, Choose(context, config));
  return ChosenCluster{choice.is_embedded,
                       choice.is_embedded ? "" : NamespaceOfContext(context, choice)};
}

base::Result<Connection> Connect(const ClusterContext& context,
                                 cluster::Client::WarningSink warnings) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(ClusterChoice choice, Choose(context, config));
  base::LogDebug("cluster: {} ({})", choice.is_embedded ? "embedded" : choice.kubeconfig,
                 choice.because);
  if (!choice.is_embedded) {
    return ConnectKubernetes(context, std::move(choice), std::move(warnings));
  }
  TRY_ASSIGN(daemon::DaemonRecord found, FindDaemon(context, false));
  if (daemon::IsNewer(found.build, context.build)) {
    base::LogWarn(
        "this muster is {}, older than the daemon, {}: use that one, `muster cluster` "
        "shows both",
        context.build.text(), found.build.text());
  }
  TRY_ASSIGN(net::Headers headers, daemon::SubmitterHeaders(context.environment, config));
  Connection connection;
  connection.client = std::make_unique<cluster::Client>(
      TransportTo(context, std::move(found), std::move(headers), cluster::kRequestTimeout),
      std::move(warnings));
  connection.choice = std::move(choice);
  return connection;
}

}  // namespace local::command
