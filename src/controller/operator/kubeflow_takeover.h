// Detects Kubeflow's own training operator on the same cluster: two operators would fight over
// every job, so this one yields while the other runs.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "cluster/client.h"
#include "cluster/reflector.h"

namespace controller {

// The label of that operator's pods (compat/pytorchjob.md 3.6).
inline constexpr const char* kKubeflowSelector = "control-plane=kubeflow-training-operator";

// Whether a pod of Kubeflow's operator handles PyTorchJobs: it has no --enable-scheme flags, or
// they name pytorchjob. False when the pod runs muster, whose instances agree by their Lease.
bool RunsPyTorchJobs(const text::Json& pod);

class KubeflowOperatorWatch {
 public:
  // Calls `changed`, on a thread of its own, with the pod "namespace/name" that runs Kubeflow's
  // operator, or "" when there is none: first as soon as it is known, then at each change. Reports
  // none where pods may not be listed. Ignores `own_pod`. `client` outlives it.
  KubeflowOperatorWatch(cluster::Client& client, const std::string& namespace_name,
                        std::string own_pod, std::function<void(const std::string& pod)> changed);

 private:
  void Take(const text::Json& pod, bool is_gone);
  void ReportChange();

  const std::string own_pod_;
  const std::function<void(const std::string&)> changed_;
  std::set<std::string> running_;  // the reflector's thread only
  std::string reported_;
  bool has_reported_ = false;
  std::unique_ptr<cluster::Reflector> reflector_;  // last: its thread uses the members above
};

}  // namespace controller
