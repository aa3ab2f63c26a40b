#include "answers/stall/straggler.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace answers {
namespace {

constexpr int kLeastCollectives = 20;
constexpr int kShare = 5;  // late at all but one of so many
constexpr std::chrono::milliseconds kLeastLate{5};
constexpr int kLeastPart = 10;  // of the time between two

std::chrono::nanoseconds PeriodOf(const Trace& trace) {
  std::vector<int64_t> gaps;
  for (const auto& [name, group] : trace) {
    int64_t before = 0;
    for (const auto& [number, call] : group.collectives) {
      if (before > 0 && call.created_ns > before) gaps.push_back(call.created_ns - before);
      before = call.created_ns;
    }
  }
  if (gaps.empty()) return {};
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return std::chrono::nanoseconds(*middle);
}

int64_t Milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

}  // namespace

std::optional<Straggler> StragglerOf(const std::map<int, Trace>& traces) {
  for (const auto& [rank, late] : LatenessOf(traces)) {
    if (late.collectives < kLeastCollectives || late.median < kLeastLate ||
        kShare * (late.collectives - late.last) > late.collectives) {
      continue;
    }
    const std::chrono::nanoseconds period = PeriodOf(traces.at(rank));
    if (kLeastPart * late.median < period) continue;
    return Straggler{rank, late, period};
  }
  return std::nullopt;
}

std::string Say(const Straggler& straggler) {
  return fmt::format("rank {} is late at collectives: the last at {} of {}, by {} ms of {} ms",
                     straggler.rank, straggler.late.last, straggler.late.collectives,
                     Milliseconds(straggler.late.median), Milliseconds(straggler.period));
}

std::string LastCollectiveOf(const Trace& trace) {
  const GroupTrace* latest = nullptr;
  const auto entered_at = [](const GroupTrace& group) {
    return group.collectives.empty() ? int64_t{0} : group.collectives.rbegin()->second.created_ns;
  };
  for (const auto& [name, group] : trace) {
    if (group.entered == 0) continue;
    if (latest == nullptr || entered_at(group) > entered_at(*latest)) latest = &group;
  }
  if (latest == nullptr) return "";
  const auto call = latest->collectives.find(latest->entered);
  const std::string name = call == latest->collectives.end()
                               ? fmt::format("collective #{}", latest->entered)
                               : NameOf(call->second, latest->entered);
  if (latest->completed >= latest->entered) return fmt::format("had finished {}", name);
  return fmt::format("had entered {} and finished #{}", name, latest->completed);
}

}  // namespace answers
