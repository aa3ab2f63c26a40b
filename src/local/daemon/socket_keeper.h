// Notices that the daemon's socket has vanished, or a directory that it lies in: by a clean-up, or
// by logind, which takes a user's runtime directory away with the last session.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/result.h"
#include "process/inotify.h"

namespace local::daemon {

// Owns a thread that sleeps in the kernel (inotify). `restore` runs there; it returns the socket's
// path from then on, or fails: then it is called again when the next thing happens.
class SocketKeeper {
 public:
  using Restore = std::function<base::Result<std::string>()>;

  static base::Result<std::unique_ptr<SocketKeeper>> Start(std::string socket, Restore restore);
  ~SocketKeeper();
  SocketKeeper(const SocketKeeper&) = delete;
  SocketKeeper& operator=(const SocketKeeper&) = delete;

 private:
  SocketKeeper(process::Inotify inotify, base::Fd stop, std::string socket, Restore restore);
  void WatchPlaces(uint32_t changes);
  void Run();

  process::Inotify inotify_;
  const base::Fd stop_;  // eventfd
  std::string socket_;
  const Restore restore_;
  std::thread thread_;  // last
};

}  // namespace local::daemon
