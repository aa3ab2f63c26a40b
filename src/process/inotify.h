// Changes to files and directories (inotify).
#pragma once

#include <sys/inotify.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace process {

class Inotify {
 public:
  struct Event {
    int watch;
    uint32_t mask;     // IN_MODIFY ...; IN_Q_OVERFLOW with watch -1: events were lost
    std::string name;  // within a watched directory; otherwise ""
  };

  static base::Result<Inotify> Create();

  // Watching the same path again gives the same number and replaces its mask.
  base::Result<int> Watch(const std::string& path, uint32_t mask);
  void Unwatch(int watch);

  // Readable while there are events.
  int fd() const { return fd_.get(); }
  // All pending events; may be empty. Does not block.
  std::vector<Event> Read();

 private:
  explicit Inotify(base::Fd fd) : fd_(std::move(fd)) {}

  base::Fd fd_;
};

}  // namespace process
