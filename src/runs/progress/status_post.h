// Posts in which a training reports its progress: UpdateTrainJobStatusRequest of Kubeflow Trainer
// 2.3, with its limits. transformers 5 and Kubeflow's SDK send them by themselves. Pure, and
// without a JSON library, so that the launcher can read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runs/progress/line.h"
#include "runs/progress/progress_text.h"

namespace runs {

inline constexpr size_t kMostPostBytes = 64 << 10;
inline constexpr size_t kMostPostMetrics = 256;
inline constexpr size_t kMostMetricText = 64;  // bytes of a name, and of a value

inline constexpr std::string_view kStatusPosts = "status posts";  // as a source of progress

struct StatusPost {
  // From "current_step", "total_steps" and "current_epoch" (or "epoch"), transformers' names; other
  // metrics are scalars if they are numbers.
  LineProgress progress;
  std::optional<int64_t> percent;
  std::string answer;  // JSON: what was understood

  bool IsEmpty() const;  // it reports nothing
};

// Its contents as progress reported at `at`.
SourceProgress ToSourceProgress(const StatusPost& post, Millis at);

// {"trainerStatus": {"progressPercentage": 42, "estimatedRemainingSeconds": 90, "metrics":
// [{"name": "loss", "value": "0.5"}], "lastUpdatedTime": "2026-11-24T10:00:00Z"}}; without
// "trainerStatus", nothing is reported. Unknown fields are skipped. kInvalidArgument with the
// message for the sender.
base::Result<StatusPost> ReadStatusPost(std::string_view body);

}  // namespace runs
