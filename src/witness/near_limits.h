// What the processes of a program were about to run out of when they were last seen: once they have
// ended, nobody can count their descriptors and threads any more.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"
#include "base/clock.h"

namespace witness {

// One thread.
class NearLimits {
 public:
  // Counts for `program` and its descendants: open descriptors, threads against the limits of
  // cgroup and user, and looks for file systems of `folders` that are full. At most once a second,
  // and so seldom that looks take half a percent of the time; otherwise does nothing.
  void Look(pid_t program, const std::vector<std::string>& folders, base::Clock& clock);

  // What was used to nine tenths when it was last seen, each with its time.
  std::vector<answers::Fact> facts() const;

 private:
  void LookAtDescriptors(pid_t pid, base::Time now);

  std::map<pid_t, answers::Fact> of_processes_;
  std::vector<answers::Fact> of_program_;
  std::chrono::steady_clock::time_point next_{};
};

// The soft limit that /proc/<pid>/limits gives for "Max open files"; -1 for none, or if it is not
// there. Pure.
int64_t LimitIn(std::string_view limits, std::string_view name);

}  // namespace witness
