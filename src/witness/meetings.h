// How long ranks and launchers have waited for each other, as they record it themselves: each
// process of a pod appends a line to <folder>/meetings when such a wait is over
// (warm/python/meeting.py), "ranks BEGIN END" or "launchers BEGIN END" in milliseconds since 1970.
// `folder`: stacks.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace witness {

struct Meeting {
  int64_t begin = 0;  // milliseconds since 1970
  int64_t end = 0;    // not before `begin`
  bool is_of_launchers = false;
};

// Leaves out malformed lines, and merges overlapping waits. Pure.
std::vector<Meeting> ReadMeetings(std::string_view lines);

// The file of one folder. One thread.
class MeetingsFile {
 public:
  explicit MeetingsFile(const std::string& folder);

  // From the whole lines that are new since the last call, at most 64 KiB in all, because a program
  // may write anything there.
  std::vector<Meeting> ReadNew();

 private:
  const std::string path_;
  uint64_t read_ = 0;  // bytes
};

// Whether a rank of the folder has met the others since then: a container that is restarted in
// place keeps its folder.
bool HasMet(const std::string& folder, base::Time since);

// Appends a launcher's wait; the folder may not exist yet. Best effort.
void NoteMeeting(const std::string& folder, base::Time begin, base::Time end);

}  // namespace witness
