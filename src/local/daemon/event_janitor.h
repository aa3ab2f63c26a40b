// Deletes Events an hour after they were last seen, as a Kubernetes API server does, or some
// minutes later. There may be hundreds of thousands, so none is remembered: they are listed when
// one may be due.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "cluster/client.h"

namespace local::daemon {

inline constexpr std::chrono::hours kEventLife{1};

// Deletes the events that are due. Returns when to look again: when the oldest remaining one, or a
// new one, can be due.
base::Result<base::Time> DeleteOldEvents(cluster::Client& client, base::Time now);

class EventJanitor {
 public:
  // Starts its thread, which sleeps until an event may be due. Borrows both.
  EventJanitor(cluster::Client& client, base::Clock& clock);
  ~EventJanitor();

 private:
  void Run();

  cluster::Client& client_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace local::daemon
