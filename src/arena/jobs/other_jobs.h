// Jobs of every kind that a cluster has: PyTorchJobs, and on Kubernetes the other kinds of
// Kubeflow's training operator, which muster shows and does not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "cluster/client.h"

namespace arena {

// Those of OtherKinds that the cluster serves, from one discovery request, or from none when one
// was answered in the last kKindsLifetime: that answer is kept in a private file of CacheDir(), one
// a server. None on the embedded cluster, nor where the user may not ask.
base::Result<std::vector<const api::Resource*>> ServedOtherKinds(cluster::Client& client,
                                                                 const Context& context);
inline constexpr std::chrono::minutes kKindsLifetime{10};

// The jobs that the value of -T/--type means ("" is every kind), newest first. PyTorchJobs are
// Arena's, as ListJobs finds them; of another kind they are all that the user may see, whoever made
// them, one LIST a kind and none for their pods: GPUs are the ones that the job asks for, all of
// them allocated while it is RUNNING, and it is on no node. With "" a kind that the user may not
// list is passed over.
base::Result<std::vector<TrainingJob>> ListJobsOfType(cluster::Client& client,
                                                      const Context& context,
                                                      const std::string& namespace_name,
                                                      std::string_view type);

// FindJob for any kind; "" is a PyTorchJob.
base::Result<TrainingJob> FindJobOfType(cluster::Client& client, const Context& context,
                                        const std::string& namespace_name, const std::string& name,
                                        std::string_view type);

}  // namespace arena
