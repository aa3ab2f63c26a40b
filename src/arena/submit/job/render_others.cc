// What goes with the job: compat/arena.md 3.3 and 3.4, and the Secret that is ours.
#include <fmt/format.h>

#include "api/resources.h"
#include "arena/app/ownership.h"
#include "arena/jobs/owned_names.h"
#include "arena/jobs/tensorboard.h"
#include "arena/submit/job/render_parts.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "text/yaml.h"

namespace arena {
namespace {

using text::Array;
using text::Object;

constexpr std::string_view kTensorboardImage =
    "registry.cn-zhangjiakou.aliyuncs.com/acs/tensorflow:1.12.0-devel";

Object TensorboardLabels(const SubmitOptions& options) {
  Object labels = ChartLabels(options);
  labels["role"] = "tensorboard";
  return labels;
}

// With the labels that an operator gives to a job's services. Its pods must not have them: Arena
// would count TensorBoard among the instances.
Object TensorboardServiceLabels(const SubmitOptions& options) {
  const std::string& name = options.flags.name;
  Object labels = TensorboardLabels(options);
  labels["controller-name"] = "pytorch-operator";
  labels["group-name"] = "kubeflow.org";
  labels["job-name"] = name;
  labels["pytorch-job-name"] = name;
  return labels;
}

Object TensorboardSelector(const SubmitOptions& options) {
  return {{"app", "pytorchjob"},
          {"chart", fmt::format("pytorchjob-{}", kChartVersion)},
          {"release", options.flags.name},
          {"role", "tensorboard"}};
}

// On the master's node, where the event files are or may be on that node; otherwise anywhere, but
// preferably there.
Object NearMaster(const SubmitOptions& options) {
  const Object term{
      {"labelSelector",
       Object{{"matchLabels", Object{{"master-pod-name", options.flags.name + "-master-0"}}}}},
      {"topologyKey", "kubernetes.io/hostname"}};
  if (HasLocalLogs(options) || !options.data_dirs.empty()) {
    return {
        {"podAffinity", Object{{"requiredDuringSchedulingIgnoredDuringExecution", Array{term}}}}};
  }
  return {{"podAffinity", Object{{"preferredDuringSchedulingIgnoredDuringExecution",
                                  Array{Object{{"weight", 100}, {"podAffinityTerm", term}}}}}}};
}

Object TensorboardPodSpec(const SubmitOptions& options, const Submission& submission) {
  const SubmitFlags& flags = options.flags;
  const bool is_local = HasLocalLogs(options);
  const std::string logdir = is_local ? std::string(kLocalLogsMount) : flags.logdir;
  Array mounts;
  Array volumes;
  if (is_local) {
    mounts.push_back(Object{{"name", kLogsVolume}, {"mountPath", kLocalLogsMount}});
    volumes.push_back(
        Object{{"name", kLogsVolume}, {"hostPath", Object{{"path", submission.log_host_dir}}}});
  } else {
    for (size_t i = 0; i < options.data.size(); ++i) {
      const DataMount& data = options.data[i];
      mounts.push_back(VolumeMount(ClaimVolume(options, i), data.path, data.read_only));
      volumes.push_back(Object{{"name", ClaimVolume(options, i)},
                               {"persistentVolumeClaim", Object{{"claimName", data.claim}}}});
    }
    for (size_t i = 0; i < options.data_dirs.size(); ++i) {
      const HostDir& dir = options.data_dirs[i];
      const std::string name = fmt::format("{}{}", kHostDirVolume, i);
      mounts.push_back(VolumeMount(name, dir.container_path, dir.read_only));
      volumes.push_back(Object{{"name", name}, {"hostPath", Object{{"path", dir.host_path}}}});
    }
  }
  Object container{{"name", "tensorboard"},
                   {"image", flags.tensorboard_image.empty() ? std::string(kTensorboardImage)
                                                             : flags.tensorboard_image},
                   {"imagePullPolicy", flags.image_pull_policy},
                   {"command", Array{"tensorboard", "--logdir", logdir, "--host", "0.0.0.0"}},
                   {"ports", Array{Object{{"containerPort", kTensorboardPort}}}}};
  Object spec;
  if (!flags.priority.empty()) spec["priorityClassName"] = flags.priority;
  if (!options.tolerations.empty()) spec["tolerations"] = Tolerations(options);
  if (!flags.image_pull_secrets.empty()) spec["imagePullSecrets"] = ImagePullSecrets(options);
  spec["affinity"] = NearMaster(options);
  if (!mounts.empty()) container["volumeMounts"] = std::move(mounts);
  spec["containers"] = Array{std::move(container)};
  if (!volumes.empty()) spec["volumes"] = std::move(volumes);
  return spec;
}

Array ToArray(const std::vector<std::string>& values) {
  Array array;
  for (const std::string& value : values) array.push_back(text::Json(value));
  return array;
}

// The arguments as Arena stores them beside the job, without what is empty. No secret is in them.
Object Values(const SubmitOptions& options, const Submission& submission) {
  const SubmitFlags& flags = options.flags;
  Object values;
  const auto put = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) values[key] = value;
  };
  put("name", flags.name);
  put("command", options.command);
  put("image", submission.image);
  put("workerImage", flags.worker_image);
  put("workingDir", flags.working_dir);
  put("shell", flags.shell);
  put("syncMode", flags.sync_mode);
  put("syncSource", flags.sync_source);
  put("syncImage", flags.sync_image);
  put("cpu", flags.cpu);
  put("memory", flags.memory);
  put("shareMemory", flags.share_memory);
  put("priorityClassName", flags.priority);
  put("schedulerName", flags.scheduler);
  put("cleanPodPolicy", flags.clean_task_policy);
  put("nprocPerNode", flags.nproc_per_node);
  values["workers"] = flags.workers;
  values["gpuCount"] = flags.gpus;
  values["retry"] = flags.retry;
  values["useTensorboard"] = flags.tensorboard;
  put("trainingLogdir", flags.logdir);
  // The environment is left out: it often holds secrets, which should not appear in a second place.
  if (!flags.data.empty()) values["data"] = ToArray(flags.data);
  if (!flags.data_dirs.empty()) values["dataDirs"] = ToArray(flags.data_dirs);
  if (!options.labels.empty()) values["labels"] = ToObject(options.labels);
  if (!options.annotations.empty()) values["annotations"] = ToObject(options.annotations);
  if (!options.selectors.empty()) values["nodeSelectors"] = ToObject(options.selectors);
  return values;
}

}  // namespace

std::string CodeSecretName(const SubmitOptions& options) {
  return fmt::format("{}-{}", options.flags.name,
                     options.flags.sync_mode == "rsync" ? "rsync" : "git-sync");
}

std::vector<text::Json> RenderConfigMaps(const SubmitOptions& options,
                                         const Submission& submission) {
  std::vector<text::Json> maps;
  for (const ConfigDirectory& directory : ConfigDirectories(options)) {
    text::Json map =
        NewObject("v1", "ConfigMap", directory.config_map, submission, ChartLabels(options));
    Object data;
    Object binary_data;
    for (const ConfigFile* file : directory.files) {
      const std::string key = file->container_path.substr(file->container_path.rfind('/') + 1);
      if (base::IsUtf8(file->content)) {
        data[key] = file->content;
      } else {
        binary_data[key] = base::Base64Encode(file->content);
      }
    }
    if (!data.empty()) map.as_object()["data"] = std::move(data);
    if (!binary_data.empty()) map.as_object()["binaryData"] = std::move(binary_data);
    maps.push_back(std::move(map));
  }
  return maps;
}

std::optional<text::Json> RenderTensorboardService(const SubmitOptions& options,
                                                   const Submission& submission) {
  if (!options.flags.tensorboard) return std::nullopt;
  text::Json service = NewObject("v1", "Service", TensorboardName(options.flags.name), submission,
                                 TensorboardServiceLabels(options));
  service.as_object()["spec"] = Object{{"type", "NodePort"},
                                       {"ports", Array{Object{{"port", kTensorboardPort},
                                                              {"targetPort", kTensorboardPort},
                                                              {"name", "tensorboard"}}}},
                                       {"selector", TensorboardSelector(options)}};
  return service;
}

std::optional<text::Json> RenderTensorboardDeployment(const SubmitOptions& options,
                                                      const Submission& submission) {
  if (!options.flags.tensorboard) return std::nullopt;
  text::Json deployment = NewObject("apps/v1", "Deployment", TensorboardName(options.flags.name),
                                    submission, TensorboardLabels(options));
  deployment.as_object()["spec"] =
      Object{{"replicas", 1},
             {"selector", Object{{"matchLabels", TensorboardSelector(options)}}},
             {"template", Object{{"metadata", Object{{"labels", TensorboardSelector(options)}}},
                                 {"spec", TensorboardPodSpec(options, submission)}}}};
  return deployment;
}

std::optional<text::Json> RenderCodeSecret(const SubmitOptions& options,
                                           const Submission& submission) {
  const CodeSecrets& secrets = options.code_secrets;
  if (secrets.empty()) return std::nullopt;
  text::Json secret =
      NewObject("v1", "Secret", CodeSecretName(options), submission, ChartLabels(options));
  secret.as_object()["type"] = "Opaque";
  Object data;
  if (secrets.password) data[kPasswordKey] = base::Base64Encode(*secrets.password);
  if (secrets.ssh_key) data[kSshKeyFile] = base::Base64Encode(*secrets.ssh_key);
  if (secrets.known_hosts) data[kKnownHostsFile] = base::Base64Encode(*secrets.known_hosts);
  secret.as_object()["data"] = std::move(data);
  return secret;
}

std::optional<text::Json> RenderEnvironmentSecret(const SubmitOptions& options,
                                                  const Submission& submission) {
  if (!options.HasEnvironmentSecret()) return std::nullopt;
  text::Json secret = NewObject("v1", "Secret", EnvironmentSecretName(options.flags.name),
                                submission, ChartLabels(options));
  secret.as_object()["type"] = "Opaque";
  Object data;
  for (const auto& [name, value] : options.callers_env) data[name] = base::Base64Encode(value);
  for (const auto& [name, value] : options.private_env) data[name] = base::Base64Encode(value);
  secret.as_object()["data"] = std::move(data);
  return secret;
}

std::vector<text::Json> RenderCodeParts(const SubmitOptions& options,
                                        const Submission& submission) {
  std::vector<text::Json> parts;
  for (const std::string& name : CodePartNames(options)) {
    const std::string_view bytes = std::string_view(options.code_archive)
                                       .substr(parts.size() * kCodePartBytes, kCodePartBytes);
    text::Json part = NewObject("v1", "ConfigMap", name, submission, ChartLabels(options));
    part.as_object()["binaryData"] = Object{{"part", base::Base64Encode(bytes)}};
    parts.push_back(std::move(part));
  }
  return parts;
}

text::Json RenderIdentity(const SubmitOptions& options, const Submission& submission) {
  Object labels{{"createdBy", "arena"}};
  if (submission.isolates_users) labels[kUserLabel] = base::Md5Hex(submission.user);
  text::Json map =
      NewObject("v1", "ConfigMap", IdentityName(options.flags.name), submission, std::move(labels));
  std::string app;
  for (const ConfigDirectory& directory : ConfigDirectories(options)) {
    app += fmt::format("configmap/{}\n", directory.config_map);
  }
  if (!options.code_secrets.empty()) {
    app += fmt::format("secret/{}\n", CodeSecretName(options));
  }
  for (const std::string& name : CodePartNames(options)) {
    app += fmt::format("configmap/{}\n", name);
  }
  if (options.HasEnvironmentSecret()) {
    app += fmt::format("secret/{}\n", EnvironmentSecretName(options.flags.name));
  }
  if (options.flags.tensorboard) {
    const std::string name = TensorboardName(options.flags.name);
    app += fmt::format("service/{}\ndeployment.apps/{}\n", name, name);
  }
  app += fmt::format("pytorchjob.kubeflow.org/{}", options.flags.name);
  map.as_object()["data"] = Object{{"pytorchjob", kChartVersion},
                                   {"values", text::ToYaml(Values(options, submission))},
                                   {"app", app}};
  return map;
}

}  // namespace arena
