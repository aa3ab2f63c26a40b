// The limits that the processes of a program had almost reached when they were last seen: after
// their end, nobody can count their descriptors and threads any more.
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
  // cgroup and user; also looks for full file systems of `folders`. At most once a second, and so
  // rarely that it takes half a percent of the time; otherwise does nothing.
  void Look(pid_t program, const std::vector<std::string>& folders, base::Clock& clock);

  // The limits that were nine tenths used when they were last seen, each with its time.
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
