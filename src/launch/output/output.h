// Output: the thread that copies what workers write to files and to the console.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "launch/output/line_sink.h"
#include "launch/output/status_line.h"
#include "process/event_loop.h"

namespace launch {

// One stream of one worker.
struct StreamPlan {
  int console_fd = 0;                // 1 or 2; 0: not shown
  std::string prefix;                // of each line on the console
  std::string file;                  // "" for none
  std::vector<std::string> filters;  // lines that contain one of them go to filter_file too
  std::string filter_file;
  // When nobody reads the console any more, nobody reads the pipe, as without a launcher.
  bool ends_with_console = false;
  // If set: called in the output thread, once, with a line whose loss is NaN or infinite.
  std::function<void(std::string)> on_lost_loss{};
  // Shows a progress bar (a line that its writer overwrites) on the console now and then, as
  // "[rank3]> 40%|###" if lines are prefixed by "[rank3]:".
  bool reports_bars = false;
};

// Has a thread of its own, so that a slow console stops the workers that write to it, as without a
// launcher, but not the store and the supervision. Public functions may be called from one other
// thread.
class Output {
 public:
  static base::Result<std::unique_ptr<Output>> Start(base::Clock& clock);
  ~Output();

  // Reads `pipe` to its end. Never returns an id twice. An error if the file cannot be made.
  base::Result<uint64_t> Add(base::Fd pipe, StreamPlan plan);

  // Calls `done` in this thread once all streams have ended and everything is written.
  void WhenDrained(std::function<void()> done);
  // Calls `done` in this thread once the stream has ended, which may be at once.
  void WhenEnded(uint64_t id, std::function<void()> done);
  // The last whole lines of an ended stream.
  std::string Tail(uint64_t id);
  // Writes the launcher's own text to stderr, never inside a worker's line, in the order of the
  // calls. Does not wait: while nobody reads the console, it is not written.
  void Say(std::string text);
  // Shows a line below everything else on a terminal, with the last line that a worker wrote; ""
  // removes it. Likewise.
  void SetStatus(std::string text);
  // Whether everything from Say, and the last status, has been written. After an empty text:
  // whether the console is read at all.
  bool IsWritten() const { return done_ == asked_; }
  // Blocks until IsWritten. False at `limit`, or once one of `others` can be read.
  bool AwaitWritten(std::initializer_list<int> others, std::optional<base::Duration> limit);

 private:
  struct Stream;

  Output(std::unique_ptr<process::EventLoop> loop, base::Fd written, base::Clock& clock);
  void Ask(std::function<void()> write);
  void OnReadable(Stream& stream);
  void Carry(Stream& stream, std::string_view bytes);
  void WriteFile(Stream& stream, std::string_view bytes);
  void WriteFiltered(Stream& stream, std::string_view lines);
  void Show(Stream& stream, std::string_view lines);
  void ShowHeld(Stream& stream);
  void ReportBar(Stream& stream);
  bool MustWait(const Stream& stream, const LineSink& sink) const;
  void Postpone(Stream& stream, std::string_view lines);
  void Resume(LineSink& sink);
  void End(uint64_t id);
  void NotifyDrained();
  void ShowStatusLater();
  void NoteLastLine(Stream& stream, std::string_view bytes);
  LineSink* SinkOf(const Stream& stream);

  std::unique_ptr<process::EventLoop> loop_;
  base::Clock& clock_;
  base::Fd written_;    // an eventfd: done_ has grown
  uint64_t asked_ = 0;  // the caller's: how many texts and states were given
  std::atomic<uint64_t> done_ = 0;
  LineSink stdout_{1};
  LineSink stderr_{2};
  std::map<uint64_t, std::unique_ptr<Stream>> streams_;  // thread_'s
  process::EventLoop::TimerId stdout_pause_ = 0;         // thread_'s
  process::EventLoop::TimerId stderr_pause_ = 0;         // thread_'s
  std::map<std::string, base::Fd> filter_files_;         // thread_'s
  std::vector<std::function<void()>> waiting_;           // thread_'s
  std::map<uint64_t, std::function<void()>> awaited_;    // the thread's own; by stream
  StatusLine status_line_{2};                            // thread_'s
  std::string status_;                                   // thread_'s
  std::string last_line_;                                // thread_'s
  process::EventLoop::TimerId status_timer_ = 0;         // thread_'s
  uint64_t next_id_ = 1;                                 // the caller's
  std::mutex mutex_;
  std::map<uint64_t, std::string> tails_;  // under mutex_
  std::vector<char> scratch_;
  std::thread thread_;
};

}  // namespace launch
