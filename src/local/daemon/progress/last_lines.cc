#include "local/daemon/progress/last_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace local::daemon {

void LastLines::Note(const std::string& pod_uid, std::string_view label, int64_t at) {
  const std::lock_guard lock(mutex_);
  auto& labels = pods_[pod_uid];
  const auto known = labels.find(label);
  if (known != labels.end()) {
    known->second = at;
  } else {
    labels.emplace(label, at);
  }
}

void LastLines::Forget(const std::string& pod_uid) {
  const std::lock_guard lock(mutex_);
  pods_.erase(pod_uid);
}

std::optional<int64_t> LastLines::Of(const std::string& pod_uid, int rank, int local,
                                     size_t ranks) const {
  const std::lock_guard lock(mutex_);
  const auto pod = pods_.find(pod_uid);
  if (pod == pods_.end()) return std::nullopt;
  const auto of = [&](const std::string& label) -> std::optional<int64_t> {
    const auto at = pod->second.find(label);
    return at == pod->second.end() ? std::nullopt : std::optional(at->second);
  };
  if (ranks == 1) {  // whatever its lines begin with
    std::optional<int64_t> last;
    for (const auto& [label, at] : pod->second) last = std::max(last.value_or(at), at);
    return last;
  }
  const auto by_rank = of(fmt::format("rank{}", rank));
  return by_rank ? by_rank : of(fmt::format("local-rank{}", local));
}

}  // namespace local::daemon
