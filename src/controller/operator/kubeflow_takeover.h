// Kubeflow's own training operator on the same cluster: two operators would fight over every job,
// so this one yields while the other runs.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "cluster/client.h"
#include "cluster/reflector.h"

namespace controller {

// The label of its pods (compat/pytorchjob.md 3.6).
inline constexpr const char* kKubeflowSelector = "control-plane=kubeflow-training-operator";

// Whether a pod of Kubeflow's operator minds PyTorchJobs: its --enable-scheme flags, where it has
// any, name them. Not when muster runs in it: several of those agree by their Lease.
bool RunsPyTorchJobs(const text::Json& pod);

class Rival {
 public:
  // `changed` is called on a thread of its own with the pod that runs it, "namespace/name", or ""
  // when there is none; first as soon as it is known. Where pods may not be listed there is none.
  // `own_pod`: its name does not count. `client` outlives it.
  Rival(cluster::Client& client, const std::string& namespace_name, std::string own_pod,
        std::function<void(const std::string& pod)> changed);

 private:
  void Take(const text::Json& pod, bool is_gone);
  void Tell();

  const std::string own_pod_;
  const std::function<void(const std::string&)> changed_;
  std::set<std::string> running_;  // the reflector's thread only
  std::string told_;
  bool has_told_ = false;
  std::unique_ptr<cluster::Reflector> reflector_;  // last: its thread uses the above
};

}  // namespace controller
