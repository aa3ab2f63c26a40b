#include "local/daemon/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "base/defer.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine/uncaught.h"
#include "base/strings.h"
#include "cluster/client.h"
#include "local/client/config.h"
#include "local/client/connect.h"
#include "local/client/start_daemon.h"
#include "local/daemon/admission.h"
#include "local/daemon/daemon_socket.h"
#include "local/daemon/embedded_cluster.h"
#include "local/daemon/forecaster.h"
#include "local/daemon/gpu_metrics.h"
#include "local/daemon/listener.h"
#include "local/daemon/notifier.h"
#include "local/daemon/path_keeper.h"
#include "local/daemon/pods/pod_execs.h"
#include "local/daemon/pods/pod_ports.h"
#include "local/daemon/process_limits.h"
#include "local/daemon/progress/job_pods.h"
#include "local/daemon/progress/progress_files.h"
#include "local/daemon/progress/progress_keeper.h"
#include "local/daemon/progress/progress_news.h"
#include "local/daemon/progress/progress_page.h"
#include "local/daemon/ranks/gpu_witness.h"
#include "local/daemon/ranks/stall_keeper.h"
#include "local/daemon/status_server.h"
#include "local/daemon/submitter.h"
#include "local/daemon/upkeep.h"
#include "local/node/agent/lost_and_found.h"
#include "local/node/agent/node.h"
#include "local/node/devices/gpu.h"
#include "local/node/devices/ports.h"
#include "local/node/plan/image_map.h"
#include "local/node/programs/interpreter.h"
#include "local/node/programs/launcher_path.h"
#include "local/node/programs/warm_broker.h"
#include "local/scheduler/messages.h"
#include "net/http/server.h"
#include "process/file_lock.h"
#include "process/spawn.h"
#include "text/projection.h"

namespace local::daemon {
namespace {

// Notifications about jobs that have just ended may come after the answer to the first command.
constexpr std::chrono::seconds kFirstNotices{1};

base::Result<AdmissionDefaults> DefaultsOf(const Config& config,
                                           const base::Environment& environment) {
  AdmissionDefaults defaults;
  TRY_ASSIGN(defaults.python,
             node::ChooseInterpreter(config.python.value_or(""), environment, node::SystemFiles()));
  defaults.environment = PodEnvironmentJson(environment);
  defaults.bound = BoundOf(node::DescribeMachine().memory, ReadProcessLimits());
  return defaults;
}

SchedulingOptions SchedulingOptionsOf(const Config& config) {
  SchedulingOptions options;
  switch (config.gpus) {
    case GpuMode::kAuto:
      options.gpu_policy = scheduler::GpuPolicy::kAuto;
      break;
    case GpuMode::kStrict:
      options.gpu_policy = scheduler::GpuPolicy::kStrict;
      break;
    case GpuMode::kOptional:
      options.gpu_policy = scheduler::GpuPolicy::kOptional;
      break;
  }
  return options;
}

// Blocks until the daemon is asked to end. Meanwhile it returns memory twice, after the first lists
// of everything that is stored: a gigabyte with ten thousand jobs.
int AwaitSignal() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGTERM);
  sigaddset(&awaited, SIGINT);
  for (const time_t seconds : {10, 60}) {
    const timespec until_trim{seconds, 0};
    if (const int number = sigtimedwait(&awaited, nullptr, &until_trim); number > 0) return number;
    malloc_trim(0);
  }
  int number = 0;
  while (sigwait(&awaited, &number) != 0) {
  }
  return number;
}

// For commands that look for the daemon. It serves even if this fails.
void WriteOwnRecord(const base::Fd& lock, const BuildId& build, const std::string& socket) {
  const auto record = OwnRecord(build, socket);
  const base::Status written =
      record ? WriteRecord(lock.get(), *record) : base::Status(base::Fail(record.error()));
  if (!written) base::LogWarn("{}", written.error().message);
}

bool IsFileOf(const base::Fd& fd, const std::string& path) {
  struct stat held{};
  struct stat there{};
  return ::fstat(fd.get(), &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

// Not if it is merely out of reach, as on a file server that does not answer.
bool IsRemoved(const base::Fd& fd, const std::string& path) {
  return fd && !IsFileOf(fd, path) && (::access(path.c_str(), F_OK) == 0 || errno == ENOENT);
}

// Somebody has removed the file. If another daemon came first, this one is redundant and ends.
base::Status LockAgain(const Paths& paths, base::Fd& lock) {
  TRY(MakePrivateDirs(paths));
  TRY_ASSIGN(std::optional<base::Fd> taken, process::TryLockFile(paths.lock));
  if (!taken) {
    ::kill(::getpid(), SIGTERM);
    return base::Fail(base::Code::kAlreadyExists, "another daemon has taken it, so this one ends");
  }
  lock = std::move(*taken);
  return {};
}

// Only the last one: a user's runtime directory is made by the system.
base::Status MakeLastDir(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return base::Fail(base::Errno(errno, "make directory " + path));
}

// Runs the program's own `__notify`, which continues if this daemon ends.
void StartNotify(const std::string& program, const base::Environment& environment,
                 const std::vector<std::string>& what) {
  process::SpawnOptions options;
  options.path = program;
  options.argv = {"muster", "--local", "__notify"};
  options.argv.insert(options.argv.end(), what.begin(), what.end());
  options.env = environment.AsList();
  options.is_detached = true;
  if (const auto started = process::SpawnQuietly(std::move(options)); !started) {
    base::LogWarn("notification of {}: {}", what[1], started.error().message);
  }
}

// What the cluster is made of on this machine; `launcher` is the program beside this one.
base::Result<ClusterOptions> ClusterOptionsOf(const base::Environment& environment,
                                              const Config& config, const Paths& paths,
                                              const std::string& launcher) {
  ClusterOptions options;
  options.state = paths.state;
  options.database = paths.database;
  options.server.user = environment.GetOr("USER", "admin");
  AdmissionDefaults& defaults = options.defaults;
  TRY_ASSIGN(defaults, DefaultsOf(config, environment));
  defaults.image_map = node::ImageMapPath(paths.state);
  defaults.has_podman = config.has_podman;
  defaults.notify = base::Join(config.notify, "\n");
  defaults.notify_on = config.notify_on;
  if (::access(launcher.c_str(), X_OK) != 0) defaults.missing_launcher = launcher;
  node::AgentOptions& agent = options.agent;
  agent.machine = node::DescribeMachine();
  agent.socket = paths.socket;
  agent.log_limit = static_cast<uint64_t>(config.log_limit);
  agent.environment = environment;
  agent.configured_python = config.python.value_or("");
  agent.has_podman = config.has_podman;
  agent.cgroups = node::FindCgroupPlace(geteuid(), environment);
  if (!agent.cgroups.has_cpu) defaults.abilities.why_cpus_are_unlimited = agent.cgroups.why;
  TRY_ASSIGN(agent.launcher, node::MakeLauncherPath(launcher, paths.state, config.redirects_launch,
                                                    config.is_warm));
  options.scheduling = SchedulingOptionsOf(config);
  return options;
}

std::function<std::string(int64_t)> WhyWithoutGpusOf(node::GpuAllocator& gpus,
                                                     scheduler::GpuPolicy policy) {
  return [&gpus, policy](int64_t wish) {
    if (!gpus.IsKnown()) return std::string();
    scheduler::Node node;
    node.gpus.resize(gpus.Units().size());
    node.no_gpu_reason = gpus.Reason();
    node.gpu_resource = gpus.Vendor().resource;
    return scheduler::WhyWithoutGpus(wish, node, policy);
  };
}

// Jobs run without it, too.
std::unique_ptr<StatusServer> ListenForStatusPosts(const std::string& state) {
  auto server = StatusServer::Listen(state);
  if (server) return std::move(*server);
  base::LogWarn("programs cannot report their progress: {}", server.error().message);
  return nullptr;
}

// Creates all parts in order; they are destroyed in reverse.
base::Status Serve(const base::Environment& environment, const BuildId& build, Handover& handover) {
  base::Clock& clock = base::SystemClock();
  TRY(CheckNotInPod(environment));
  const Paths paths = PathsOf(environment);
  TRY(MakePrivateDirs(paths));
  TRY_ASSIGN(base::Fd lock, handover.TakeLock(paths.lock));
  WriteOwnRecord(lock, build, paths.socket);
  ::unlink(paths.down.c_str());
  TRY_ASSIGN(const Config config, LoadConfig(environment));
  TRY_ASSIGN(const std::string executable, OwnExecutable());
  TRY_ASSIGN(ClusterOptions options,
             ClusterOptionsOf(environment, config, paths,
                              base::DirectoryOf(executable) + "/muster-launch"));
  node::GpuAllocator gpus;
  options.defaults.abilities.why_without_gpus =
      WhyWithoutGpusOf(gpus, options.scheduling.gpu_policy);
  options.defaults.abilities.gpus = [&gpus]() -> int64_t {
    return gpus.IsKnown() ? static_cast<int64_t>(gpus.Units().size()) : 0;
  };
  options.defaults.abilities.gpu_vendor = [&gpus]() -> const gpu::Vendor& { return gpus.Vendor(); };
  const StoreCheck check = StoreCheckOf(paths);
  options.check_store =
      [&](node::LostAndFound& lost) -> base::Result<std::optional<store::Database>> {
    if (check == StoreCheck::kAtOnce) return CheckStore(paths, lost, clock);
    return std::nullopt;
  };
  TRY_ASSIGN(const auto execs, PodExecs::Start(paths.state + "/pods"));
  TRY_ASSIGN(const auto pod_ports, PodPorts::Start());
  options.server.exec_source = execs.get();
  options.server.port_source = pod_ports.get();
  std::unique_ptr<StatusServer> status_server;
  if (config.takes_status_posts) status_server = ListenForStatusPosts(paths.state);
  if (status_server) options.agent.status = status_server->endpoint();
  std::unique_ptr<node::WarmBroker> broker;
  if (node::LauncherPath& own = options.agent.launcher; !own.warm_python.empty()) {
    own.broker = paths.runtime + "/warm.socket";
    TRY_ASSIGN(broker, node::WarmBroker::Start(own.warm_python, own.broker, paths.runtime));
  }
  // This very program, even if its file was replaced by an upgrade or removed.
  const std::string this_program = fmt::format("/proc/{}/exe", ::getpid());
  const auto shims = node::ProcessShims(this_program);
  node::PortAllocator ports = node::PortAllocator::OfMachine();
  TRY_ASSIGN(const auto cluster,
             EmbeddedCluster::Start(*shims, gpus, ports, clock, std::move(options)));
  cluster::Client& client = cluster->client();
  const node::GpuDiscovery discovery(gpu::Places::Of(environment),
                                     [&](const gpu::Inventory& inventory) {
                                       gpus.SetInventory(inventory);
                                       cluster->agent().GpusAreKnown();
                                       cluster->scheduling().GpusAreKnown();
                                     });

  GpuMetrics gpu_metrics(client, gpu::Places::Of(environment), cluster->node_name());
  ProgressFiles progress(paths.state);
  RankFiles ranks(paths.state);
  ProgressNews progress_news(progress, ranks, clock);
  LastLines last_lines;
  // The status server was created before these objects, for the pods, but uses them, so it ends
  // first.
  const base::Defer end_posts([&status_server] { status_server.reset(); });
  if (status_server) status_server->Serve(client, progress, clock);
  TRY_ASSIGN(const auto progress_keeper,
             ProgressKeeper::Start(progress, progress_news, last_lines, paths.state,
                                   cluster->first_version()));
  Forecaster forecaster(client, cluster->api().store(), cluster->scheduling(), clock);
  const net::HttpHandler handler = [&gpu_metrics, &progress, &ranks, &progress_news, &forecaster,
                                    api = cluster->api().handler()](
                                       net::HttpRequest request,
                                       std::shared_ptr<net::Responder> responder) {
    if (IsGpuMetricsRequest(request)) return gpu_metrics.Handle(std::move(responder));
    if (IsForecastRequest(request)) {
      return forecaster.Handle(std::move(request), std::move(responder));
    }
    if (auto answer = AnswerProgress(progress, ranks, request))
      return responder->Send(*std::move(answer));
    if (progress_news.Handle(request, responder)) return;
    api(std::move(request), std::move(responder));
  };
  std::unique_ptr<Listener> listener;
  const net::HttpHandler own_handler = [&](net::HttpRequest request,
                                           std::shared_ptr<net::Responder> responder) {
    if (request.target == kListenPath) return responder->Send(listener->Handle(request));
    handler(std::move(request), std::move(responder));
  };
  TRY_ASSIGN(const auto http_server, ListenOnSocket(paths.socket, own_handler));
  listener = std::make_unique<Listener>(paths.state, *http_server, handler, clock);
  if (const auto resumed = listener->Resume(); !resumed) {
    base::LogWarn("--listen: {}", resumed.error().message);
  }
  WriteOwnRecord(lock, build, paths.socket);
  // From here on the keeper's thread owns the lock.
  std::string socket = paths.socket;
  std::vector<KeptPath> kept;
  // With O_PATH, because closing any other descriptor of the file frees SQLite's locks on it.
  const base::Fd store(::open(paths.database.c_str(), O_PATH | O_CLOEXEC));
  const auto is_store_there = [&](const std::string& path) { return !IsRemoved(store, path); };
  kept.push_back({"store", paths.database, is_store_there, []() -> base::Result<std::string> {
                    ::kill(::getpid(), SIGTERM);
                    return base::Fail(base::Code::kNotFound,
                                      "what is written to it would be lost, so the daemon ends");
                  }});
  kept.push_back({"socket", socket, IsSocket, [&]() -> base::Result<std::string> {
                    // The user's runtime directory may have been removed with the last session.
                    const Paths now = PathsOf(environment);
                    TRY(MakePrivateDirs(now));
                    TRY(http_server->ListenAt(now.socket));
                    socket = now.socket;
                    WriteOwnRecord(lock, build, socket);
                    return socket;
                  }});
  kept.push_back({"lock", paths.lock, [&](const std::string& path) { return IsFileOf(lock, path); },
                  [&]() -> base::Result<std::string> {
                    TRY(LockAgain(paths, lock));
                    WriteOwnRecord(lock, build, socket);
                    return paths.lock;
                  }});
  if (broker) {
    kept.push_back({"socket of warm starts", paths.runtime + "/warm.socket", IsSocket,
                    [&]() -> base::Result<std::string> {
                      TRY(MakeLastDir(paths.runtime));
                      TRY(broker->ListenAgain());
                      return paths.runtime + "/warm.socket";
                    }});
  }
  TRY_ASSIGN(auto keeper, PathKeeper::Start(std::move(kept)));
  std::jthread http_thread([&] { http_server->Run(); });
  Upkeep::Options upkeep_options;
  upkeep_options.paths = paths;
  upkeep_options.keep = config.keep;
  upkeep_options.executable = this_program;
  upkeep_options.environment = environment;
  upkeep_options.is_to_be_checked = check == StoreCheck::kLater;
  upkeep_options.forget_progress = [&](const std::set<std::string>& remembered) {
    const auto is_known = [&](const std::string& uid) {
      const auto fate = cluster->FateOf(uid);
      return remembered.contains(uid) || !fate || *fate == node::Fate::kStored;
    };
    progress.ForgetUnless(is_known);
    ranks.ForgetUnless(is_known);
  };
  const Upkeep upkeep(client, cluster->lost(), clock, std::move(upkeep_options));
  const Notifier notifier(
      client, clock,
      [&](const text::Json& job, const std::string& event) {
        StartNotify(this_program, environment,
                    {std::string(api::Namespace(job)), std::string(api::Name(job)),
                     std::string(api::Uid(job)), event});
      },
      kFirstNotices);
  StallKeeper stalls(client, clock, paths.state, ranks, progress, last_lines,
                     gpu::Places::Of(environment));
  GpuWitness gpu_witness(client, clock, gpu::Places::Of(environment));
  const JobPods job_pods(client, {std::bind_front(&ProgressKeeper::OnPod, progress_keeper.get()),
                                  std::bind_front(&StallKeeper::OnPod, &stalls),
                                  std::bind_front(&GpuWitness::OnPod, &gpu_witness)});
  base::LogInfo("the embedded cluster is up: socket {}, state {}", paths.socket, paths.state);
  malloc_trim(0);
  handover.SayReady();

  const int signal_number = AwaitSignal();
  base::LogInfo("ending because of {}; running jobs continue", strsignal(signal_number));
  keeper.reset();
  http_server->Stop();
  http_thread.join();
  listener.reset();
  return {};
}

}  // namespace

namespace {
// Each watch and each pod needs a descriptor, so the usual soft limit of 1,024 could be reached.
// Pods inherit the limit.
constexpr rlim_t kDescriptors = 65'536;

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
  setrlimit(RLIMIT_NOFILE, &limit);
}
}  // namespace

int DaemonMain(const base::Environment& environment, const BuildId& build) {
  // Few arenas, because a dozen threads that mostly sleep would each keep memory of their own.
  mallopt(M_ARENA_MAX, 2);
  umask(077);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  RaiseDescriptorLimit();
  static Handover handover;
  base::ReportUncaughtLimits([](const std::string& line) { handover.Say(line); });
  const base::Status served = Serve(environment, build, handover);
  if (served) return 0;
  base::LogError("{}", served.error().message);
  handover.Say(served.error().message);
  return 1;
}

}  // namespace local::daemon
