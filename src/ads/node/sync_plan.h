// SyncPlan: which changed files are copied when. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ads {

// The same file is copied no more than once an interval. One that may still be open waits until it
// has been still for `settled`.
struct SyncRhythm {
  std::chrono::milliseconds interval;
  std::chrono::milliseconds settled{2000};
};

// A file that its writer has closed is copied at once, one that may still be open once it is still,
// so that no half of one is copied; a file that is never still (a log) goes as it is after
// kPatience intervals.
class SyncPlan {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr int kPatience = 5;

  explicit SyncPlan(SyncRhythm rhythm) : rhythm_(rhythm) {}

  // At `when` it was written to, by a writer that has closed it or not.
  void Changed(const std::string& name, bool is_closed, Time when);
  // It is being copied, or a copy has failed: not again before an interval has gone by.
  void Tried(const std::string& name, Time when) { tried_[name] = when; }

  // Those whose time has come; they are no longer planned.
  std::vector<std::string> Take(Time now);
  // When there is something to take; nullopt when nothing is planned.
  std::optional<Time> Next() const;

 private:
  struct Change {
    Time still;  // from when on it counts as still
    Time first;  // since it was last taken
  };
  Time Due(const std::string& name, const Change& change) const;

  const SyncRhythm rhythm_;
  std::map<std::string, Change> changes_;
  std::map<std::string, Time> tried_;
};

}  // namespace ads
