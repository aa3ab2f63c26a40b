#include "local/scheduler/reservation.h"

#include <algorithm>

namespace local::scheduler {

namespace {

// The smallest sum of a subset of the releases that reaches `shortfall`; nullopt when all of them
// do not. The head starts when some subset has ended, and the subset with the least surplus leaves
// the least to others.
std::optional<int64_t> LeastSufficient(int64_t shortfall, const std::vector<Release>& releases) {
  int64_t total = 0;
  for (const Release& release : releases) total += release.gpus;
  if (total < shortfall) return std::nullopt;
  std::vector<bool> reachable(static_cast<size_t>(total) + 1, false);
  reachable[0] = true;
  for (const Release& release : releases) {
    if (release.gpus <= 0) continue;
    for (int64_t sum = total; sum >= release.gpus; --sum) {
      if (reachable[static_cast<size_t>(sum - release.gpus)]) {
        reachable[static_cast<size_t>(sum)] = true;
      }
    }
  }
  for (int64_t sum = std::max<int64_t>(shortfall, 0); sum <= total; ++sum) {
    if (reachable[static_cast<size_t>(sum)]) return sum;
  }
  return std::nullopt;
}

std::optional<base::Time> SureStart(int64_t shortfall, std::vector<Release> releases) {
  std::erase_if(releases, [](const Release& release) { return !release.ends_by; });
  std::sort(releases.begin(), releases.end(),
            [](const Release& a, const Release& b) { return *a.ends_by < *b.ends_by; });
  for (const Release& release : releases) {
    shortfall -= release.gpus;
    if (shortfall <= 0) return release.ends_by;
  }
  return std::nullopt;
}

}  // namespace

Reservation Reserve(int64_t need, int64_t free, const std::vector<Release>& releases) {
  const int64_t shortfall = need - free;
  Reservation reservation;
  if (const std::optional<int64_t> least = LeastSufficient(shortfall, releases)) {
    reservation.spare = std::max<int64_t>(0, std::min(free, *least - shortfall));
  }
  reservation.sure_start = SureStart(shortfall, releases);
  return reservation;
}

}  // namespace local::scheduler
