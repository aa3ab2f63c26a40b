// Finds the Kubernetes cluster that a kubeconfig selects, and makes a Client for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/environment.h"
#include "cluster/client.h"
#include "cluster/kubeconfig/kubeconfig.h"

namespace cluster {

struct KubernetesChoice {
  // Earlier files win. A file that a flag names must exist; missing files of a list are ignored, as
  // kubectl does. Without files: the service account of the pod that this process runs in.
  std::vector<std::string> files;
  bool must_exist = false;
  std::string context;  // "" for the current one
};

// Splits $KUBECONFIG ("a:b"), without empty entries.
std::vector<std::string> SplitKubeconfigList(std::string_view list);

// Reads the files and selects a context. Errors name the file.
base::Result<KubeSelection> FindKubernetes(const KubernetesChoice& choice,
                                           const base::Environment& environment);

// Whether this process runs in a pod that has a service account.
bool IsInCluster(const base::Environment& environment);

struct KubernetesOptions {
  const base::Environment& environment;
  base::Clock& clock;
  std::function<void(base::Duration)> pause;  // blocks between attempts
  Client::WarningSink warnings;
  bool has_terminal = false;    // standard input is a terminal: a credential program may ask
  bool returns_429 = false;     // return 429 to the caller, because FlowControl handles it
  bool is_write_heavy = false;  // see CurlClientOptions
};

// Does not connect yet, but reads the certificates that the selection names.
base::Result<std::unique_ptr<Transport>> OpenKubernetes(const KubeSelection& selection,
                                                        const KubernetesOptions& options);
// A client with such a transport.
base::Result<std::unique_ptr<Client>> ConnectToKubernetes(const KubeSelection& selection,
                                                          const KubernetesOptions& options);

// Our user name as the server knows it (SelfSubjectReview, or TokenReview where there is none),
// else from the credentials; "" if both are silent. Names are Arena's (compat/arena.md 1.3.5).
base::Result<std::string> FindUserName(Client& client, const KubeSelection& selection);

}  // namespace cluster
