#include "local/node/agent/starter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/file.h"
#include "base/log.h"
#include "local/node/programs/packages.h"
#include "local/node/programs/tensorboard.h"

namespace local::node {

namespace {

// An error of the API, a file system or the kernel that may go away.
NotReady Passing(std::string reason, const base::Error& error) {
  return {std::move(reason), error.message, {}, NotReady::Retry::kLater};
}

tl::unexpected<NotReady> Refuse(NotReady not_ready) {
  return tl::unexpected<NotReady>(std::move(not_ready));
}

OrNotReady<void> CheckHostPath(const VolumePlan::HostPath& wanted) {
  using Need = VolumePlan::HostPath::Need;
  struct stat info{};
  if (::stat(wanted.path.c_str(), &info) == 0) {
    const bool wants_directory =
        wanted.need == Need::kDirectory || wanted.need == Need::kMakeDirectory;
    const bool wants_file = wanted.need == Need::kFile || wanted.need == Need::kMakeFile;
    if (wants_directory && !S_ISDIR(info.st_mode)) {
      return ConfigError(fmt::format("{}: \"{}\" is not a directory", wanted.owner, wanted.path));
    }
    if (wants_file && !S_ISREG(info.st_mode)) {
      return ConfigError(fmt::format("{}: \"{}\" is not a file", wanted.owner, wanted.path));
    }
    return {};
  }
  base::Status made = base::Fail(base::Errno(errno, fmt::format("\"{}\"", wanted.path)));
  if (made.error().code == base::Code::kNotFound && wanted.need == Need::kMakeDirectory) {
    made = base::MakeDirs(wanted.path, 0755);
  } else if (made.error().code == base::Code::kNotFound && wanted.need == Need::kMakeFile) {
    const base::Fd file(::open(wanted.path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    // Files that the user's programs share must not get the daemon's umask.
    made = file && ::fchmod(file.get(), 0644) == 0
               ? base::Status()
               : base::Fail(base::Errno(errno, fmt::format("make \"{}\"", wanted.path)));
  }
  if (made) return {};
  return Refuse(Passing("CreateContainerConfigError", made.error().Wrap(wanted.owner)));
}

}  // namespace

OrNotReady<void> MakeVolumes(const VolumePlan& plan, std::optional<uid_t> owner) {
  for (const VolumePlan::HostPath& wanted : plan.host_paths) {
    auto checked = CheckHostPath(wanted);
    if (!checked) return checked;
  }
  base::Status made;
  for (const std::string& directory : plan.directories) {
    // Inside the pod's own directory, which only its user can enter: its programs may run as
    // another user.
    if (made) made = base::MakeDirs(directory, 0777);
  }
  for (const VolumePlan::File& file : plan.files) {
    if (made) made = base::MakeDirs(base::DirectoryOf(file.path), 0755);
    if (made) {
      made = base::WriteFileAtomic(file.path, file.content, file.mode, base::Durability::kNone);
    }
    if (made && owner && ::chown(file.path.c_str(), *owner, -1U) != 0) {
      made = base::Fail(base::Errno(errno, fmt::format("chown \"{}\"", file.path)));
    }
  }
  if (!made) return Refuse(Passing("CreateContainerConfigError", made.error()));
  return {};
}

PodStarter::PodStarter(cluster::Client& client, ShimLauncher& shims, GpuAllocator& gpus,
                       PortAllocator& ports, NodeFacts facts, std::string configured_python)
    : client_(client),
      shims_(shims),
      gpus_(gpus),
      ports_(ports),
      facts_(std::move(facts)),
      configured_python_(std::move(configured_python)) {}

OrNotReady<std::unique_ptr<RunningShim>> PodStarter::Start(const text::Json& pod) {
  auto objects = Fetch(pod);
  if (!objects) return Refuse(std::move(objects.error()));
  auto grants = Programs(pod);
  if (!grants) return Refuse(std::move(grants.error()));
  auto visible_gpus = VisibleGpus(pod);
  if (!visible_gpus) return Refuse(std::move(visible_gpus.error()));
  grants->visible_gpus = std::move(*visible_gpus);
  auto node_ports = NodePorts(pod);
  if (!node_ports) return Refuse(std::move(node_ports.error()));
  grants->node_ports = std::move(*node_ports);
  auto images = LoadImageMap(ImageMapPath(facts_.state_directory));
  if (!images) return Refuse(Passing("CreateContainerConfigError", images.error()));
  grants->images = std::move(*images);
  NodeFacts facts = facts_;
  facts.has_gpus = !gpus_.IsKnown() || !gpus_.Units().empty();
  facts.gpu_vendor = &gpus_.Vendor();
  auto plan = PlanPod(pod, *objects, facts, *grants,
                      [](const std::string& path) { return SystemFiles().Exists(path); });
  if (!plan) return Refuse(std::move(plan.error()));
  const auto& containers = plan->spec.containers;
  auto made = MakeVolumes(plan->volumes, facts_.user == 0 && !containers.empty()
                                             ? containers.front().rights.user
                                             : std::nullopt);
  if (!made) return Refuse(std::move(made.error()));
  if (!plan->spec.job_code_directory.empty()) {
    if (auto directory = base::MakeDirs(plan->spec.job_code_directory); !directory) {
      return Refuse(Passing("CreateContainerConfigError", directory.error()));
    }
  }
  // Last, because until now the allocators hold them, whatever is not ready.
  auto locks = TakeLocks(pod, *grants);
  if (!locks) return Refuse(std::move(locks.error()));
  std::vector<int> fds;
  for (const base::Fd& lock : *locks) fds.push_back(lock.get());
  auto shim = shims_.Start(plan->spec, fds);
  if (!shim && plan->spec.is_in_user_scope && !shims_.WasStarted(plan->spec.directory)) {
    base::LogWarn("pod {}/{} has no cgroup: {}", plan->spec.namespace_name, plan->spec.name,
                  shim.error().message);
    plan->spec.is_in_user_scope = false;
    plan->spec.cgroup_mount.clear();
    shim = shims_.Start(plan->spec, fds);
  }
  if (!shim) return Refuse(Passing("RunContainerError", shim.error()));
  NoteInterpreter(pod, grants->interpreter);
  return std::move(*shim);
}

OrNotReady<PodObjects> PodStarter::Fetch(const text::Json& pod) {
  PodObjects objects;
  for (const Reference& reference : ReferencesOf(pod)) {
    auto object = client_.Get(*reference.resource, api::Namespace(pod), reference.name);
    if (object) {
      objects.emplace(reference, std::move(*object));
    } else if (object.error().code != base::Code::kNotFound) {
      return Refuse(Passing("CreateContainerConfigError", object.error()));
    }
  }
  return objects;
}

OrNotReady<std::vector<std::string>> PodStarter::VisibleGpus(const text::Json& pod) {
  std::vector<std::string> visible;
  const std::vector<gpu::Unit> known = gpus_.Units();
  for (const int unit : ParseUnits(api::Annotation(pod, api::kGpusAnnotation))) {
    if (static_cast<size_t>(unit) >= known.size()) {
      // After a restart of the daemon, discovery may not have finished.
      return Refuse({"GpuNotAvailable",
                     gpus_.IsKnown() ? fmt::format("this machine has no GPU {}", unit)
                                     : "the GPUs have not been found yet",
                     {},
                     NotReady::Retry::kSoon});
    }
    visible.push_back(known[static_cast<size_t>(unit)].visible);
  }
  return visible;
}

// Pods of jobs reach each other without Services, so only other pods' Services are looked up.
OrNotReady<std::map<int, NodePort>> PodStarter::NodePorts(const text::Json& pod) {
  const text::Json* controller = api::ControllerReference(pod);
  const bool is_of_job =
      controller != nullptr && text::GetString(*controller, {"kind"}) == api::kPyTorchJobs.kind;
  const text::Object* labels = text::FindObject(pod, {"metadata", "labels"});
  if (is_of_job || labels == nullptr || labels->empty()) return std::map<int, NodePort>();
  cluster::ListOptions options;
  options.namespace_name = api::Namespace(pod);
  auto services = client_.List(api::kServices, options);
  if (!services) return Refuse(Passing("CreateContainerConfigError", services.error()));
  return NodePortsOfPod(pod, services->items);
}

OrNotReady<base::Fd> PodStarter::LockNodePort(const NodePort& port) {
  auto assigned = ports_.Assign(port.key, port.port);
  if (assigned && *assigned != port.port) {
    // The Service of that name has been replaced.
    ports_.Release(port.key);
    assigned = ports_.Assign(port.key, port.port);
  }
  base::Result<base::Fd> lock = assigned ? ports_.LockForStart(port.key, "")
                                         : base::Result<base::Fd>(base::Fail(assigned.error()));
  if (lock) return std::move(*lock);
  NotReady not_ready = Passing("PortNotAvailable", lock.error());
  not_ready.retry = NotReady::Retry::kSoon;
  return Refuse(std::move(not_ready));
}

OrNotReady<std::vector<base::Fd>> PodStarter::TakeLocks(const text::Json& pod,
                                                        const PodGrants& grants) {
  std::vector<base::Fd> locks;
  const std::vector<int> units = ParseUnits(api::Annotation(pod, api::kGpusAnnotation));
  if (!units.empty()) {
    auto taken = gpus_.Take(std::string(api::Uid(pod)), units);
    if (!taken) {
      NotReady not_ready = Passing("GpuNotAvailable", taken.error());
      not_ready.retry = NotReady::Retry::kSoon;
      return Refuse(std::move(not_ready));
    }
    locks = std::move(*taken);
  }
  if (api::Label(pod, api::kJobRoleLabel) == "master") {
    auto lock = ports_.LockForStart(std::string(api::ControllerUid(pod)), api::Name(pod));
    if (lock) {
      locks.push_back(std::move(*lock));
    } else if (lock.error().code != base::Code::kNotFound) {
      NotReady not_ready = Passing("PortNotAvailable", lock.error());
      not_ready.retry = NotReady::Retry::kSoon;
      return Refuse(std::move(not_ready));
    }
  }
  for (const auto& [target, port] : grants.node_ports) {
    auto lock = LockNodePort(port);
    if (!lock) return Refuse(std::move(lock.error()));
    locks.push_back(std::move(*lock));
  }
  return locks;
}

base::Environment PodStarter::EnvironmentOf(const text::Json& pod) const {
  base::Environment environment = facts_.environment;
  const base::Environment submitted = api::SubmittedEnvironment(pod);
  for (const auto& [name, value] : submitted.values()) environment.Set(name, value);
  return environment;
}

OrNotReady<std::string> PodStarter::Interpreter(const text::Json& pod) {
  std::string interpreter(api::Annotation(pod, api::kPythonAnnotation));
  if (interpreter.empty()) {
    auto chosen = ChooseInterpreter(configured_python_, EnvironmentOf(pod), SystemFiles());
    // Without Python, the machine can still run programs that do not need it.
    if (!chosen && chosen.error().code == base::Code::kNotFound) return std::string();
    if (!chosen) return Refuse(Passing("CreateContainerConfigError", chosen.error()));
    interpreter = std::move(*chosen);
  } else if (!SystemFiles().IsExecutable(interpreter)) {
    return Refuse(
        Passing("CreateContainerConfigError",
                {base::Code::kNotFound,
                 fmt::format("the job's Python \"{}\" cannot be executed", interpreter), 0}));
  }
  return interpreter;
}

// For the run's record only: a failure does not prevent the start.
void PodStarter::NoteInterpreter(const text::Json& pod, const std::string& interpreter) const {
  if (interpreter.empty()) return;
  const base::Status noted = NotePython(interpreter, EnvironmentOf(pod), facts_.state_directory,
                                        PodDirectory(facts_, api::Uid(pod)));
  if (!noted) base::LogWarn("{}", noted.error().message);
}

OrNotReady<PodGrants> PodStarter::Programs(const text::Json& pod) {
  PodGrants grants;
  auto interpreter = Interpreter(pod);
  if (!interpreter) return Refuse(std::move(interpreter.error()));
  const std::string path = PodPath(pod, facts_);
  if (!interpreter->empty()) {
    const InterpreterPath plan =
        PlanInterpreterPath(*interpreter, path, facts_.state_directory, SystemFiles());
    if (auto made = MakeInterpreterPath(plan); !made) {
      return Refuse(Passing("CreateContainerConfigError", made.error()));
    }
    grants.interpreter_directory = plan.directory;
  }
  if (!RunsTensorboard(pod)) {
    grants.interpreter = std::move(*interpreter);
    return grants;
  }
  auto program = FindTensorboard(*interpreter, path, SystemFiles(), [&](const std::string& python) {
    return CanImportTensorboard(python, EnvironmentOf(pod));
  });
  if (!program) return Refuse(Passing("TensorBoardNotInstalled", program.error()));
  grants.tensorboard = std::move(*program);
  return grants;
}

}  // namespace local::node
