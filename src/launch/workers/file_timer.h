// The watchdog of torch.distributed.elastic.timer (FileTimerClient): workers write deadlines into a
// named pipe, and a worker that misses one is sent the signal that it named.
//
//   {"version": 1, "pid": 4711, "scope_id": "step", "expiration_time": 1795223550.5, "signal": 9}\n
//
// A negative time cancels the timer of the scope.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "process/event_loop.h"

namespace launch {

// Used in the loop's thread only.
class FileTimer {
 public:
  // Called once for a late process, whose other timers are then dropped.
  using OnLate = std::function<void(pid_t pid, const std::string& scope, int signal)>;

  // Creates the pipe at `path`, replacing an older pipe.
  static base::Result<std::unique_ptr<FileTimer>> Open(process::EventLoop& loop, base::Clock& clock,
                                                       std::string path, OnLate on_late);
  ~FileTimer();
  FileTimer(const FileTimer&) = delete;
  FileTimer& operator=(const FileTimer&) = delete;

 private:
  struct Timer {
    double expiration = 0;  // seconds since the epoch
    int signal = 0;         // below 1: none is sent
  };

  FileTimer(process::EventLoop& loop, base::Clock& clock, std::string path, OnLate on_late)
      : loop_(loop), clock_(clock), path_(std::move(path)), on_late_(std::move(on_late)) {}
  void OnReadable();
  void Take(std::string_view line);
  void Arm();
  void ReportLate();
  double Now() const;

  process::EventLoop& loop_;
  base::Clock& clock_;
  std::string path_;
  OnLate on_late_;
  base::Fd pipe_;
  std::string unfinished_;
  std::map<std::pair<pid_t, std::string>, Timer> timers_;
  process::EventLoop::TimerId next_ = 0;
};

}  // namespace launch
