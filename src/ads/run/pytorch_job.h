// Converts a train.yaml's job to a kubeflow.org/v1 PyTorchJob. Pure.
#pragma once

#include <string>
#include <vector>

#include "ads/run/backend.h"
#include "text/json.h"

namespace ads {

struct PyTorchJobOptions {
  std::string name;  // of the object
  std::string namespace_name;
  std::string image;                 // on the embedded cluster "host": no image
  std::vector<std::string> command;  // empty: the image's own
  int64_t gpus_per_node = 0;
  OrderedEnv extra_env;  // overrides the job's, overridden by the run's
};

// Master and workers with the environment that the service would set; the service's own variables
// (JOB_OCID, JOB_RUN_OCID) become the names of the job and the pod. The operator sets RANK.
text::Json RenderPyTorchJob(const RunRequest& request, const PyTorchJobOptions& options);

// A valid Kubernetes name: lower case, digits and dashes, ending with `suffix`.
std::string ObjectName(const std::string& name, const std::string& suffix);

// The number of GPUs of a shape: 1 for VM.GPU2.1, 8 for BM.GPU4.8, 0 for a shape without GPUs.
int64_t GpusOfShape(std::string_view shape);

}  // namespace ads
