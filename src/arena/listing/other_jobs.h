// Jobs of every kind: PyTorchJobs, and on Kubernetes the other kinds of Kubeflow's training
// operator, which muster shows but does not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "cluster/client.h"

namespace arena {

// The kinds of OtherKinds that the cluster serves, by one discovery request. Its answer is cached
// for kKindsLifetime in a private file per server in CacheDir(). Empty on the embedded cluster, and
// if the user may not ask.
base::Result<std::vector<const api::Resource*>> ServedOtherKinds(cluster::Client& client,
                                                                 const Context& context);
inline constexpr std::chrono::minutes kKindsLifetime{10};

// The jobs that -T/--type selects ("" for every kind) and that have those labels ("" for any),
// newest first. PyTorchJobs are Arena's, from
// ListJobs. Of other kinds they are all that the user may see, with one LIST per kind and none for
// pods: GPUs are the requested ones, which count as allocated while the job is RUNNING, and it has
// no node. With "" a kind that the user may not list is skipped.
base::Result<std::vector<TrainingJob>> ListJobsOfType(cluster::Client& client,
                                                      const Context& context,
                                                      const std::string& namespace_name,
                                                      std::string_view type,
                                                      std::string_view label_selector = "");

struct OtherJob {
  const api::Resource* kind = nullptr;
  text::Json job;
};

// The jobs of that name of all ServedOtherKinds, without those that the user may not read.
base::Result<std::vector<OtherJob>> FindOthers(cluster::Client& client, const Context& context,
                                               const std::string& namespace_name,
                                               const std::string& name);

// FindJob for any kind; with "" the PyTorchJob, otherwise the only job of that name.
base::Result<TrainingJob> FindJobOfType(cluster::Client& client, const Context& context,
                                        const std::string& namespace_name, const std::string& name,
                                        std::string_view type, Pods pods = Pods::kNeeded);

}  // namespace arena
