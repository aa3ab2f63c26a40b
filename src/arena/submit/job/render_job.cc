// The PyTorchJob itself: compat/arena.md 3.1 and 3.2.
#include <fmt/format.h>

#include "api/names.h"
#include "api/variable_references.h"
#include "arena/app/ownership.h"
#include "arena/jobs/owned_names.h"
#include "arena/jobs/tensorboard.h"
#include "arena/submit/job/render_parts.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr std::string_view kGitImage = "registry.cn-zhangjiakou.aliyuncs.com/acs/git-sync:v3.3.5";
constexpr std::string_view kRsyncImage =
    "registry.cn-zhangjiakou.aliyuncs.com/acs/rsync:v3.1.0-aliyun";

using text::Array;
using text::Object;

int64_t Seconds(std::chrono::nanoseconds value) {
  return std::chrono::duration_cast<std::chrono::seconds>(value).count();
}

text::Json SecretEntry(std::string_view name, std::string_view secret, std::string_view key) {
  const Object reference{{"name", secret}, {"key", key}};
  return Object{{"name", name}, {"valueFrom", Object{{"secretKeyRef", reference}}}};
}

text::Json EnvEntry(const std::string& name, const std::string& value) {
  return Object{{"name", name}, {"value", api::EscapeReferences(value)}};
}

// Builds one job; its parts refer to the same options throughout.
class JobRenderer {
 public:
  JobRenderer(const SubmitOptions& options, const Submission& submission)
      : options_(options), flags_(options.flags), submission_(submission) {}

  text::Json Render() const;

 private:
  Object Labels() const;
  Object Annotations() const;
  Object RunPolicy() const;
  text::Json Replica(std::string_view type) const;
  Object PodSpec(std::string_view type) const;
  void KeepLastLines(Object& container) const;
  const std::string& ImageOf(std::string_view type) const;
  Object Unpacker(std::string_view type) const;
  Object Container(std::string_view type) const;
  Object InitContainer() const;
  Object Resources() const;
  Object CpuAndMemory() const;
  Array Env(bool for_code) const;
  void AddCodeEnv(std::map<std::string, text::Json>& entries) const;
  Array EnvFrom() const;
  text::Json ElasticPolicy() const;
  Array Volumes() const;
  Array Mounts() const;

  const SubmitOptions& options_;
  const SubmitFlags& flags_;
  const Submission& submission_;
};

Object JobRenderer::Labels() const {
  Object labels = ChartLabels(options_);
  labels[kUserLabel] = base::Md5Hex(submission_.user);
  for (const auto& [key, value] : options_.labels) labels[key] = value;
  if (!flags_.model_name.empty()) labels["modelName"] = flags_.model_name;
  return labels;
}

Object JobRenderer::Annotations() const {
  Object annotations{{kUserAnnotation, submission_.user},
                     {api::kRequestGpusAnnotation, std::to_string(flags_.workers * flags_.gpus)}};
  if (flags_.queue) annotations["scheduling.x-k8s.io/suspend"] = "true";
  for (const auto& [key, value] : options_.annotations) annotations[key] = value;
  return annotations;
}

Object JobRenderer::RunPolicy() const {
  Object policy{{"cleanPodPolicy", flags_.clean_task_policy}};
  if (const int64_t deadline = Seconds(flags_.running_timeout); deadline > 0) {
    policy["activeDeadlineSeconds"] = deadline;
  }
  if (const int64_t ttl = Seconds(flags_.ttl_after_finished); ttl > 0) {
    policy["ttlSecondsAfterFinished"] = ttl;
  }
  policy["backoffLimit"] = flags_.retry;
  if (!submission_.awaited.empty()) policy["suspend"] = true;
  return policy;
}

// torchrun's own rendezvous between the workers; compat/pytorchjob.md 2.3.
text::Json JobRenderer::ElasticPolicy() const {
  Object policy{{"minReplicas", options_.elastic->min},
                {"maxReplicas", options_.elastic->max},
                {"rdzvBackend", "c10d"}};
  if (flags_.retry > 0) policy["maxRestarts"] = flags_.retry;
  // torchrun takes these from its environment, where the operator puts the values of the policy.
  const auto take = [&](const char* variable) {
    const auto it = options_.env.find(variable);
    return it == options_.env.end() ? std::string() : it->second;
  };
  if (const auto restarts = base::ParseInt(take("PET_MAX_RESTARTS"))) {
    policy["maxRestarts"] = *restarts;
  }
  if (std::string backend = take("PET_RDZV_BACKEND"); !backend.empty()) {
    policy["rdzvBackend"] = std::move(backend);
  }
  if (std::string id = take("PET_RDZV_ID"); !id.empty()) policy["rdzvId"] = std::move(id);
  return policy;
}

Object JobRenderer::CpuAndMemory() const {
  Object amounts;
  if (!flags_.cpu.empty()) amounts["cpu"] = flags_.cpu;
  if (!flags_.memory.empty()) amounts["memory"] = flags_.memory;
  return amounts.empty() ? Object{} : Object{{"requests", amounts}, {"limits", amounts}};
}

Object JobRenderer::Resources() const {
  Object amounts;
  if (flags_.gpus > 0) amounts[api::kGpuResource] = std::to_string(flags_.gpus);
  for (const auto& [name, quantity] : options_.devices) amounts[name] = quantity;
  if (!flags_.cpu.empty()) amounts["cpu"] = flags_.cpu;
  if (!flags_.memory.empty()) amounts["memory"] = flags_.memory;
  if (flags_.rdma) amounts["rdma/hca"] = "1";
  return amounts.empty() ? Object{} : Object{{"requests", amounts}, {"limits", amounts}};
}

// Sorted by name, the same for both roles; the container that fetches the code gets more.
Array JobRenderer::Env(bool for_code) const {
  std::map<std::string, text::Json> entries;
  const auto put = [&](const std::string& name, const std::string& value) {
    entries[name] = EnvEntry(name, value);
  };
  for (const auto& [name, value] : options_.env) put(name, value);
  for (const auto& [name, value] : options_.private_env) {
    entries[name] = SecretEntry(name, EnvironmentSecretName(flags_.name), name);
  }
  for (const SecretEnv& variable : options_.secret_env) {
    if (variable.name.empty() || (!for_code && IsPasswordOfCode(options_, variable.name))) continue;
    entries[variable.name] = SecretEntry(variable.name, variable.secret, variable.key);
  }
  put("workers", std::to_string(flags_.workers));
  put("gpus", std::to_string(flags_.gpus));
  bool is_shared_gpu = options_.labels.contains("aliyun.com/gpu-count");
  for (const auto& [name, quantity] : options_.devices) {
    is_shared_gpu = is_shared_gpu || name == "aliyun.com/gpu-mem";
  }
  if (flags_.gpus == 0 && !is_shared_gpu) put("NVIDIA_VISIBLE_DEVICES", "void");
  if (flags_.grace > 0) put("MUSTER_GRACE", std::to_string(flags_.grace));
  if (flags_.rdma) put("MASTER_ADDR", ChiefName(options_));
  if (!flags_.nproc_per_node.empty()) put("PET_NPROC_PER_NODE", flags_.nproc_per_node);
  if (for_code) AddCodeEnv(entries);
  Array env;
  for (auto& [name, entry] : entries) env.push_back(std::move(entry));
  return env;
}

void JobRenderer::AddCodeEnv(std::map<std::string, text::Json>& entries) const {
  const auto put = [&](const std::string& name, const std::string& value) {
    entries[name] = EnvEntry(name, value);
  };
  for (const auto& [name, value] : options_.code_env) put(name, value);
  if (flags_.sync_mode == "git") {
    put("GIT_SYNC_REPO", flags_.sync_source);
    put("GIT_SYNC_DEST", GitProject(flags_.sync_source));
    put("GIT_SYNC_ROOT", "/code");
    put("GIT_SYNC_ONE_TIME", "true");
  }
  if (options_.code_secrets.password) {
    const std::string name(PasswordVariable(options_));
    entries[name] = SecretEntry(name, CodeSecretName(options_), kPasswordKey);
  }
}

Array JobRenderer::EnvFrom() const {
  Array sources;
  const auto add = [&](const std::string& secret) {
    sources.push_back(Object{{"secretRef", Object{{"name", secret}}}});
  };
  if (!options_.callers_env.empty()) add(EnvironmentSecretName(flags_.name));
  for (const SecretEnv& variable : options_.secret_env) {
    if (variable.name.empty()) add(variable.secret);
  }
  return sources;
}

Array JobRenderer::Volumes() const {
  Array volumes;
  for (const ConfigDirectory& directory : ConfigDirectories(options_)) {
    volumes.push_back(
        Object{{"name", directory.volume}, {"configMap", Object{{"name", directory.config_map}}}});
  }
  if (HasLocalLogs(options_)) {
    volumes.push_back(
        Object{{"name", kLogsVolume}, {"hostPath", Object{{"path", submission_.log_host_dir}}}});
  }
  if (options_.FetchesCode()) {
    volumes.push_back(Object{{"name", kCodeVolume}, {"emptyDir", Object{}}});
  }
  if (!options_.code_archive.empty()) {
    Array parts;
    for (const std::string& name : CodePartNames(options_)) {
      const Object item{{"key", "part"}, {"path", fmt::format("{:03}", parts.size())}};
      parts.push_back(Object{{"configMap", Object{{"name", name}, {"items", Array{item}}}}});
    }
    volumes.push_back(
        Object{{"name", kArchiveVolume}, {"projected", Object{{"sources", std::move(parts)}}}});
    volumes.push_back(Object{{"name", kUnpackedVolume}, {"emptyDir", Object{}}});
  }
  if (HasCodeFiles(options_)) volumes.push_back(CodeFilesVolume(options_));
  for (size_t i = 0; i < options_.data.size(); ++i) {
    volumes.push_back(
        Object{{"name", ClaimVolume(options_, i)},
               {"persistentVolumeClaim", Object{{"claimName", options_.data[i].claim}}}});
  }
  for (size_t i = 0; i < options_.claim_folders.size(); ++i) {
    volumes.push_back(
        Object{{"name", fmt::format("{}{}", kClaimFolderVolume, i)},
               {"persistentVolumeClaim", Object{{"claimName", options_.claim_folders[i].claim}}}});
  }
  for (size_t i = 0; i < options_.data_dirs.size(); ++i) {
    volumes.push_back(Object{{"name", fmt::format("{}{}", kHostDirVolume, i)},
                             {"hostPath", Object{{"path", options_.data_dirs[i].host_path}}}});
  }
  if (!flags_.share_memory.empty()) {
    volumes.push_back(
        Object{{"name", kSharedMemoryVolume},
               {"emptyDir", Object{{"medium", "Memory"}, {"sizeLimit", flags_.share_memory}}}});
  }
  return volumes;
}

Array JobRenderer::Mounts() const {
  Array mounts;
  const auto mount = [&](std::string_view name, std::string_view path, bool read_only = false) {
    mounts.push_back(VolumeMount(name, path, read_only));
  };
  for (const ConfigDirectory& directory : ConfigDirectories(options_)) {
    mount(directory.volume, directory.path);
  }
  if (HasLocalLogs(options_)) mount(kLogsVolume, flags_.logdir);
  if (options_.FetchesCode()) {
    const std::string& dir = flags_.working_dir;
    mount(kCodeVolume, dir.ends_with('/') ? dir + "code" : dir + "/code");
  }
  if (!options_.code_archive.empty()) mount(kUnpackedVolume, options_.code_folder);
  for (size_t i = 0; i < options_.data.size(); ++i) {
    mount(ClaimVolume(options_, i), options_.data[i].path, options_.data[i].read_only);
  }
  for (size_t i = 0; i < options_.claim_folders.size(); ++i) {
    const ClaimFolder& folder = options_.claim_folders[i];
    mount(fmt::format("{}{}", kClaimFolderVolume, i), folder.path, folder.read_only);
    mounts.back().as_object()["subPath"] = folder.folder;
  }
  if (!flags_.share_memory.empty()) mount(kSharedMemoryVolume, "/dev/shm");
  for (size_t i = 0; i < options_.data_dirs.size(); ++i) {
    const HostDir& dir = options_.data_dirs[i];
    mount(fmt::format("{}{}", kHostDirVolume, i), dir.container_path, dir.read_only);
  }
  return mounts;
}

void JobRenderer::KeepLastLines(Object& container) const {
  if (submission_.keeps_last_lines) container["terminationMessagePolicy"] = "FallbackToLogsOnError";
}

Object JobRenderer::InitContainer() const {
  const bool is_git = flags_.sync_mode == "git";
  const std::string image = !flags_.sync_image.empty()
                                ? flags_.sync_image
                                : std::string(is_git ? kGitImage : kRsyncImage);
  Object container{{"name", api::kArenaCodeContainer},
                   {"image", image},
                   {"imagePullPolicy", flags_.image_pull_policy}};
  if (!is_git)
    container["command"] =
        Array{"rsync", "-avP", api::EscapeReferences(flags_.sync_source), "/code"};
  if (Object resources = CpuAndMemory(); !resources.empty()) container["resources"] = resources;
  if (Array sources = EnvFrom(); !sources.empty()) container["envFrom"] = std::move(sources);
  container["env"] = Env(true);
  Array mounts{VolumeMount(kCodeVolume, "/code", false)};
  if (HasCodeFiles(options_)) {
    mounts.push_back(VolumeMount(kCodeFilesVolume, kCodeFilesDirectory, true));
  }
  container["volumeMounts"] = std::move(mounts);
  KeepLastLines(container);
  return container;
}

const std::string& JobRenderer::ImageOf(std::string_view type) const {
  const std::string& own = type == api::kWorker ? flags_.worker_image : flags_.master_image;
  return own.empty() ? submission_.image : own;
}

// Uses only what every image with a shell has. A pod that is made anew finds the archive again.
Object JobRenderer::Unpacker(std::string_view type) const {
  constexpr std::string_view kArchive = "/muster/archive";
  Object container{{"name", "unpack-code"},
                   {"image", ImageOf(type)},
                   {"imagePullPolicy", flags_.image_pull_policy},
                   {"command", Array{"sh", "-c",
                                     fmt::format("cat {}/* | gzip -dc | tar -xof - -C {}", kArchive,
                                                 kCodeFolder)}},
                   {"volumeMounts", Array{VolumeMount(kArchiveVolume, kArchive, true),
                                          VolumeMount(kUnpackedVolume, kCodeFolder, false)}}};
  if (Object resources = CpuAndMemory(); !resources.empty()) container["resources"] = resources;
  KeepLastLines(container);
  return container;
}

Object JobRenderer::Container(std::string_view type) const {
  Object container{{"name", api::kContainerName},
                   {"image", ImageOf(type)},
                   {"imagePullPolicy", flags_.image_pull_policy},
                   {"workingDir", flags_.working_dir},
                   {"command", Array{flags_.shell, "-c", api::EscapeReferences(options_.command)}}};
  if (Object resources = Resources(); !resources.empty()) container["resources"] = resources;
  if (Array sources = EnvFrom(); !sources.empty()) container["envFrom"] = std::move(sources);
  container["env"] = Env(false);
  if (flags_.rdma) {
    container["securityContext"] = Object{{"capabilities", Object{{"add", Array{"IPC_LOCK"}}}}};
  }
  if (Array mounts = Mounts(); !mounts.empty()) container["volumeMounts"] = mounts;
  KeepLastLines(container);
  return container;
}

Object JobRenderer::PodSpec(std::string_view type) const {
  Object spec;
  if (!options_.selectors.empty()) spec["nodeSelector"] = ToObject(options_.selectors);
  if (!options_.tolerations.empty()) spec["tolerations"] = Tolerations(options_);
  if (!flags_.scheduler.empty()) spec["schedulerName"] = flags_.scheduler;
  if (!flags_.priority.empty()) spec["priorityClassName"] = flags_.priority;
  const auto eni = options_.annotations.find("k8s.aliyun.com/eni");
  if (flags_.host_network && (eni == options_.annotations.end() || eni->second != "true")) {
    spec["hostNetwork"] = true;
    spec["dnsPolicy"] = "ClusterFirstWithHostNet";
  }
  if (flags_.grace > 0) spec["terminationGracePeriodSeconds"] = flags_.grace;
  if (flags_.host_pid) spec["hostPID"] = true;
  if (flags_.host_ipc) spec["hostIPC"] = true;
  if (!flags_.image_pull_secrets.empty()) spec["imagePullSecrets"] = ImagePullSecrets(options_);
  Array init_containers;
  if (options_.FetchesCode()) init_containers.push_back(InitContainer());
  if (!options_.code_archive.empty()) init_containers.push_back(Unpacker(type));
  if (!init_containers.empty()) spec["initContainers"] = std::move(init_containers);
  spec["containers"] = Array{Container(type)};
  if (Array volumes = Volumes(); !volumes.empty()) spec["volumes"] = volumes;
  return spec;
}

text::Json JobRenderer::Replica(std::string_view type) const {
  const bool is_master = type == api::kMaster;
  const bool is_elastic = options_.elastic.has_value();
  Object labels = Labels();
  // The TensorBoard is placed beside this pod: any worker where there is no master.
  if (is_master || is_elastic) labels["master-pod-name"] = flags_.name + "-master-0";
  if (flags_.gang) {
    labels["pod-group.scheduling.sigs.k8s.io/name"] = "pytorchjob-" + flags_.name;
    labels["pod-group.scheduling.sigs.k8s.io/min-available"] =
        std::to_string(is_elastic ? options_.elastic->min : flags_.workers);
  }
  Object annotations = Annotations();
  if (!submission_.shared_logdir.empty()) {
    annotations[api::kLogdirAnnotation] = submission_.shared_logdir;
  }
  std::string restart_policy = flags_.restart_policy;
  if (restart_policy.empty()) restart_policy = is_master ? "Never" : "OnFailure";
  return Object{{"replicas", is_master ? 1 : flags_.workers - (is_elastic ? 0 : 1)},
                {"restartPolicy", restart_policy},
                {"template", Object{{"metadata", Object{{"name", flags_.name},
                                                        {"labels", std::move(labels)},
                                                        {"annotations", std::move(annotations)}}},
                                    {"spec", PodSpec(type)}}}};
}

text::Json JobRenderer::Render() const {
  text::Json job = NewObject("kubeflow.org/v1", "PyTorchJob", flags_.name, submission_, Labels());
  Object annotations = Annotations();
  // Replaced pods count towards --retry only in a scope.
  if (flags_.retry > 0 && flags_.restart_policy == "ExitCode" &&
      !annotations.contains(api::kRestartScopeAnnotation)) {
    annotations[api::kRestartScopeAnnotation] = "pod";
  }
  if (!submission_.awaited.empty()) {
    annotations[api::kWaitForAnnotation] = api::WriteAwaited(submission_.awaited);
  }
  job.as_object()["metadata"].as_object()["annotations"] = std::move(annotations);
  Object replicas;
  if (!options_.elastic) replicas[api::kMaster] = Replica(api::kMaster);
  if (options_.elastic || flags_.workers > 1) replicas[api::kWorker] = Replica(api::kWorker);
  Object spec;
  if (submission_.has_run_policy) {
    spec["runPolicy"] = RunPolicy();
  } else {
    spec = RunPolicy();
  }
  if (options_.elastic) spec["elasticPolicy"] = ElasticPolicy();
  // Arena leaves the field to the operator, whose own default is auto.
  if (!flags_.nproc_per_node.empty() && flags_.nproc_per_node != "auto") {
    spec["nprocPerNode"] = flags_.nproc_per_node;
  }
  spec["pytorchReplicaSpecs"] = std::move(replicas);
  job.as_object()["spec"] = std::move(spec);
  return job;
}

}  // namespace

text::Json RenderJob(const SubmitOptions& options, const Submission& submission) {
  return JobRenderer(options, submission).Render();
}

}  // namespace arena
