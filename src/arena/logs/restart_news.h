// Which programs of a followed job have ended and start again in their pods. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "text/json.h"

namespace arena {

struct Restart {
  std::string text;         // "pt-master-0 exited with code 1, starts again (restart 1)"
  bool is_to_come = false;  // it waits; the job may have failed by then
};

class RestartNews {
 public:
  // The restarts of programs that ended at `since` or later.
  explicit RestartNews(base::Time since) : since_(since) {}

  // Those that no earlier call has returned. `pods`: the job's.
  std::vector<Restart> See(const std::vector<const text::Json*>& pods);

 private:
  const base::Time since_;
  std::map<std::string, int64_t> seen_;  // starts after the first, by the pod's uid and container
};

}  // namespace arena
