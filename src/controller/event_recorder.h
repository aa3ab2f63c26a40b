// EventRecorder: core/v1 Events about jobs, best effort, on a thread of its own so that no event
// ever delays a pod.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "cluster/client.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace controller {

class EventRecorder {
 public:
  // Waiting events beyond this are dropped, oldest first.
  static constexpr size_t kMaxWaiting = 10'000;

  EventRecorder(cluster::Client& client, base::Clock& clock, std::string component);
  ~EventRecorder();  // writes what waits, then joins

  // About `involved` (any object with metadata). The same event again raises its count.
  void Record(const text::Json& involved, const reconcile::Event& event);

 private:
  struct Waiting {
    text::Json object;  // the Event to create
    std::string aggregate_key;
  };
  struct Written {
    std::string namespace_name;
    std::string name;
    int64_t count = 1;
  };
  void Run();
  void WriteAll(std::deque<Waiting> batch);

  cluster::Client& client_;
  base::Clock& clock_;
  const std::string component_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::deque<Waiting> waiting_;
  std::map<std::string, Written> written_;  // only the recorder's thread
  std::thread thread_;
};

}  // namespace controller
