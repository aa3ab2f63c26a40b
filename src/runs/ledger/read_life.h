// Reads a run's life from the objects of its cluster. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "runs/ledger/life.h"
#include "text/json.h"

namespace runs {

struct PodRecord {
  const text::Json* pod = nullptr;    // borrowed
  std::optional<base::Time> deleted;  // if the pod is gone and the time is known
};

// Without steps, lines and most waits, which come from logs and samples. `pods`: the job's,
// including deleted ones, in any order. `deleted`: when the job was deleted.
Life LifeOf(const text::Json& job, const std::vector<PodRecord>& pods,
            std::optional<base::Time> deleted, base::Time now);

}  // namespace runs
