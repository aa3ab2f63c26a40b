// `muster opctl` and `ads opctl`: the verbs on the command tree, and what they share.
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

// A cluster that a backend starts a PyTorchJob in.
struct Cluster {
  cluster::Client* client = nullptr;  // owned by the code that connected
  std::string namespace_name;
};

// What a run of the program knows. Outlives the command tree; one thread.
struct Context {
  base::Environment environment;
  base::Clock& clock;
  std::string program = "ads";                // messages repeat it: "ads" or "muster"
  std::string self;                           // this binary's path
  std::function<void(base::Duration)> pause;  // blocks for that long, or until the breaker breaks
  std::shared_ptr<oci::Breaker> breaker = std::make_shared<oci::Breaker>();  // never null

  // The embedded cluster, started when it is not there; or the one of a kubeconfig.
  struct ClusterFlags {
    bool is_local = false;
    std::string kubeconfig, context, namespace_name;
  };
  std::function<base::Result<Cluster>(const ClusterFlags&)> connect = {};
  // Prints the log of all of the job's pods to `out` until it has ended; the exit code of muster.
  std::function<base::Result<int>(const Cluster&, const text::Json& job, cli::Output& out)> follow =
      {};

  // What a GET of an http or https URL answers with.
  std::function<base::Result<std::string>(const std::string& url)> fetch_url = {};

  // The cloud, for this login. Nothing is read before it is asked for something.
  std::function<std::unique_ptr<OciServices>(const LoginFlags&)> oci = {};
  // `run -b job`; unset where the cloud is not built in.
  std::function<std::unique_ptr<Backend>()> job_backend = {};
  // `run --ocid`: new runs of a job that is there.
  std::function<base::Result<int>(const ExistingJobRequest&, cli::Output& out, cli::Output& err)>
      run_existing_job = {};
};

// Adds `opctl` to the root. `root` and `context` outlive the tree.
void AddOpctl(cli::Command& root, Context& context);

}  // namespace ads
