// SyncPlan: decides which changed files are copied when. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ads {

// A file is copied at most once per interval. A file that may still be open waits until it has not
// changed for `settled`.
struct SyncRhythm {
  std::chrono::milliseconds interval;
  std::chrono::milliseconds settled{2000};
};

// A file that its writer has closed is copied at once, and one that may still be open when it no
// longer changes, so that no incomplete file is copied. A file that changes all the time (a log) is
// copied as it is after kPatience intervals.
class SyncPlan {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kPatience = 5;

  explicit SyncPlan(SyncRhythm rhythm) : rhythm_(rhythm) {}

  // It was written to at `when`; `is_closed`: its writer has closed it.
  void Changed(const std::string& name, bool is_closed, Time when);
  // It is being copied, or a copy has failed: not again within an interval.
  void Tried(const std::string& name, Time when) { tried_[name] = when; }

  // The files that are due; they are removed from the plan.
  std::vector<std::string> Take(Time now);
  // When a file is due next; nullopt when nothing is planned.
  std::optional<Time> Next() const;

 private:
  struct Change {
    Time still;  // when it counts as no longer changing
    Time first;  // the first change since it was taken
  };
  Time Due(const std::string& name, const Change& change) const;

  const SyncRhythm rhythm_;
  std::map<std::string, Change> changes_;
  std::map<std::string, Time> tried_;
};

}  // namespace ads
