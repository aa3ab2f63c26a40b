#include "local/node/plan/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/status_posts.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "local/node/plan/code_container.h"
#include "local/node/plan/podman.h"
#include "local/node/plan/security.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/pod/shim_client.h"
#include "local/node/programs/tensorboard.h"
#include "witness/stacks.h"

namespace local::node {

namespace {

using text::GetString;

constexpr int64_t kDefaultGrace = 30;
// compat/arena.md 3: the label of its pods, and its default --working-dir.
constexpr std::string_view kArenaCreator = "PyTorchJob";
constexpr std::string_view kArenaWorkingDirectory = "/root";
constexpr int64_t kMaxNamedReplicas = 512;

// The last entry of that name; "" when there is none.
std::string_view ValueIn(const EnvList& list, std::string_view name) {
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    if (it->first == name) return it->second;
  }
  return "";
}

bool Has(const EnvList& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(),
                     [name](const auto& variable) { return variable.first == name; });
}

// The number of the job's processes, from variables that the reconciler sets: WORLD_SIZE, or the
// upper end of PET_NNODES ("1:3") in elastic jobs without a master.
int64_t JobSize(const EnvList& variables) {
  const auto world = base::ParseInt(ValueIn(variables, "WORLD_SIZE"));
  const std::string_view nnodes = ValueIn(variables, "PET_NNODES");
  const size_t colon = nnodes.find(':');
  const auto nodes =
      base::ParseInt(colon == std::string_view::npos ? nnodes : nnodes.substr(colon + 1));
  return std::max<int64_t>({1, world.value_or(1), nodes.value_or(1)});
}

// A quantity as it is written, also if it is a number; "" without a limit.
std::string LimitOf(const text::Json& container, std::string_view resource) {
  const text::Json* const limit = text::Find(container, {"resources", "limits", resource});
  if (limit == nullptr || limit->is_null()) return "";
  return text::ToText(*limit);
}

class PodPlanner {
 public:
  PodPlanner(const text::Json& pod, const PodObjects& objects, const NodeFacts& facts,
             const PodGrants& grants, const std::function<bool(const std::string&)>& is_there)
      : pod_(pod),
        objects_(objects),
        facts_(facts),
        grants_(grants),
        is_there_(is_there),
        sync_(FindCodeSync(pod)),
        job_(api::Label(pod, api::kJobNameLabel)),
        submitted_(api::SubmittedEnvironment(pod)) {}

  OrNotReady<PodPlan> Plan() {
    FillIdentity();
    const PodFacts own{pod_, facts_.node_name, kHostIp, facts_.cpus * int64_t{1000}, facts_.memory};
    auto added = AddContainers("initContainers", own, spec_.init_containers);
    if (added) added = AddContainers("containers", own, spec_.containers);
    if (added) added = ShareRoot();
    if (!added) return tl::unexpected<NotReady>(std::move(added.error()));
    if (!job_.empty()) AddHosts();
    const std::string job_uid = JobUidOf(pod_);
    auto volumes = PlanVolumes(own, objects_, spec_.directory,
                               job_uid.empty() ? "" : JobDirectory(facts_, job_uid), sync_.volume,
                               sync_.container, variables_);
    if (!volumes) return tl::unexpected<NotReady>(std::move(volumes.error()));
    spec_.mounts = volumes->mounts;
    AddStatusToken(*volumes);
    PointToCodeMounts(volumes->code_mounts);
    ShowImages();
    MakeWorkingDirectories(*volumes);
    if (auto moved = MoveIntoImages(); !moved) {
      return tl::unexpected<NotReady>(std::move(moved.error()));
    }
    return PodPlan{std::move(spec_), std::move(*volumes)};
  }

 private:
  void FillIdentity() {
    spec_.uid = api::Uid(pod_);
    spec_.namespace_name = api::Namespace(pod_);
    spec_.name = api::Name(pod_);
    spec_.directory = PodDirectory(facts_, spec_.uid);
    spec_.hostname = GetString(pod_, {"spec", "hostname"});
    // A host name of its own needs a view of the machine; only pods of jobs get one by default.
    if (spec_.hostname.empty() && !job_.empty()) {
      spec_.hostname = spec_.name.substr(0, kMaxHostName);
    }
    const std::string_view policy = api::PodRestartPolicy(pod_);
    spec_.restart_policy = policy == "Never"       ? PodRestartPolicy::kNever
                           : policy == "OnFailure" ? PodRestartPolicy::kOnFailure
                                                   : PodRestartPolicy::kAlways;
    spec_.termination_grace = std::chrono::seconds(
        text::GetInt(pod_, {"spec", "terminationGracePeriodSeconds"}).value_or(kDefaultGrace));
    spec_.restart_backoff = facts_.restart_backoff;
    spec_.umask =
        api::ParseUmask(api::Annotation(pod_, api::kUmaskAnnotation)).value_or(kUsualUmask);
    spec_.witness_root = facts_.witness_root;
    spec_.log_limit = facts_.log_limit;
    if (!sync_.container.empty()) {
      const std::string_view job_uid = api::ControllerUid(pod_);
      spec_.job_code_directory =
          job_uid.empty() ? spec_.directory + "/job-code" : JobDirectory(facts_, job_uid) + "/code";
    }
  }

  OrNotReady<void> AddContainers(std::string_view list, const PodFacts& own,
                                 std::vector<ContainerSpec>& into) {
    for (const text::Json& container : text::Items(pod_, {"spec", list})) {
      auto variables = ContainerVariables(own, container, objects_);
      if (!variables) return tl::unexpected<NotReady>(std::move(variables.error()));
      ContainerSpec spec;
      spec.name = GetString(container, {"name"});
      if (spec.name == sync_.container && list == "initContainers") spec.kind = sync_.kind;
      if (spec.kind != ContainerSpec::Kind::kGitSync)
        spec.argv = CommandLine(container, *variables);
      if (!grants_.tensorboard.empty() && IsTensorboard(spec.argv)) UseTensorboard(spec.argv);
      const bool is_in_image = RunsInItsImage(container, spec);
      // Without an image the program must be in the command: args may name it, or be arguments of
      // the image's entry point.
      const bool has_program = !spec.argv.empty() && !spec.argv.front().starts_with('-');
      if (!has_program && spec.kind != ContainerSpec::Kind::kGitSync && !is_in_image) {
        return tl::unexpected<NotReady>(NotReady{
            "CreateContainerError",
            fmt::format("container {}: no command specified{}", spec.name,
                        spec.argv.empty() ? "" : ", and its args do not begin with a program"),
            {},
            NotReady::Retry::kNever});
      }
      spec.tty = text::GetBool(container, {"tty"}).value_or(false);
      if (auto secured = Secure(container, is_in_image, spec); !secured) return secured;
      if (is_in_image) {
        in_images_.emplace(spec.name, &container);
        spec.env.emplace_back("OMP_NUM_THREADS", std::to_string(Threads(container, *variables)));
      } else {
        auto mapped = MappedImageOf(container, spec);
        if (!mapped) return tl::unexpected<NotReady>(std::move(mapped.error()));
        spec.cwd = WorkingDirectory(container, *mapped);
        spec.env = BaseVariables(container, *variables);
      }
      spec.env.insert(spec.env.end(), variables->begin(), variables->end());
      AddGpus(*variables, spec.env);
      if (!is_in_image) AddLauncher(spec);
      if (spec.kind == ContainerSpec::Kind::kProgram) AddStatusPosts(spec.env);
      // Last, so that no other variable hides the pod's processes from their agent.
      spec.env.emplace_back(kPodUidVariable, spec_.uid);
      if (!facts_.socket.empty()) spec.env.emplace_back(kSocketVariable, facts_.socket);
      variables_[spec.name] = std::move(*variables);
      into.push_back(std::move(spec));
    }
    return {};
  }

  OrNotReady<void> Secure(const text::Json& container, bool is_in_image, ContainerSpec& spec) {
    if (spec.kind != ContainerSpec::Kind::kProgram) return {};  // part of muster
    auto security = SecurityOf(pod_, container, facts_.user, is_in_image);
    if (!security) return tl::unexpected<NotReady>(std::move(security.error()));
    spec.rights = std::move(security->rights);
    spec.memory_limit = base::ParseQuantity(LimitOf(container, "memory")).value_or(0);
    spec.cpu_limit_milli = base::ParseQuantityMilli(LimitOf(container, "cpu")).value_or(0);
    if (*spec.memory_limit <= 0) spec.memory_limit.reset();
    if (*spec.cpu_limit_milli <= 0) spec.cpu_limit_milli.reset();
    if (spec.HasLimits() && facts_.cgroups.kind != CgroupPlace::Kind::kNone) {
      spec_.cgroup_mount = facts_.cgroups.mount;
      spec_.is_in_user_scope = facts_.cgroups.kind == CgroupPlace::Kind::kUserScope;
    }
    if (!is_in_image) {
      programs_.push_back({spec.name, spec.rights, security->has_read_only_root});
    }
    return {};
  }

  OrNotReady<void> ShareRoot() {
    auto is_read_only = IsRootReadOnly(programs_, facts_.user);
    if (!is_read_only) return tl::unexpected<NotReady>(std::move(is_read_only.error()));
    spec_.is_root_read_only = *is_read_only;
    return {};
  }

  void UseTensorboard(std::vector<std::string>& argv) const {
    int port = PortOfTensorboard(argv);
    if (const auto it = grants_.node_ports.find(port); it != grants_.node_ports.end()) {
      port = it->second.port;
    }
    argv = TensorboardCommand(argv, grants_.tensorboard, port);
  }

  bool RunsInItsImage(const text::Json& container, const ContainerSpec& spec) const {
    const std::string_view image = GetString(container, {"image"});
    return facts_.has_podman && spec.kind == ContainerSpec::Kind::kProgram && !image.empty() &&
           image != kHostImage && FindImage(grants_.images, image) == nullptr;
  }

  // Podman makes their view of the machine, which it could not do inside of a pod's.
  OrNotReady<void> MoveIntoImages() {
    if (in_images_.empty()) return {};
    for (auto* list : {&spec_.init_containers, &spec_.containers}) {
      for (ContainerSpec& container : *list) {
        if (container.kind != ContainerSpec::Kind::kProgram) continue;
        const auto json = in_images_.find(container.name);
        if (json == in_images_.end()) {
          return tl::unexpected<NotReady>(
              NotReady{"CreateContainerConfigError",
                       fmt::format("container {} runs on the machine itself and container {} in an "
                                   "image: a pod cannot have both",
                                   container.name, in_images_.begin()->first),
                       {},
                       NotReady::Retry::kNever});
        }
        RunByPodman(*json->second, spec_, variables_[container.name],
                    {facts_.gpu_vendor->resource, grants_.visible_gpus}, facts_.environment,
                    container);
      }
    }
    spec_.mounts.clear();
    spec_.hosts.clear();
    spec_.hostname.clear();
    return {};
  }

  // The mapping of the container's image; nullptr when there is none, which the error of a failed
  // program then mentions.
  OrNotReady<const MappedImage*> MappedImageOf(const text::Json& container, ContainerSpec& spec) {
    const std::string_view image = GetString(container, {"image"});
    if (spec.kind != ContainerSpec::Kind::kProgram || image.empty() || image == kHostImage) {
      return nullptr;
    }
    const MappedImage* mapped = FindImage(grants_.images, image);
    if (mapped == nullptr) {
      spec.image_hint = UnmappedImageHint(image);
      return nullptr;
    }
    if (!is_there_(mapped->directory)) {
      return tl::unexpected<NotReady>(NotReady{
          "CreateContainerConfigError",
          fmt::format(
              "the directory {} to which the image {} is mapped does not exist: create it, or "
              "choose another with `muster image map {} DIR`",
              mapped->directory, image, image),
          {},
          NotReady::Retry::kLater});
    }
    images_[spec.name] = *mapped;
    return mapped;
  }

  // Shows mapped images at their WORKDIR, whatever the container's working directory.
  void ShowImages() {
    for (const auto& [container, image] : images_) {
      const bool is_shown = std::any_of(
          spec_.mounts.begin(), spec_.mounts.end(),
          [&, &shown = image.workdir](const Mount& mount) { return mount.target == shown; });
      if (!image.workdir.empty() && !is_shown) {
        spec_.mounts.push_back({image.directory, image.workdir, false});
      }
    }
  }

  std::string WorkingDirectory(const text::Json& container, const MappedImage* image) const {
    const std::string_view directory = GetString(container, {"workingDir"});
    const auto clean = CleanPath(directory);
    // Arena sets one when its user has not, which would override that of every image.
    const bool is_arenas =
        directory == kArenaWorkingDirectory && api::Label(pod_, "createdBy") == kArenaCreator;
    if (clean && !directory.empty() && (image == nullptr || !is_arenas)) return *clean;
    if (image != nullptr) return image->workdir.empty() ? image->directory : image->workdir;
    // In the host's own environment it is the user's home.
    const std::string home = OfSubmitterOrDaemon("HOME");
    return home.empty() ? "/" : home;
  }

  std::string OfSubmitterOrDaemon(std::string_view name) const {
    return submitted_.GetOr(name, facts_.environment.GetOr(name, ""));
  }

  EnvList BaseVariables(const text::Json& container, const EnvList& variables) const {
    EnvList base;
    std::string path = PodPath(pod_, facts_);
    const std::string& first = grants_.interpreter_directory;
    if (!first.empty()) path = first + ":" + path;
    if (!facts_.launcher.programs.empty()) path = facts_.launcher.programs + ":" + path;
    base.emplace_back("PATH", std::move(path));
    for (const char* name : {"HOME", "USER", "LOGNAME", "LANG"}) {
      std::string value = OfSubmitterOrDaemon(name);
      if (!value.empty()) base.emplace_back(name, std::move(value));
    }
    base.emplace_back("OMP_NUM_THREADS", std::to_string(Threads(container, variables)));
    for (const auto& [name, value] : submitted_.values()) {
      if (name != "PATH" && !Has(base, name)) base.emplace_back(name, value);
      if (name == "OMP_NUM_THREADS") base.emplace_back(name, value);
    }
    base.emplace_back("HOSTNAME", spec_.hostname.empty() ? spec_.name : spec_.hostname);
    return base;
  }

  // The machine's cores divided by the job's processes, and at most the container's limit: without
  // it each process would start one thread per core.
  int64_t Threads(const text::Json& container, const EnvList& variables) const {
    int64_t threads = facts_.cpus / JobSize(variables);
    const auto cpus = base::ParseQuantity(LimitOf(container, "cpu"));
    if (cpus && *cpus > 0) threads = std::min(threads, *cpus);
    return std::max<int64_t>(1, threads);
  }

  // Adds the launcher, before what the container's own PYTHONPATH has. torchrun uses the pod's
  // interpreter, not that of an environment that happens to be active.
  void AddLauncher(ContainerSpec& spec) const {
    EnvList& env = spec.env;
    if (facts_.launcher.programs.empty()) return;
    if (!Has(env, "PYTHON_EXEC")) env.emplace_back("PYTHON_EXEC", "python3");
    // For jobs on several nodes: only users who may read the job know its uid.
    const std::string job_uid = JobUidOf(pod_);
    if (!job_uid.empty() && !Has(env, "MUSTER_RDZV_TOKEN")) {
      env.emplace_back("MUSTER_RDZV_TOKEN", job_uid);
    }
    // Whoever follows the log of such a pod knows its ranks' bars from lines (launch/output).
    const auto processes = base::ParseInt(ValueIn(env, "PET_NPROC_PER_NODE"));
    if (processes && *processes > 1 && !Has(env, "MUSTER_BARS")) {
      env.emplace_back("MUSTER_BARS", "lines");
    }
    if (!Has(env, "MUSTER_LOG_DIR")) env.emplace_back("MUSTER_LOG_DIR", spec_.directory);
    // A warm interpreter has rights and a cgroup already, which are not the container's.
    if (!facts_.launcher.warm_python.empty() && !spec.IsConfined()) AddWarmStarts(spec);
    // The same hook lets its programs report their stacks; a forked program inherits it.
    if (!Has(env, witness::kStacksVariable)) {
      env.emplace_back(witness::kStacksVariable,
                       witness::FolderOfPod(facts_.state_directory, api::Uid(pod_)));
    }
    if (facts_.launcher.modules.empty()) return;
    const std::string_view others = ValueIn(env, "PYTHONPATH");
    env.emplace_back("PYTHONPATH", others.empty()
                                       ? facts_.launcher.modules
                                       : fmt::format("{}:{}", facts_.launcher.modules, others));
  }

  std::string StatusTokenPath() const { return spec_.directory + "/status-token"; }

  // transformers and Kubeflow's SDK report their progress where Kubeflow Trainer's variables say.
  void AddStatusPosts(EnvList& env) {
    if (job_.empty() || JobUidOf(pod_).empty()) return;
    for (const std::string_view name : api::kStatusVariables) {
      if (Has(env, name)) return;
    }
    if (facts_.status.address.empty()) {  // nor does a launcher in the pod offer an endpoint
      if (!Has(env, "PET_PROGRESS")) env.emplace_back("PET_PROGRESS", "off");
      return;
    }
    env.emplace_back(api::kStatusUrlVariable,
                     api::StatusUrl("http://" + facts_.status.address, spec_.namespace_name, job_));
    env.emplace_back(api::kStatusTokenVariable, StatusTokenPath());
    env.emplace_back(api::kStatusAuthorityVariable, "");  // it is plain HTTP, on this machine
    posts_status_ = true;
  }

  void AddStatusToken(VolumePlan& volumes) {
    if (!posts_status_) return;
    const std::string path = StatusTokenPath();
    volumes.files.push_back({path, StatusToken(facts_.status.key, JobUidOf(pod_)) + "\n", 0600});
    // An image does not show the pod's own directory.
    if (!in_images_.empty()) spec_.mounts.push_back({path, path, true});
  }

  // A terminal belongs to one program.
  void AddWarmStarts(ContainerSpec& spec) const {
    if (!Has(spec.env, "PET_WARM")) spec.env.emplace_back("PET_WARM", "1");
    spec.env.emplace_back("MUSTER_WARM_BROKER", facts_.launcher.broker);
    if (ValueIn(spec.env, "PET_WARM") != "1" || !grants_.tensorboard.empty()) return;
    spec.env.emplace_back("MUSTER_WARM_PYTHON", facts_.launcher.warm_python);
    const bool is_program = spec.kind == ContainerSpec::Kind::kProgram && !spec.tty;
    if (is_program) spec.warm_python = facts_.launcher.warm_python;
  }

  void AddGpus(const EnvList& variables, EnvList& env) const {
    // A pod with GPUs sees its share, whatever the container says, because others hold the rest. A
    // pod without GPUs sees none, unless the container says which.
    if (grants_.visible_gpus.empty() && !facts_.has_gpus) return;
    const std::map<std::string, std::string> own(variables.rbegin(), variables.rend());
    const gpu::Variables added = grants_.visible_gpus.empty()
                                     ? facts_.gpu_vendor->hidden(base::Environment(own))
                                     : facts_.gpu_vendor->shown(grants_.visible_gpus);
    env.insert(env.end(), added.begin(), added.end());
  }

  // The names of the job's services and pods, which are the same (compat/pytorchjob.md 2.4).
  void AddHosts() {
    int64_t size = 1;
    for (const auto& [container, variables] : variables_) {
      size = std::max(size, JobSize(variables));
    }
    size = std::min(size, kMaxNamedReplicas);
    std::vector<std::string> names = {api::ReplicaName(job_, api::kMaster, 0)};
    for (int64_t i = 0; i < size; ++i) {
      names.push_back(api::ReplicaName(job_, api::kWorker, static_cast<int>(i)));
    }
    if (std::find(names.begin(), names.end(), spec_.name) == names.end()) {
      names.push_back(spec_.name);
    }
    for (const std::string& name : names) {
      for (const std::string& suffix :
           {std::string(), "." + spec_.namespace_name, "." + spec_.namespace_name + ".svc",
            "." + spec_.namespace_name + ".svc.cluster.local"}) {
        spec_.hosts.emplace_back(name + suffix, kHostIp);
      }
    }
  }

  // The code is fetched outside of the pod's view: variables that name a file in a mount, such as
  // GIT_SSH_KEY_FILE, get its path on the host.
  void PointToCodeMounts(const std::vector<Mount>& mounts) {
    for (ContainerSpec& container : spec_.init_containers) {
      if (container.kind == ContainerSpec::Kind::kProgram) continue;
      for (auto& [name, value] : container.env) {
        for (const Mount& mount : mounts) {
          if (value.starts_with(mount.target + "/")) {
            value.replace(0, mount.target.size(), mount.source);
            break;
          }
        }
      }
    }
  }

  // A working directory that exists neither on the host nor in a volume becomes the mapped image's
  // directory, otherwise the pod's own.
  void MakeWorkingDirectories(VolumePlan& volumes) {
    std::set<std::string> seen;
    std::vector<std::pair<std::string, std::string>> wanted;  // path -> container
    for (const auto* list : {&spec_.init_containers, &spec_.containers}) {
      for (const ContainerSpec& container : *list) {
        if (container.kind != ContainerSpec::Kind::kProgram) continue;
        if (in_images_.contains(container.name)) continue;
        wanted.emplace_back(container.cwd, container.name);
      }
    }
    for (const auto& [cwd, container] : wanted) {
      const bool is_in_volume = std::any_of(
          spec_.mounts.begin(), spec_.mounts.end(), [&, &place = cwd](const Mount& mount) {
            return place == mount.target || place.starts_with(mount.target + "/") ||
                   mount.target.starts_with(place + "/");
          });
      if (is_in_volume || is_there_(cwd) || !seen.insert(cwd).second) continue;
      if (const auto image = images_.find(container); image != images_.end()) {
        spec_.mounts.push_back({image->second.directory, cwd, false});
        continue;
      }
      const std::string source = fmt::format("{}/work/{}", spec_.directory, seen.size());
      volumes.directories.push_back(source);
      spec_.mounts.push_back({source, cwd, false});
    }
    std::stable_sort(spec_.mounts.begin(), spec_.mounts.end(),
                     [](const Mount& a, const Mount& b) { return a.target < b.target; });
  }

  const text::Json& pod_;
  const PodObjects& objects_;
  const NodeFacts& facts_;
  const PodGrants& grants_;
  const std::function<bool(const std::string&)>& is_there_;
  const CodeSync sync_;
  const std::string job_;
  const base::Environment submitted_;
  PodSpec spec_;
  std::vector<SecuredProgram> programs_;                // that run outside of images
  std::map<std::string, EnvList> variables_;            // by container: its own variables, without
                                                        // the base
  std::map<std::string, MappedImage> images_;           // by container: the mapping of its image
  bool posts_status_ = false;                           // a container has the variables for it
  std::map<std::string, const text::Json*> in_images_;  // by name: the containers that podman runs
};

}  // namespace

OrNotReady<PodPlan> PlanPod(const text::Json& pod, const PodObjects& objects,
                            const NodeFacts& facts, const PodGrants& grants,
                            const std::function<bool(const std::string&)>& is_there) {
  return PodPlanner(pod, objects, facts, grants, is_there).Plan();
}

}  // namespace local::node
