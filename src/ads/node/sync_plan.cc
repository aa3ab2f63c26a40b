#include "ads/node/sync_plan.h"

#include <algorithm>

namespace ads {

void SyncPlan::Changed(const std::string& name, bool is_closed, Time when) {
  const Time still = is_closed ? when : when + rhythm_.settled;
  const auto [at, is_new] = changes_.try_emplace(name, Change{still, when});
  at->second.still = still;
}

SyncPlan::Time SyncPlan::Due(const std::string& name, const Change& change) const {
  const Time due = std::min(change.still, change.first + kPatience * rhythm_.interval);
  const auto tried = tried_.find(name);
  return tried == tried_.end() ? due : std::max(due, tried->second + rhythm_.interval);
}

std::vector<std::string> SyncPlan::Take(Time now) {
  std::vector<std::string> names;
  std::erase_if(changes_, [&](const auto& change) {
    if (Due(change.first, change.second) > now) return false;
    names.push_back(change.first);
    return true;
  });
  std::erase_if(tried_, [&](const auto& tried) { return tried.second + rhythm_.interval <= now; });
  return names;
}

std::optional<SyncPlan::Time> SyncPlan::Next() const {
  std::optional<Time> next;
  for (const auto& [name, change] : changes_) {
    const Time due = Due(name, change);
    if (!next || due < *next) next = due;
  }
  return next;
}

}  // namespace ads
