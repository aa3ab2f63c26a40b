// Output: the thread that carries what workers write to files and to the console.
#pragma once

#include <map>
#include <memory>
#include <mutex>
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

// One stream of one worker, from the pipe that it writes to.
struct StreamPlan {
  int console_fd = 0;                // 1 or 2; 0: not shown
  std::string prefix;                // of each line on the console
  std::string file;                  // "" is none
  std::vector<std::string> filters;  // lines that hold one of them go to filter_file too
  std::string filter_file;
  bool keeps_tail = false;  // for Tail
  // Of a line without an end that its writer overwrites, a progress bar, the console is told now
  // and then what it says: "[rank3]> 40%|###" where lines are prefixed by "[rank3]:".
  bool tells_bars = false;
};

// A thread of its own, so that a console that is read slowly stops neither the store nor the
// supervision: it stops the workers that write, as it would without a launcher. Public functions
// may be called from one other thread.
class Output {
 public:
  static base::Result<std::unique_ptr<Output>> Start(base::Clock& clock);
  ~Output();

  // Reads `pipe` to its end. Ids are never given twice. An error when the file cannot be made.
  base::Result<uint64_t> Add(base::Fd pipe, StreamPlan plan);

  // Calls `done`, in this thread, when all streams have ended and all is written.
  void WhenDrained(std::function<void()> done);
  // Calls `done`, in this thread, when the stream has ended; at once when it has already.
  void WhenEnded(uint64_t id, std::function<void()> done);
  // The last bytes of an ended stream that keeps them, whole lines.
  std::string Tail(uint64_t id);
  // Text of the launcher itself to stderr, never inside somebody's line. Blocks until written.
  void Say(const std::string& text);
  // A line below everything else, on a terminal; the last line that a worker wrote is added. "" and
  // it is gone when this returns; otherwise this does not block.
  void SetStatus(std::string text);

 private:
  struct Stream;

  explicit Output(std::unique_ptr<process::EventLoop> loop);
  void OnReadable(Stream& stream);
  void Carry(Stream& stream, std::string_view bytes);
  void WriteFile(Stream& stream, std::string_view bytes);
  void WriteFiltered(Stream& stream, std::string_view lines);
  void Show(Stream& stream, std::string_view lines);
  void ShowHeld(Stream& stream);
  void TellBar(Stream& stream);
  bool MustWait(const Stream& stream, const LineSink& sink) const;
  void Postpone(Stream& stream, std::string_view lines);
  void Resume(LineSink& sink);
  void End(uint64_t id);
  void TellDrained();
  void ShowStatusLater();
  void NoteLastLine(Stream& stream, std::string_view bytes);
  LineSink* SinkOf(const Stream& stream);

  std::unique_ptr<process::EventLoop> loop_;
  LineSink stdout_{1};
  LineSink stderr_{2};
  std::map<uint64_t, std::unique_ptr<Stream>> streams_;  // the thread's own
  process::EventLoop::TimerId stdout_pause_ = 0;         // the thread's own
  process::EventLoop::TimerId stderr_pause_ = 0;         // the thread's own
  std::map<std::string, base::Fd> filter_files_;         // the thread's own
  std::vector<std::function<void()>> waiting_;           // the thread's own
  std::map<uint64_t, std::function<void()>> awaited_;    // the thread's own; by stream
  StatusLine status_line_{2};                            // the thread's own
  std::string status_;                                   // the thread's own
  std::string last_line_;                                // the thread's own
  process::EventLoop::TimerId status_timer_ = 0;         // the thread's own
  uint64_t next_id_ = 1;                                 // the caller's
  std::mutex mutex_;
  std::map<uint64_t, std::string> tails_;  // under mutex_
  std::vector<char> scratch_;
  std::thread thread_;
};

}  // namespace launch
