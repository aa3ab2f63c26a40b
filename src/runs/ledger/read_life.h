// A run's life as the objects of its cluster tell it. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "runs/ledger/life.h"
#include "text/json.h"

namespace runs {

struct PodRecord {
  const text::Json* pod = nullptr;    // borrowed
  std::optional<base::Time> deleted;  // of one that is gone, as far as that is known
};

// Without steps, lines and meetings, which logs tell. `pods`: those of the job, gone ones too, in
// any order. `deleted`: when the job was.
Life LifeOf(const text::Json& job, const std::vector<PodRecord>& pods,
            std::optional<base::Time> deleted, base::Time now);

}  // namespace runs
