// The results of a sweep's trials as a table. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arena/run/sweep.h"
#include "base/result.h"
#include "text/json.h"

namespace arena {

struct TrialRow {
  Trial trial;
  std::optional<TrialResult> result;  // nullopt before it has ended
};

struct SweepQuery {
  std::string best;     // the metric by which the trials are sorted
  bool is_max = false;  // the greatest first
};

// One row per trial with its values, state, duration and metrics, sorted as they are given or by
// `best`. kInvalidArgument when no trial has the metric.
base::Result<std::string> RenderTrials(std::vector<TrialRow> rows, const SweepQuery& query);
base::Result<text::Json> TrialsToJson(std::vector<TrialRow> rows, const SweepQuery& query);

// The values of the failed trials, one JSON object per line, for --sweep @FILE. kNotFound when none
// has failed.
base::Result<std::string> FailedGrid(const std::vector<TrialRow>& rows);

}  // namespace arena
