// How the TensorBoard beside a job is doing.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/jobs.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// Where it listens, in its pod.
inline constexpr int kTensorboardPort = 6006;

struct TensorboardState {
  bool is_running = false;
  // Why it does not run, one line; "" while it runs, and while it is only being started.
  std::string problem;
};

// By the pods of its Deployment. Pure.
TensorboardState StateOfTensorboard(const std::vector<text::Json>& pods);

// Asks for those pods. Never an error: what cannot be read is left to the TensorBoard.
TensorboardState FindTensorboardState(cluster::Client& client, const TrainingJob& job);

}  // namespace arena
