// A Kubernetes cluster to talk to: which one a kubeconfig means, and a Client for it.
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
  // Files, first before next. One that was named by a flag must exist; of a list the ones that are
  // missing are passed over, as kubectl does. None: the service account of the pod we are in.
  std::vector<std::string> files;
  bool must_exist = false;
  std::string context;  // "" is the current one
};

// "a:b" of $KUBECONFIG, without empty entries.
std::vector<std::string> SplitKubeconfigList(std::string_view list);

// Reads the files and selects. Errors name the file.
base::Result<KubeSelection> FindKubernetes(const KubernetesChoice& choice,
                                           const base::Environment& environment);

// Whether this process runs in a pod that has a service account.
bool IsInCluster(const base::Environment& environment);

struct KubernetesOptions {
  const base::Environment& environment;
  base::Clock& clock;
  std::function<void(base::Duration)> pause;  // between tries; blocks
  Client::WarningSink warnings;
  bool has_terminal = false;    // standard input is one: a credential program may ask
  bool gives_429_on = false;    // FlowControl deals with a busy server
  bool is_write_heavy = false;  // as CurlClientOptions'
};

// Does not connect yet, but reads the certificates that the selection names.
base::Result<std::unique_ptr<Transport>> OpenKubernetes(const KubeSelection& selection,
                                                        const KubernetesOptions& options);
// A client of such a transport.
base::Result<std::unique_ptr<Client>> ConnectToKubernetes(const KubeSelection& selection,
                                                          const KubernetesOptions& options);

// Who the server says we are (SelfSubjectReview); where it does not say, what the credentials say;
// "" when that is unknown too. Names as Arena's (compat/arena.md 1.3.5).
base::Result<std::string> FindUserName(Client& client, const KubeSelection& selection);

}  // namespace cluster
