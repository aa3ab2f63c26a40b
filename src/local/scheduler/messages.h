// What a waiting gang is told, in kube-scheduler's manner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/scheduler/scheduler.h"

namespace local::scheduler {

// The machine has fewer GPUs than the gang needs, used or not.
std::string NeverFits(int64_t need, const Node& node);

struct Holder {
  std::string name{};                   // a gang's key, or who it is in words
  std::optional<base::Time> ends_by{};  // its deadline
};

// Where a gang stands in the queue, 1 being the first; and when that one is sure to start.
struct Turn {
  int place = 1;
  std::optional<base::Time> sure_start{};
};

// `in_use` of the machine's GPUs are taken, by `holders`, each once.
std::string InUse(int64_t need, int64_t in_use, const Node& node,
                  const std::vector<Holder>& holders, const Turn& turn);

// Enough are free, and kept for `head`.
std::string KeptFor(int64_t need, int64_t free, const Node& node, std::string_view head,
                    const Turn& turn);

// The wish is ignored by policy.
std::string WishIgnored(int64_t wish, const Node& node, GpuPolicy policy);

// Of a job that is not there yet: the one of NeverFits and WishIgnored that it would be told; ""
// when the machine has as many.
std::string WhyWithoutGpus(int64_t wish, const Node& node, GpuPolicy policy);

}  // namespace local::scheduler
