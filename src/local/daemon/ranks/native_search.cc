#include "local/daemon/ranks/native_search.h"

#include <algorithm>
#include <utility>

namespace local::daemon {
namespace {

constexpr std::chrono::seconds kSoonestSearch{5};
constexpr std::chrono::seconds kRarestSearch{60};

}  // namespace

void NativeSearch::See(Instant now, std::set<std::string> folders) {
  if (folders.empty()) return found_.clear();
  const bool has_new =
      !std::includes(folders_.begin(), folders_.end(), folders.begin(), folders.end());
  if (has_new) pause_ = kSoonestSearch;
  if (searched_ && now - *searched_ < pause_) return;
  searched_ = now;
  found_.clear();
  bool has_others = false;  // for which a rank may wait
  for (witness::NativeRank& rank : find_(folders)) {
    has_others = has_others || rank.world > 1;
    found_[rank.folder].push_back(std::move(rank));
  }
  if (!has_new) pause_ = has_others ? kSoonestSearch : std::min(pause_ * 2, kRarestSearch);
  folders_ = std::move(folders);
}

const std::vector<witness::NativeRank>& NativeSearch::In(const std::string& folder) const {
  static const std::vector<witness::NativeRank> kNone;
  const auto found = found_.find(folder);
  return found == found_.end() ? kNone : found->second;
}

}  // namespace local::daemon
