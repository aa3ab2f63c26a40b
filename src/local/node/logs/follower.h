// Serves the logs of pods, also while they are being written.
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
  std::function<bool(std::string chunk)> write;  // false: the reader has gone
  std::function<void(base::Status)> finish;      // once, the last call
  // Both or neither: how many bytes were written but not taken yet, and a function that calls back
  // once, from any thread, when they are at most `limit` or the reader has gone.
  std::function<size_t()> pending;
  std::function<void(size_t limit, std::function<void()> callback)> when_taken;
};

// One thread for all streams, woken by inotify. Thread safe.
class LogFollower {
 public:
  static base::Result<std::unique_ptr<LogFollower>> Create();
  // Ends every stream with kCancelled.
  ~LogFollower();

  // Returns at once. The stream ends when the existing log has been written; with `follow`, when
  // the container has ended for good (restarts in place are followed) or its shim is gone.
  // kNotFound when the container has not started, was never restarted (`previous`), or the pod's
  // directory does not exist.
  void Open(std::string pod_directory, std::string container, LogQuery query, LogReceiver receiver);

 private:
  class Streams;

  explicit LogFollower(std::unique_ptr<Streams> streams);

  std::unique_ptr<Streams> streams_;
  std::jthread thread_;
};

}  // namespace local::node
