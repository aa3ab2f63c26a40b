// Kubeflow's training operator, where `muster install` finds it, and how its PyTorchJobs change
// hands (compat/pytorchjob.md 3.1, 3.6).
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arena/objects/kind_finder.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// What of it has to do with PyTorchJobs.
struct OtherOperator {
  std::optional<text::Json> deployment;
  std::vector<text::Json> webhook_configurations;

  bool is_there() const { return deployment || !webhook_configurations.empty(); }
  // "Kubeflow's training operator (deployment kubeflow/training-operator)"
  std::string Text() const;
};

// `namespace_name` "" is all. A right that is missing to look is not an error but nothing found.
base::Result<OtherOperator> FindOtherOperator(cluster::Client& client, KindFinder& kinds,
                                              const std::string& namespace_name);

// Takes PyTorchJobs from it: its webhook no longer sees them, its Deployment runs the other kinds
// that the cluster has, or none. Returns when its last pod of before is gone; kTimeout otherwise.
// Jobs and their pods are not touched.
base::Status TakeOver(cluster::Client& client, KindFinder& kinds, const OtherOperator& other,
                      std::chrono::milliseconds timeout);

// Pure parts.
bool RunsPyTorchJobs(const text::Json& deployment);
// `kinds`: the others that it is to go on with, "tfjob".
void LeaveToIt(const std::set<std::string>& kinds, text::Json& deployment);
bool HasPyTorchWebhook(const text::Json& configuration);
void ErasePyTorchWebhook(text::Json& configuration);

}  // namespace arena
