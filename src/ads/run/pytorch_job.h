// A train.yaml's job as a kubeflow.org/v1 PyTorchJob. Pure.
#pragma once

#include <string>
#include <vector>

#include "ads/run/backend.h"
#include "text/json.h"

namespace ads {

struct PyTorchJobOptions {
  std::string name;  // of the object
  std::string namespace_name;
  std::string image;                 // "host" stands for none on the embedded cluster
  std::vector<std::string> command;  // empty: the image's own
  int64_t gpus_per_node = 0;
  OrderedEnv extra_env;  // over the job's, under the run's
};

// Master and workers with the environment that the service would give the runs; the service's own
// variables (JOB_OCID, JOB_RUN_OCID) are the job's and the pod's names. RANK is the operator's.
text::Json RenderPyTorchJob(const RunRequest& request, const PyTorchJobOptions& options);

// A name that Kubernetes takes: lower case, digits and dashes, with `suffix` at its end.
std::string ObjectName(const std::string& name, const std::string& suffix);

// GPUs of one node of a shape: 1 of VM.GPU2.1, 8 of BM.GPU4.8, 0 of a shape without.
int64_t GpusOfShape(std::string_view shape);

}  // namespace ads
