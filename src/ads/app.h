// `muster opctl` and `ads opctl`: adds the verbs to the command tree, and holds what they share.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ads/oci/breaker.h"
#include "ads/run/backend.h"
#include "ads/storage/oci_services.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cli/command.h"
#include "cluster/client.h"
#include "text/json.h"

namespace ads {

// The cluster in which a backend creates a PyTorchJob.
struct Cluster {
  cluster::Client* client = nullptr;  // owned by the code that connected
  std::string namespace_name;
};

// The context of a run of the program. Outlives the command tree; one thread.
struct Context {
  base::Environment environment;
  base::Clock& clock;
  std::string program = "ads";                // used in messages: "ads" or "muster"
  std::string self;                           // this binary's path
  std::function<void(base::Duration)> pause;  // blocks for that long, or until the breaker is
                                              // broken
  std::shared_ptr<oci::Breaker> breaker = std::make_shared<oci::Breaker>();  // never null

  // The embedded cluster, started if necessary; or that of a kubeconfig.
  struct ClusterFlags {
    bool is_local = false;
    std::string kubeconfig, context, namespace_name;
  };
  std::function<base::Result<Cluster>(const ClusterFlags&)> connect = {};
  // Prints the logs of all pods of the job to `out` until it has ended; returns muster's exit code.
  std::function<base::Result<int>(const Cluster&, const text::Json& job, cli::Output& out)> follow =
      {};

  // The body of the answer to a GET of an http or https URL. Errors do not show the URL's secrets.
  // kPermissionDenied: it is not fetched, because it has a password or leads to where none is safe.
  std::function<base::Result<std::string>(const std::string& url, size_t max_bytes,
                                          std::chrono::seconds timeout)>
      fetch_url = {};

  // The cloud for this login. Reads nothing before it is used.
  std::function<std::unique_ptr<OciServices>(const LoginFlags&)> oci = {};
  // `run -b job`, signed in; unset in a build without the cloud.
  std::function<base::Result<std::unique_ptr<Backend>>(const LoginFlags&)> job_backend = {};
  // `run --ocid`: starts new runs of an existing job.
  std::function<base::Result<int>(const ExistingJobRequest&, cli::Output& out, cli::Output& err)>
      run_existing_job = {};
};

// Adds `opctl` to the root. `root` and `context` must outlive the tree.
void AddOpctl(cli::Command& root, Context& context);
// Adds `jobs`, the original's older group, after AddOpctl with the same context.
void AddJobs(cli::Command& root, Context& context);

}  // namespace ads
