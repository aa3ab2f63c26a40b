// EventRecorder: writes core/v1 Events about jobs, best effort, on a thread of its own so that no
// event ever delays a pod.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "cluster/client.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace controller {

class EventRecorder {
 public:
  // When more events wait, the oldest are dropped.
  static constexpr size_t kMaxWaiting = 10'000;

  EventRecorder(cluster::Client& client, base::Clock& clock, std::string component);
  ~EventRecorder();  // writes the waiting events, then joins

  // Records an event about `involved` (any object with metadata). If the same event occurred
  // before, raises its count. The first one that is forbidden is said in the log.
  void Record(const text::Json& involved, const reconcile::Event& event);

  size_t Waiting() const;
  int64_t Dropped() const;

 private:
  struct WaitingEvent {
    std::string api_version, kind, namespace_name, name, uid, version;  // of the object it is about
    reconcile::Event event;
    base::Time at;
  };
  // A waiting event packed into one string, each text terminated by a NUL, because up to
  // kMaxWaiting of them are held.
  struct PackedEvent {
    std::string texts;
    bool is_warning = false;
    base::Time at;
  };
  static PackedEvent Pack(const WaitingEvent& event);
  static WaitingEvent Unpack(const PackedEvent& packed);
  struct Written {
    std::string name;
    int64_t count = 1;
  };
  void Run();
  void WriteAll(const std::vector<WaitingEvent>& batch);
  void SayNotWritten(const base::Error& error);
  text::Json ToObject(const WaitingEvent& waiting, std::string name) const;

  cluster::Client& client_;
  base::Clock& clock_;
  const std::string component_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  int64_t dropped_ = 0;
  std::deque<PackedEvent> waiting_;
  std::unordered_map<uint64_t, Written> written_;  // used by the thread only; key: hash of the
                                                   // event's content
  bool has_warned_ = false;                        // the thread's, too
  std::thread thread_;
};

}  // namespace controller
