// The results of a sweep's trials as a table.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "text/json.h"

namespace arena {

struct SweepQuery {
  std::string best;     // the metric by which the trials are sorted
  bool is_max = false;  // the greatest first
};

// Whether `folder` is a sweep's run folder.
bool IsSweep(const std::string& folder);

// One row per trial with its values, state, duration and metrics, sorted by index or by `best`.
// kInvalidArgument when no trial has the metric.
base::Result<std::string> RenderTrials(const std::string& folder, const SweepQuery& query);
base::Result<text::Json> TrialsToJson(const std::string& folder, const SweepQuery& query);

// The values of the failed trials, one JSON object per line, for --sweep @FILE.
base::Result<std::string> FailedGrid(const std::string& folder);

}  // namespace arena
