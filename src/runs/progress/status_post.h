// What a training posts of its progress: body, limits and errors of Kubeflow Trainer 2.3's status
// server, which transformers' KubeflowCallback (5.x) and Kubeflow's SDK talk to. Pure.
//
//   POST /apis/trainer.kubeflow.org/v1alpha1/namespaces/NAMESPACE/trainjobs/NAME/status
//   Authorization: Bearer TOKEN
//   {"trainerStatus": {"progressPercentage": 45, "estimatedRemainingSeconds": 120,
//                      "metrics": [{"name": "loss", "value": "0.23"}],
//                      "lastUpdatedTime": "2026-07-30T10:00:00Z"}}
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runs/progress/line.h"
#include "runs/progress/step_mark.h"

namespace runs {

inline constexpr size_t kMaxPost = 64 << 10;
inline constexpr size_t kMostPostedMetrics = 256;
inline constexpr size_t kLongestPostedText = 64;  // a metric's name, and its value

struct PostedStatus {
  bool is_empty = false;  // no trainerStatus: taken, and nothing follows
  Millis at = 0;          // lastUpdatedTime
  std::optional<int64_t> percent;
  // step, steps, epoch and epochs are the metrics current_step, total_steps, current_epoch and
  // total_epochs (currentStep ... too); scalars the others whose value is a number.
  LineProgress progress;
};

// kInvalidArgument with the words that the caller is to be answered with (422 Invalid).
base::Result<PostedStatus> ReadPost(std::string_view body);

// Namespace and name in the path of such a request.
struct PostedJob {
  std::string namespace_name, name;
};
std::optional<PostedJob> JobOfPostPath(std::string_view path);
std::string PostPathOf(std::string_view namespace_name, std::string_view name);

}  // namespace runs
