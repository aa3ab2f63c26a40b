#include "arena/submit/dry_run.h"

#include <fmt/format.h>

#include "arena/jobs/owned_names.h"
#include "arena/submit/job/render_parts.h"
#include "base/log.h"
#include "text/yaml.h"

namespace arena {

std::vector<text::Json> VisibleObjects(const SubmitOptions& options, const Submission& submission) {
  std::vector<text::Json> objects = RenderConfigMaps(options, submission);
  objects.push_back(RenderJob(options, submission));
  objects.push_back(RenderIdentity(options, submission));
  for (auto& object : {RenderTensorboardService(options, submission),
                       RenderTensorboardDeployment(options, submission)}) {
    if (object) objects.push_back(*object);
  }
  return objects;
}

base::Status PrintObjects(const SubmitOptions& options, const std::vector<text::Json>& objects,
                          cli::Output& out) {
  if (!options.code_secrets.empty()) {
    base::LogWarn("the Secret {} is not shown: it holds a password or key",
                  CodeSecretName(options));
  }
  if (!options.callers_env.empty()) {
    base::LogWarn("the Secret {} is not shown: it holds your environment ({} variables)",
                  EnvironmentSecretName(options), options.callers_env.size());
  }
  if (!options.code_archive.empty()) {
    base::LogInfo("not shown: the folder's {} KiB, in {} ConfigMaps",
                  options.code_archive.size() >> 10, CodePartNames(options).size());
  }
  if (options.flags.output == "json") {
    text::Array items;
    for (const text::Json& object : objects) items.push_back(object);
    const text::Json list =
        text::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
    return out.Write(text::ToPrettyJson(list) + "\n");
  }
  std::string yaml;
  for (const text::Json& object : objects) {
    if (!yaml.empty()) yaml += "---\n";
    yaml += text::ToYaml(object);
  }
  return out.Write(yaml);
}

WouldBe WouldBeOf(const SubmitOptions& options) {
  WouldBe job;
  job.gpus = options.flags.gpus;
  job.nodes = options.flags.workers;
  job.command = options.command;
  job.priority = options.flags.priority;
  job.deadline =
      std::chrono::duration_cast<std::chrono::seconds>(options.flags.running_timeout).count();
  return job;
}

std::string CreatedLines(const SubmitOptions& options, std::string_view suffix) {
  const std::string& name = options.flags.name;
  std::string lines;
  const auto created = [&](std::string_view kind, std::string_view of) {
    lines += fmt::format("{}/{} created{}\n", kind, of, suffix);
  };
  created("configmap", IdentityName(name));
  if (suffix.empty()) lines += fmt::format("configmap/{} labeled\n", IdentityName(name));
  for (const text::Json& map : RenderConfigMaps(options, Submission())) {
    created("configmap", text::GetString(map, {"metadata", "name"}));
  }
  for (const std::string& part : CodePartNames(options)) created("configmap", part);
  if (!options.code_secrets.empty()) created("secret", CodeSecretName(options));
  if (!options.callers_env.empty()) created("secret", EnvironmentSecretName(options));
  if (options.flags.tensorboard) {
    created("service", TensorboardName(name));
    created("deployment.apps", TensorboardName(name));
  }
  created("pytorchjob.kubeflow.org", name);
  return lines;
}

}  // namespace arena
