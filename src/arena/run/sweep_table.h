// What became of a sweep's trials, as a table.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "text/json.h"

namespace arena {

struct SweepQuery {
  std::string best;     // a metric: the trials are sorted by it
  bool is_max = false;  // the greatest first
};

// Whether `folder` is a sweep's run folder.
bool IsSweep(const std::string& folder);

// A row a trial: its values, state, duration and metrics; by index, or the best first.
// kInvalidArgument when no trial has the metric.
base::Result<std::string> RenderTrials(const std::string& folder, const SweepQuery& query);
base::Result<text::Json> TrialsToJson(const std::string& folder, const SweepQuery& query);

// The values of the trials that have failed, a JSON object a line: a grid of --sweep @FILE.
base::Result<std::string> FailedGrid(const std::string& folder);

}  // namespace arena
