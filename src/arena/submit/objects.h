// The Kubernetes objects of a submitted job (compat/arena.md 3). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/job/wait_for.h"
#include "arena/submit/options.h"
#include "text/json.h"

namespace arena {

// The version of Arena's chart whose objects these are; on labels and in the identity ConfigMap.
inline constexpr std::string_view kChartVersion = "0.5.2";

// On a job: who submitted it.
inline constexpr std::string_view kUserAnnotation = "arena.kubeflow.org/username";

// Who submits, where to.
struct Submission {
  std::string namespace_name;
  std::string user;
  std::string image;           // of every replica without one of its own
  std::string log_host_dir;    // host path for TensorBoard's events when --logdir is on no claim
  bool has_run_policy = true;  // false: the old operator's CRD, which has its fields in spec
  std::vector<api::AwaitedJob> awaited{};  // that have to succeed before the job starts
  // Containers say in their status what they said last when they fail; Arena's chart is silent.
  bool keeps_last_lines = false;
};

text::Json RenderJob(const SubmitOptions& options, const Submission& submission);
// One per directory that --config-file's files go to.
std::vector<text::Json> RenderConfigMaps(const SubmitOptions& options,
                                         const Submission& submission);
// With --tensorboard only.
std::optional<text::Json> RenderTensorboardService(const SubmitOptions& options,
                                                   const Submission& submission);
std::optional<text::Json> RenderTensorboardDeployment(const SubmitOptions& options,
                                                      const Submission& submission);
// Holds what only the container that fetches the code may see; nullopt when there is nothing.
std::optional<text::Json> RenderCodeSecret(const SubmitOptions& options,
                                           const Submission& submission);
// Holds SubmitOptions::callers_env; none when that is empty.
std::optional<text::Json> RenderEnvironmentSecret(const SubmitOptions& options,
                                                  const Submission& submission);
// SubmitOptions::code_archive in pieces that a ConfigMap can hold.
std::vector<text::Json> RenderCodeParts(const SubmitOptions& options, const Submission& submission);
// The ConfigMap by which Arena knows a job: `app` names everything else that was rendered.
text::Json RenderIdentity(const SubmitOptions& options, const Submission& submission);

// <job>-environment
std::string EnvironmentSecretName(const SubmitOptions& options);

// <job>-git-sync or <job>-rsync.
std::string CodeSecretName(const SubmitOptions& options);

}  // namespace arena
