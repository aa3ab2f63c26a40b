// The event files below one folder, read from where the last pass ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "runs/progress/event.h"
#include "runs/progress/tfrecord.h"

namespace local::daemon {

// One thread. Blocks for as long as its file system does.
class EventFolder {
 public:
  // `at` is the event's own time where that is possible: not before `since`, and not later than the
  // pass; otherwise the time of the pass.
  using Visit =
      std::function<void(const std::string& file, runs::Millis at, const runs::ScalarEvent& event)>;

  // `since`: leaves out events of an earlier time that a file already had when it was seen first,
  // if that was in the first pass or the file has an earlier time in its name. They are of earlier
  // runs, whose files may have come with this run's code, or an earlier process has visited them.
  EventFolder(std::string folder, runs::Millis since) : folder_(std::move(folder)), since_(since) {}

  // Visits each new event with scalars; `file` is its path below the folder. A file that was cut,
  // replaced or rewritten is read again from its start, but only events newer than all that it had
  // are visited; a damaged one is read no further. Links are not followed. Of the files that were
  // changed since `since`, the kMostEventFiles that were changed last are read.
  void Look(runs::Millis now, const Visit& visit);

 private:
  struct File {
    ino_t inode = 0;
    std::string head;  // the first bytes, which show whether it was rewritten
    uint64_t offset = 0;
    uint64_t old_size = 0;    // what it had when it was seen first; UINT64_MAX: read again
    runs::Millis newer = 0;   // up to there, earlier events than this are left out
    runs::Millis newest = 0;  // of its events
    runs::RecordReader reader;
  };

  void Read(const std::string& path, const std::string& name, runs::Millis now, const Visit& visit);
  File& Known(const std::string& name, int fd, ino_t inode, uint64_t size);

  const std::string folder_;
  const runs::Millis since_;
  bool has_looked_ = false;
  std::map<std::string, File> files_;  // by path below the folder
};

}  // namespace local::daemon
