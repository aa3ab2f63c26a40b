// Serves the logs of pods, including logs that are still being written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/result.h"

namespace local::node {

struct LogQuery {
  bool follow = false;
  bool has_timestamps = false;
  bool previous = false;  // the run before the latest restart
  std::optional<int64_t> tail_lines;
  std::optional<base::Time> since;
  std::optional<int64_t> limit_bytes;
};

// Called from the follower's thread; must not block.
struct LogReceiver {
  std::function<bool(std::string chunk)> write;  // false: nobody listens any more
  std::function<void(base::Status)> finish;      // once, the last call
  // Both or none: bytes written but not yet taken; and who is to be called once, from any thread,
  // when they are no more than `limit` or nobody listens any more.
  std::function<size_t()> pending;
  std::function<void(size_t limit, std::function<void()> callback)> when_taken;
};

// One thread for all streams, woken by inotify. Thread safe.
class LogFollower {
 public:
  static base::Result<std::unique_ptr<LogFollower>> Create();
  // Ends every stream with kCancelled.
  ~LogFollower();

  // Returns at once. The stream ends when all that there is has been written; with `follow`, when
  // the container has ended for good (restarts in place are followed) or its shim is gone.
  // kNotFound when the container has not started, was never restarted (`previous`) or the pod's
  // directory does not exist.
  void Open(std::string pod_directory, std::string container, LogQuery query, LogReceiver receiver);

 private:
  class Streams;

  explicit LogFollower(std::unique_ptr<Streams> streams);

  std::unique_ptr<Streams> streams_;
  std::jthread thread_;
};

}  // namespace local::node
