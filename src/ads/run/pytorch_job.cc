#include "ads/run/pytorch_job.h"

#include "api/names.h"
#include "api/variable_references.h"
#include "base/strings.h"

namespace ads {
namespace {

constexpr const char* kContainerName = "pytorch";
constexpr size_t kMaxObjectName = 40;  // pods and services append to it, up to 63

text::Array ContainerEnv(const RunRequest& request, const PyTorchJobOptions& options,
                         const JobRunSpec& run) {
  OrderedEnv env = SubstituteEnv(request.job.env);
  env.Set("JOB_OCID", options.name);
  env.SetAll(options.extra_env);
  env.SetAll(run.env);
  text::Array list;
  for (const auto& [name, value] : env) {
    if (name == "RANK") continue;
    list.push_back(text::Object{{"name", name}, {"value", api::EscapeReferences(value)}});
  }
  const text::Object pod_name{{"fieldRef", text::Object{{"fieldPath", "metadata.name"}}}};
  list.push_back(text::Object{{"name", "JOB_RUN_OCID"}, {"valueFrom", pod_name}});
  return list;
}

text::Json Replica(const RunRequest& request, const PyTorchJobOptions& options,
                   const JobRunSpec& run, int64_t replicas) {
  text::Object container{{"name", kContainerName},
                         {"image", options.image},
                         {"env", ContainerEnv(request, options, run)}};
  if (!options.command.empty()) {
    container["command"] = text::Array(options.command.begin(), options.command.end());
  }
  if (options.gpus_per_node > 0) {
    container["resources"] = text::Object{
        {"limits",
         text::Object{{std::string(api::kGpuResource), std::to_string(options.gpus_per_node)}}}};
  }
  const text::Object labels{{"app", "pytorchjob"}, {"release", options.name}};
  return text::Object{
      {"replicas", replicas},
      {"restartPolicy", "Never"},
      {"template",
       text::Object{{"metadata", text::Object{{"labels", labels}}},
                    {"spec", text::Object{{"containers", text::Array{std::move(container)}}}}}}};
}

}  // namespace

text::Json RenderPyTorchJob(const RunRequest& request, const PyTorchJobOptions& options) {
  const JobSpec& job = request.job;
  text::Object replicas{{"Master", Replica(request, options, job.runs.front(), 1)}};
  if (request.config.worker && job.runs.size() > 1) {
    replicas["Worker"] = Replica(request, options, job.runs[1], request.config.worker->replicas);
  }
  const text::Object labels{
      {"app", "pytorchjob"}, {"release", options.name}, {"createdBy", "PyTorchJob"}};
  return text::Object{{"apiVersion", "kubeflow.org/v1"},
                      {"kind", "PyTorchJob"},
                      {"metadata", text::Object{{"name", options.name},
                                                {"namespace", options.namespace_name},
                                                {"labels", labels}}},
                      {"spec", text::Object{{"runPolicy", text::Object{{"cleanPodPolicy", "None"}}},
                                            {"pytorchReplicaSpecs", std::move(replicas)}}}};
}

std::string ObjectName(const std::string& name, const std::string& suffix) {
  std::string out;
  for (const char c : base::ToLower(name)) {
    const bool is_plain = base::IsDigit(c) || (c >= 'a' && c <= 'z');
    if (is_plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
    if (out.size() + suffix.size() + 1 >= kMaxObjectName) break;
  }
  while (out.ends_with('-')) out.pop_back();
  // A service gets this name, which has to begin with a letter.
  if (out.empty() || base::IsDigit(out[0])) out = "job-" + out;
  while (out.ends_with('-')) out.pop_back();
  return suffix.empty() ? out : out + "-" + suffix;
}

int64_t GpusOfShape(std::string_view shape) {
  const std::string upper = base::ToUpper(shape);
  if (upper.find("GPU") == std::string::npos) return 0;
  return base::ParseInt(std::string_view(upper).substr(upper.rfind('.') + 1)).value_or(1);
}

}  // namespace ads
