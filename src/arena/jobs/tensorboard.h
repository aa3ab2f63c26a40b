// The state of a job's TensorBoard.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arena/jobs/jobs.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// The port on which it listens in its pod.
inline constexpr int kTensorboardPort = 6006;
// The volume of --logdir, if that is on no claim.
inline constexpr std::string_view kLogsVolume = "training-logs-volume";

struct TensorboardState {
  bool is_running = false;
  // Why it does not run, in one line; "" while it runs or starts.
  std::string problem;
};

// From the pods of its Deployment. Pure.
TensorboardState StateOfTensorboard(const std::vector<text::Json>& pods);

// Reads those pods. No error if it cannot, because the TensorBoard itself may still answer.
TensorboardState FindTensorboardState(cluster::Client& client, const TrainingJob& job);

}  // namespace arena
