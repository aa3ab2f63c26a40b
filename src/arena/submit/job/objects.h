// The Kubernetes objects of a submitted job (compat/arena.md 3). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/job/wait_for.h"
#include "arena/submit/job/options.h"
#include "text/json.h"

namespace arena {

// The version of Arena's chart that these objects follow, for labels and the identity ConfigMap.
inline constexpr std::string_view kChartVersion = "0.5.2";

// The annotation of a job that names its submitter.
inline constexpr std::string_view kUserAnnotation = "arena.kubeflow.org/username";

// The submitter, and the cluster.
struct Submission {
  std::string namespace_name;
  std::string user;
  std::string image;           // for replicas without their own
  std::string log_host_dir;    // host path for TensorBoard's events if --logdir is on no claim
  bool has_run_policy = true;  // false: the old operator's CRD, which has its fields in spec
  std::vector<api::AwaitedJob> awaited{};  // must succeed before the job starts
  // Makes failing containers put their last output into their status, which Arena's chart does not.
  bool keeps_last_lines = false;
  std::string shared_logdir{};  // of api::kLogdirAnnotation; "" for none
  // Whether the identity names its owner, too, as Arena's does where users are kept apart.
  bool isolates_users = false;
};

text::Json RenderJob(const SubmitOptions& options, const Submission& submission);
// One per target directory of --config-file.
std::vector<text::Json> RenderConfigMaps(const SubmitOptions& options,
                                         const Submission& submission);
// With --tensorboard only.
std::optional<text::Json> RenderTensorboardService(const SubmitOptions& options,
                                                   const Submission& submission);
std::optional<text::Json> RenderTensorboardDeployment(const SubmitOptions& options,
                                                      const Submission& submission);
// Contains what only the container that fetches the code may see; nullopt if there is nothing.
std::optional<text::Json> RenderCodeSecret(const SubmitOptions& options,
                                           const Submission& submission);
// Contains SubmitOptions::callers_env and private_env; nullopt if both are empty.
std::optional<text::Json> RenderEnvironmentSecret(const SubmitOptions& options,
                                                  const Submission& submission);
// SubmitOptions::code_archive in pieces that fit into a ConfigMap.
std::vector<text::Json> RenderCodeParts(const SubmitOptions& options, const Submission& submission);
// The ConfigMap by which Arena knows a job; its `app` names all other rendered objects.
text::Json RenderIdentity(const SubmitOptions& options, const Submission& submission);

// <job>-git-sync or <job>-rsync.
std::string CodeSecretName(const SubmitOptions& options);

}  // namespace arena
