// Notices that what the daemon is found by has vanished, or a directory that it lies in: by a
// clean-up, or by logind, which takes a user's runtime directory away with the last session.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "process/inotify.h"

namespace local::daemon {

struct KeptPath {
  std::string what;  // "socket"
  std::string path;
  std::function<bool(const std::string& path)> is_there;
  // Makes it again; returns its path from then on, or fails: then it is called again when the next
  // thing happens.
  std::function<base::Result<std::string>()> restore;
};

bool IsSocket(const std::string& path);

// Owns a thread that sleeps in the kernel (inotify), on which the functions of the paths run.
class PathKeeper {
 public:
  static base::Result<std::unique_ptr<PathKeeper>> Start(std::vector<KeptPath> paths);
  ~PathKeeper();
  PathKeeper(const PathKeeper&) = delete;
  PathKeeper& operator=(const PathKeeper&) = delete;

 private:
  struct Place {
    KeptPath kept;
    bool is_lost = false;  // and could not be made again
  };

  PathKeeper(process::Inotify inotify, base::Fd stop, std::vector<KeptPath> paths);
  void WatchPlaces();
  bool Look(Place& place);
  void Run();

  process::Inotify inotify_;
  const base::Fd stop_;  // eventfd
  std::vector<Place> places_;
  std::thread thread_;  // last
};

}  // namespace local::daemon
