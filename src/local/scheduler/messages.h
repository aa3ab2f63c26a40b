// The messages for a waiting gang, in the style of kube-scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/scheduler/scheduler.h"

namespace local::scheduler {

// The machine has fewer GPUs, used or not, than the gang needs.
std::string NeverFits(int64_t need, const Node& node);

// The owner of the machine lets no pod start.
std::string Cordoned(const Node& node);

struct Holder {
  std::string name{};                   // a gang's key, or a description of the holder
  std::optional<base::Time> ends_by{};  // its deadline
};

// The gang's place in the queue, 1 being the first, and when the first is certain to start.
struct Turn {
  int place = 1;
  std::optional<base::Time> sure_start{};
};

// `in_use` of the machine's GPUs are taken by `holders`, which are listed once each.
std::string InUse(int64_t need, int64_t in_use, const Node& node,
                  const std::vector<Holder>& holders, const Turn& turn);

// Enough GPUs are free, but they are reserved for `head`.
std::string KeptFor(int64_t need, int64_t free, const Node& node, std::string_view head,
                    const Turn& turn);

// The policy ignores the wish.
std::string WishIgnored(int64_t wish, const Node& node, GpuPolicy policy);

// For a job that does not exist yet: the message that it would get, NeverFits or WishIgnored; ""
// when the machine has enough GPUs.
std::string WhyWithoutGpus(int64_t wish, const Node& node, GpuPolicy policy);

}  // namespace local::scheduler
