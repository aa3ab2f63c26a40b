// Events are news, not records: an hour after they were last seen they are deleted, as a Kubernetes
// API server does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"

namespace local::daemon {

inline constexpr std::chrono::hours kEventLife{1};

class EventJanitor {
 public:
  // Starts its thread, which sleeps until the oldest event is due.
  EventJanitor(cluster::Client& client, base::Clock& clock);
  ~EventJanitor();

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name
  void Note(const text::Json& event);
  void Run();

  cluster::Client& client_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  using LastSeen = std::map<Key, base::Time>;
  LastSeen last_seen_;
  std::multimap<base::Time, LastSeen::iterator> by_age_;
  std::unique_ptr<cluster::Reflector> reflector_;
  std::thread thread_;
};

}  // namespace local::daemon
