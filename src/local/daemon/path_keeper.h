// Notices when a path by which the daemon is found, or a directory above it, has been deleted: by a
// clean-up, or by logind, which removes a user's runtime directory with the last session.
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
  // Creates it again and returns its new path. If it fails, it is called again at the next change.
  std::function<base::Result<std::string>()> restore;
};

bool IsSocket(const std::string& path);

// Owns a thread that waits for inotify and calls the functions of the paths.
class PathKeeper {
 public:
  static base::Result<std::unique_ptr<PathKeeper>> Start(std::vector<KeptPath> paths);
  ~PathKeeper();
  PathKeeper(const PathKeeper&) = delete;
  PathKeeper& operator=(const PathKeeper&) = delete;

 private:
  struct Place {
    KeptPath kept;
    bool is_lost = false;  // and could not be created again
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
